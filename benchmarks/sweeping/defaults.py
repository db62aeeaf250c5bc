"""Configurations of transformers 4.57 whose defaults make a model that fails in its own ``forward`` with any inputs.

Read one by one, with the reason. A default that has been mended counts again: its model then has an inventory.
"""

from __future__ import annotations

_NO_ROPE = "the defaults have no rope_scaling, which forward reads"

LACKING = {
    "glm4v": _NO_ROPE,
    "glm4v_text": _NO_ROPE,
    "glm4v_moe": _NO_ROPE,
    "glm4v_moe_text": _NO_ROPE,
    "qwen2_vl": _NO_ROPE,
    "qwen2_vl_text": _NO_ROPE,
    "qwen2_5_vl": _NO_ROPE,
    "qwen2_5_vl_text": _NO_ROPE,
    "colqwen2": _NO_ROPE,
    "deepseek_v2": "a number of experts has no default, and topk() takes no None",
    "xlstm": "forward reshapes to sizes that the default numbers do not give",
    "fsmt": "the decoder reads a config that it does not keep",
    "transfo-xl": "forward calls type_as() without its argument",
    "realm": "forward calls a retriever that is None without data to retrieve from",
    "vitmatte": "the default backbone's channels are not those that the head takes",
}
