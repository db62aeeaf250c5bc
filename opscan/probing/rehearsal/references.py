"""CPU versions of what torch_npu computes in its own way, for the shadow.

Each takes the arguments of the operator and returns its results in order, None for one that is bookkeeping of the
device and that only other references would read. Meanings are those of the ``npu_*`` functions in Ascend's API
reference for PyTorch: a true element of ``atten_mask`` is left out, ``keep_prob`` is one minus the dropout probability.
The layout of a dropout mask, one bit an element padded to 128 bits, is what torch_npu 2.13.0 allocates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

Results = tuple[Any, ...]

#: Sparse modes whose mask stands for a causal one of any size.
_CAUSAL = 2


#: Scores of so many bytes are computed at a time: those of a long sequence as a whole would take gigabytes.
_SCORES = 64 << 20


def _scale(given: dict[str, Any]) -> float:
    return float(given.get("scale", given.get("scale_value", 1.0)))


def _in_torchs_layout(given: dict[str, Any]) -> bool:
    """Whether the call is one that torch's own attention leads to."""
    return given["input_layout"] == "BNSD" and given.get("pse") is None


def _wide(given: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queries, keys and values as [batch, heads, length, size] in float32, keys and values once for each query head."""
    query, key, value = (given[name].float() for name in ("query", "key", "value"))
    groups = query.shape[1] // key.shape[1]
    return query, key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)


def _weights(given: dict[str, Any], query: torch.Tensor, key: torch.Tensor) -> Iterator[tuple[slice, torch.Tensor]]:
    """The weights that some queries at a time give to every value."""
    length, others = query.shape[2], key.shape[2]
    step = max(1, _SCORES // max(1, query.shape[0] * query.shape[1] * others * 4))
    for start in range(0, length, step):
        rows = slice(start, min(start + step, length))
        scores = query[:, :, rows] @ key.transpose(-2, -1) * _scale(given)
        left_out = _left_out(given, rows, length, others)
        if left_out is not None:
            scores = scores.masked_fill(left_out, float("-inf"))
        yield rows, torch.softmax(scores, -1).nan_to_num()


def _left_out(given: dict[str, Any], rows: slice, length: int, others: int) -> torch.Tensor | None:
    if given.get("sparse_mode", 0) == _CAUSAL:
        return torch.arange(others) > torch.arange(rows.start, rows.stop).unsqueeze(1) + (others - length)
    mask: torch.Tensor | None = given.get("atten_mask")
    if mask is None:
        return None
    return (mask[..., rows, :] if mask.shape[-2] == length else mask).bool()


def fusion_attention(given: dict[str, Any]) -> Results | None:
    if not _in_torchs_layout(given):
        return None
    query, key, value = _wide(given)
    out = query.new_empty((*query.shape[:3], value.shape[3]))
    for rows, weights in _weights(given, query, key):
        out[:, :, rows] = weights @ value
    return (out.to(given["query"].dtype), None, None, None, None, None)


def fusion_attention_grad(given: dict[str, Any]) -> Results | None:
    if not _in_torchs_layout(given):
        return None
    query, key, value = _wide(given)
    of_query, of_key, of_value = torch.empty_like(query), torch.zeros_like(key), torch.zeros_like(value)
    for rows, weights in _weights(given, query, key):
        gradient = given["dy"][:, :, rows].float()
        of_weights = gradient @ value.transpose(-2, -1)
        of_scores = weights * (of_weights - (of_weights * weights).sum(-1, keepdim=True)) * _scale(given)
        of_query[:, :, rows] = of_scores @ key
        of_key += of_scores.transpose(-2, -1) @ query[:, :, rows]
        of_value += weights.transpose(-2, -1) @ gradient
    heads = given["key"].shape[1]
    summed = [t.unflatten(1, (heads, -1)).sum(2) for t in (of_key, of_value)]
    dtype = given["query"].dtype
    return (of_query.to(dtype), *(t.to(dtype) for t in summed), None, None)


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
    bits = torch.zeros(-(-kept.numel() // 128) * 128, dtype=torch.uint8)
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


def rms_norm(given: dict[str, Any]) -> Results:
    tensor, gamma = given["input"], given["gamma"]
    wide, dims = tensor.float(), tuple(range(-gamma.dim(), 0))
    inverse = torch.rsqrt(wide.square().mean(dims, keepdim=True) + float(given.get("epsilon", 1e-6)))
    return (wide * inverse * gamma.float()).to(tensor.dtype), inverse


def swiglu(given: dict[str, Any]) -> Results:
    gate, value = given["input"].chunk(2, int(given.get("dim", -1)))
    return (torch.nn.functional.silu(gate) * value,)


def fast_gelu(given: dict[str, Any]) -> Results:
    return (given["input"] * torch.sigmoid(1.702 * given["input"]),)


def rotary_mul(given: dict[str, Any]) -> Results | None:
    if given.get("rotary_mode", "half") != "half":
        return None
    first, second = given["input"].chunk(2, -1)
    return (given["input"] * given["r1"] + torch.cat((-second, first), -1) * given["r2"],)


#: Numbers of torch's ``ScalarType`` (c10/core/ScalarType.h), as a schema of torch_npu's takes them.
_SCALAR_TYPES = {
    0: torch.uint8, 1: torch.int8, 2: torch.int16, 3: torch.int32, 4: torch.int64, 5: torch.float16, 6: torch.float32,
    7: torch.float64, 9: torch.complex64, 10: torch.complex128, 11: torch.bool, 15: torch.bfloat16,
}  # fmt: skip


def cast(given: dict[str, Any]) -> Results | None:
    dtype = _SCALAR_TYPES.get(given["dtype"]) if isinstance(given["dtype"], int) else given["dtype"]
    return (given["input"].to(dtype),) if dtype is not None else None


def same(given: dict[str, Any]) -> Results:
    """Formats are a matter of the device's memory layout."""
    return (given["input"].clone(),)


#: Parameters that a reference does not read: what the device keeps in them is of its own form.
UNREAD = {"aten::max_pool2d_with_indices_backward": ("indices",)}

#: By qualified overload; the arguments come by the names of the operator's schema. None: not computed.
REFERENCES: dict[str, Callable[[dict[str, Any]], Results | None]] = {
    "aten::matmul_backward": matmul_backward,
    "aten::max_pool2d_with_indices_backward": max_pool2d_backward,
    "aten::native_dropout": dropout,
    "aten::native_dropout_backward": dropout_backward,
    "npu::_npu_dtype_cast": cast,
    "npu::npu_dtype_cast": cast,
    "npu::npu_fast_gelu": fast_gelu,
    "npu::npu_format_cast": same,
    "npu::npu_fusion_attention": fusion_attention,
    "npu::npu_fusion_attention_grad_v3": fusion_attention_grad,
    "npu::npu_fusion_attention_v3": fusion_attention,
    "npu::npu_rms_norm": rms_norm,
    "npu::npu_rotary_mul": rotary_mul,
    "npu::npu_swiglu": swiglu,
    "npu::repeat_interleave_backward_int": repeat_backward,
}
