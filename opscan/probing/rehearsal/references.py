"""CPU versions of torch_npu's own operators, for the shadow: they compute the first result, the rest is bookkeeping.

Meanings are those of torch_npu's documentation of the ``npu_*`` functions (Ascend Extension for PyTorch, API
reference): a true element of ``atten_mask`` is left out, ``keep_prob`` is one minus the dropout probability.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def fusion_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    head_num: int,
    input_layout: str,
    *_: Any,
    **kwargs: Any,
) -> torch.Tensor | None:
    """Attention without dropout; None for layouts that torch's own attention does not lead to."""
    if input_layout != "BNSD" or kwargs.get("pse") is not None or (_ and any(a is not None for a in _)):
        return None
    mask = kwargs.get("atten_mask")
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    allowed = None if mask is None else ~mask.bool()
    if kwargs.get("sparse_mode", 0) == 2:  # causal, whatever the mask holds: it is a compressed one
        allowed = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool).tril(key.shape[2] - query.shape[2])
    scores = query.float() @ key.float().transpose(-2, -1) * kwargs.get("scale", 1.0)
    if allowed is not None:
        scores = scores.masked_fill(~allowed, float("-inf"))
    weights = torch.softmax(scores, -1)
    return (weights.nan_to_num() @ value.float()).to(query.dtype)


def cast(tensor: torch.Tensor, dtype: torch.dtype, *_: Any, **__: Any) -> torch.Tensor:
    return tensor.to(dtype)


def same(tensor: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    """Formats are a matter of the device's memory layout."""
    return tensor.clone()


REFERENCES: dict[str, Callable[..., Any]] = {
    "npu::npu_fusion_attention": fusion_attention,
    "npu::npu_fusion_attention_v3": fusion_attention,
    "npu::npu_dtype_cast": cast,
    "npu::_npu_dtype_cast": cast,
    "npu::npu_format_cast": same,
}
