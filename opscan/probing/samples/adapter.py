"""torch_npu's own operators.

A true element of an attention mask is left out, as in the ``npu_*`` functions of Ascend's API reference for PyTorch.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from opscan.probing.samples.draft import Draft, Fill
from opscan.probing.samples.interface import Derived, Place

#: Sparse modes whose mask is a causal one of a fixed size, whatever the lengths.
_FIXED_MASKS = (2, 3, 4)


def _attention_mask(draft: Draft) -> None:
    """Every query sees the first key at least."""
    mask = draft.tensors.get("atten_mask")
    if not isinstance(mask, Tensor) or mask.dim() < 2:
        return
    if int(draft.other("sparse_mode", 0)) in _FIXED_MASKS:
        causal = torch.ones(mask.shape, dtype=torch.bool).triu(1)
        draft.tensors["atten_mask"] = causal.to(mask.dtype)
    else:
        mask[..., 0] = 0


def _attention_gradient(draft: Draft) -> None:
    """Sums and results of the device's own forward run on the same queries, keys and values."""
    _attention_mask(draft)
    given = {name: draft.tensors[name] for name in ("query", "key", "value")}
    optional = {n: draft.tensors[n] for n in ("pse", "padding_mask", "atten_mask") if draft.has(n)}
    plain = {n: draft.other(n) for n in ("keep_prob", "pre_tockens", "next_tockens", "inner_precise", "sparse_mode")}
    plain = {name: value for name, value in plain.items() if value is not None}
    scale = draft.other("scale_value", 1.0)
    heads, layout = draft.other("head_num"), draft.other("input_layout")
    version = "_v3" if draft.bound.base.endswith("_v3") else ""

    def result(number: int) -> Derived:
        def make(place: Place) -> Any:
            forward = getattr(torch.ops.npu, f"npu_fusion_attention{version}")
            placed = [place(tensor) for tensor in given.values()]
            masks = {name: place(tensor) for name, tensor in optional.items()}
            return forward(*placed, heads, layout, **masks, scale=scale, **plain)[number]

        return Derived(make)

    saved = {"attention_in": 0, "softmax_max": 1, "softmax_sum": 2, "softmax_in": 3, "seed": 4, "offset": 5}
    for name, number in saved.items():
        if draft.has(name):
            draft.tensors[name] = result(number)


def _rms_norm_gradient(draft: Draft) -> None:
    wide, gamma = draft.tensor("input").double(), draft.shape("gamma")
    dims = tuple(range(-len(gamma), 0))
    draft.put("rstd", (wide.square().mean(dims, keepdim=True) + 1e-6).rsqrt().reshape(draft.shape("rstd")))


ADAPTER: dict[str, Fill] = {
    **dict.fromkeys(("npu_fusion_attention", "npu_fusion_attention_v3"), _attention_mask),
    **dict.fromkeys(("npu_fusion_attention_grad", "npu_fusion_attention_grad_v3"), _attention_gradient),
    "npu_rms_norm_backward": _rms_norm_gradient,
}
