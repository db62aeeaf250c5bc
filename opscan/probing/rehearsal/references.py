"""CPU versions of what torch_npu computes in its own way, for the shadow.

Each takes the arguments of the operator and returns its results in order, None for one that is bookkeeping of the
device and that only other references would read. Meanings are those of the ``npu_*`` functions in Ascend's API
reference for PyTorch: a true element of ``atten_mask`` is left out, ``keep_prob`` is one minus the dropout probability.
The layout of a dropout mask, one bit an element padded to 128 bytes, is what torch_npu 2.13.0 allocates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Results = tuple[Any, ...]

#: Sparse modes whose mask stands for a causal one of any size.
_CAUSAL = 2


def _attention(given: dict[str, Any]) -> tuple[torch.Tensor, ...]:
    """Queries, keys and values as [batch, heads, length, size] in float32, and the weights of each value."""
    query, key, value = (given[name].float() for name in ("query", "key", "value"))
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    scores = query @ key.transpose(-2, -1) * _scale(given)
    left_out = given.get("atten_mask")
    if given.get("sparse_mode", 0) == _CAUSAL:
        shape, ahead = (query.shape[2], key.shape[2]), key.shape[2] - query.shape[2]
        left_out = torch.ones(shape, dtype=torch.bool).triu(1 + ahead)
    if left_out is not None:
        scores = scores.masked_fill(left_out.bool(), float("-inf"))
    return query, key, value, torch.softmax(scores, -1).nan_to_num()


def _scale(given: dict[str, Any]) -> float:
    return float(given.get("scale", given.get("scale_value", 1.0)))


def _in_torchs_layout(given: dict[str, Any]) -> bool:
    """Whether the call is one that torch's own attention leads to."""
    return given["input_layout"] == "BNSD" and given.get("pse") is None


def fusion_attention(given: dict[str, Any]) -> Results | None:
    if not _in_torchs_layout(given):
        return None
    _, _, value, weights = _attention(given)
    return ((weights @ value).to(given["query"].dtype), None, None, None, None, None)


def fusion_attention_grad(given: dict[str, Any]) -> Results | None:
    if not _in_torchs_layout(given):
        return None
    query, key, value, weights = _attention(given)
    gradient = given["dy"].float()
    of_weights = gradient @ value.transpose(-2, -1)
    of_scores = weights * (of_weights - (of_weights * weights).sum(-1, keepdim=True)) * _scale(given)
    of_key, of_value = of_scores.transpose(-2, -1) @ query, weights.transpose(-2, -1) @ gradient
    heads = given["key"].shape[1]
    summed = [t.unflatten(1, (heads, -1)).sum(2) for t in (of_key, of_value)]
    dtype = given["query"].dtype
    return ((of_scores @ key).to(dtype), *(t.to(dtype) for t in summed), None, None)


def dropout(given: dict[str, Any]) -> Results:
    tensor, p = given["input"], float(given["p"])
    if not given.get("train", True) or p == 0:
        return tensor.clone(), None
    kept = torch.rand(tensor.shape) >= p
    out = tensor * kept / (1 - p) if p < 1 else torch.zeros_like(tensor)
    return out.to(tensor.dtype), _packed(kept)


def dropout_backward(given: dict[str, Any]) -> Results:
    gradient, mask = given["grad_output"], given["mask"]
    kept = _unpacked(mask, gradient.numel()).reshape(gradient.shape)
    return ((gradient * kept * float(given["scale"])).to(gradient.dtype),)


def _packed(kept: torch.Tensor) -> torch.Tensor:
    bits = torch.zeros(-(-kept.numel() // 1024) * 1024, dtype=torch.uint8)
    bits[: kept.numel()] = kept.reshape(-1)
    return (bits.reshape(-1, 8) << torch.arange(8, dtype=torch.uint8)).sum(1).to(torch.uint8)


def _unpacked(mask: torch.Tensor, count: int) -> torch.Tensor:
    return ((mask.unsqueeze(1) >> torch.arange(8, dtype=torch.uint8)) & 1).reshape(-1)[:count]


def max_pool2d_backward(given: dict[str, Any]) -> Results:
    """The device keeps a mask in a form of its own where the CPU keeps indices: they are found again."""
    names = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
    _, indices = torch.ops.aten.max_pool2d_with_indices(given["self"], *(given[name] for name in names))
    rest = (given["self"], *(given[name] for name in names), indices)
    return (torch.ops.aten.max_pool2d_with_indices_backward(given["grad_output"], *rest),)


def matmul_backward(given: dict[str, Any]) -> Results:
    """Vectors as matrices with one row or column; gradients of broadcast batches are summed."""
    gradient, left, right = given["grad"], given["self"], given["other"]
    rows, columns = left.dim() == 1, right.dim() == 1
    a, b = left.unsqueeze(0) if rows else left, right.unsqueeze(1) if columns else right
    if rows:
        gradient = gradient.unsqueeze(-1 if columns else -2)
    if columns:
        gradient = gradient.unsqueeze(-1)
    of_a, of_b = gradient @ b.transpose(-2, -1), a.transpose(-2, -1) @ gradient
    return of_a.sum_to_size(a.shape).reshape(left.shape), of_b.sum_to_size(b.shape).reshape(right.shape)


def repeat_backward(given: dict[str, Any]) -> Results:
    """The gradient of ``repeat_interleave`` with one number of repeats: sums over each run of repeats."""
    like, repeats, dim = given["input"], int(given["repeats"]), given.get("dim")
    gradient = given["grad"]
    if dim is None:
        return (gradient.reshape(-1, repeats).sum(-1).reshape(like.shape),)
    return (gradient.unflatten(dim, (like.shape[dim], repeats)).sum(dim % like.dim() + 1),)


def cast(given: dict[str, Any]) -> Results:
    return (next(iter(given.values())).to(given["dtype"]),)


def same(given: dict[str, Any]) -> Results:
    """Formats are a matter of the device's memory layout."""
    return (next(iter(given.values())).clone(),)


#: By qualified overload; the arguments come by the names of the operator's schema. None: not computed.
REFERENCES: dict[str, Callable[[dict[str, Any]], Results | None]] = {
    "aten::matmul_backward": matmul_backward,
    "aten::max_pool2d_with_indices_backward": max_pool2d_backward,
    "aten::native_dropout": dropout,
    "aten::native_dropout_backward": dropout_backward,
    "npu::_npu_dtype_cast": cast,
    "npu::npu_dtype_cast": cast,
    "npu::npu_format_cast": same,
    "npu::npu_fusion_attention": fusion_attention,
    "npu::npu_fusion_attention_grad_v3": fusion_attention_grad,
    "npu::npu_fusion_attention_v3": fusion_attention,
    "npu::repeat_interleave_backward_int": repeat_backward,
}
