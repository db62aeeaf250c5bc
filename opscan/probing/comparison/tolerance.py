"""How far a result may be off: torch.testing's tolerances by dtype, wider where many terms are summed.

Rounding a sum of K terms of random signs is off by some u·√K of its terms' size in one dtype's unit u, whether summed
in a row (partial sums grow with √k) or in a tree. torch.testing's tolerances are made for few terms: both are
multiplied by √K, where K is the number of terms behind one element of the result.
"""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

import torch
from torch import Tensor
from torch.testing._comparison import default_tolerances

#: Contractions by base name, with the positions of their two factors among the arguments.
_PRODUCTS = {
    "mm": (0, 1), "bmm": (0, 1), "matmul": (0, 1), "dot": (0, 1), "vdot": (0, 1), "mv": (0, 1), "linear": (0, 1),
    "addmm": (1, 2), "addmv": (1, 2), "addbmm": (1, 2), "baddbmm": (1, 2), "_addmm_activation": (1, 2),
    "_grouped_mm": (0, 1), "inner": (0, 1),
}  # fmt: skip

_CONVOLUTIONS = frozenset(
    {"convolution", "_convolution", "convolution_overrideable", "conv1d", "conv2d", "conv3d", "conv_transpose2d",
     "npu_conv2d", "npu_conv3d", "npu_convolution", "thnn_conv2d", "slow_conv3d", "_slow_conv2d_forward",
     "convolution_backward", "npu_conv2d_backward", "npu_convolution_backward"}
)  # fmt: skip

#: Pointwise operators carry a tag; these neither carry it nor sum: they move elements, or pick some of them.
_MOVES = frozenset(
    {"cat", "_chunk_cat", "stack", "index", "gather", "index_select", "embedding", "clone", "_to_copy", "copy", "where",
     "take", "roll", "flip", "repeat", "masked_select", "constant_pad_nd", "im2col", "scatter", "index_copy", "max",
     "min", "amax", "amin", "aminmax", "_foreach_max", "sort", "topk", "median", "nanmedian", "kthvalue", "mode",
     "cummax", "cummin", "max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d",
     "adaptive_max_pool3d", "max_unpool2d", "max_unpool3d", "unique_consecutive", "_unique2", "pixel_shuffle",
     "channel_shuffle"}
)  # fmt: skip


def tolerances(dtype: torch.dtype, terms: int = 1) -> tuple[float, float]:
    """(rtol, atol) for results of ``dtype`` that sum ``terms`` terms each. Integers must be equal."""
    if not (dtype.is_floating_point or dtype.is_complex):
        return 0.0, 0.0
    rtol, atol = default_tolerances(dtype)
    if not rtol:  # torch.testing has none for the 8-bit formats: one unit
        rtol = atol = torch.finfo(dtype).eps
    wider = sqrt(max(terms, 1))
    return rtol * wider, atol * wider


#: HF32 has 11 bits of mantissa (Ascend's documentation of ``--allow_hf32``): two rounded factors are off by 2**-11
#: together, and a sum of products by less than twice that of its largest element.
_HF32 = 2.0**-10


def reduced_precision(operator: Any, dtype: torch.dtype, largest: float) -> float:
    """What a convolution in float32 may be off by where the device computes it in HF32, as torch_npu has it by default
    (``torch.npu.conv.allow_hf32``); 0 for everything else. ``largest`` is the largest element of the result.
    """
    base = operator._schema.name.partition("::")[2].rstrip("_")
    return _HF32 * largest if base in _CONVOLUTIONS and dtype == torch.float32 else 0.0


def terms(operator: Any, args: tuple[Any, ...], inputs: list[Tensor], results: list[Tensor]) -> int:
    """How many terms may be behind one element of a result; at least 1."""
    base = operator._schema.name.partition("::")[2].rstrip("_")
    if base in _PRODUCTS:
        second = _PRODUCTS[base][1]
        factor = args[second] if second < len(args) else None
        own = factor.shape[-2 if factor.dim() > 1 else -1] if isinstance(factor, Tensor) and factor.dim() else 1
        batch = factor.shape[0] if base == "addbmm" and isinstance(factor, Tensor) else 1
        return max(1, own * batch)
    if base in _CONVOLUTIONS:
        return max(1, _convolution(base, inputs, results))
    if torch.Tag.pointwise in operator.tags or base in _MOVES or _is_view(operator):
        return 1
    return max(1, _line(inputs, results))


def _is_view(operator: Any) -> bool:
    return any(r.alias_info is not None and not r.alias_info.is_write for r in operator._schema.returns)


def _convolution(base: str, inputs: list[Tensor], results: list[Tensor]) -> int:
    """Multiplications by elements of the result: a weight's kernel times its channels; for the derivative of the
    weight, every place of the output in every image.
    """
    if base.endswith("backward"):
        grad, _, weight = inputs[0], inputs[1], inputs[2]
        return max(prod(weight.shape[2:]) * weight.shape[0], grad.numel() // max(grad.shape[1], 1))
    weight = inputs[1]
    return prod(weight.shape[2:]) * max(weight.shape[0], weight.shape[1])


def _line(inputs: list[Tensor], results: list[Tensor]) -> int:
    """The longest line that can have been summed over, or everything that went into one element."""
    longest = max((size for t in inputs for size in t.shape), default=1)
    given = max((t.numel() for t in inputs), default=1)
    made = max((t.numel() for t in results), default=1)
    return max(longest, given // max(made, 1))
