"""How far two tensors are apart: absolutely, relatively, in units in the last place, and where one is no number."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(frozen=True, slots=True)
class Figures:
    """As ``Errors`` of the protocol, for one result. ``outside``: elements beyond tolerance, of ``elements``."""

    max_abs: float = 0.0
    max_rel: float = 0.0
    max_ulp: float = 0.0
    nonfinite: int = 0
    unequal: int = 0
    outside: int = 0
    elements: int = 0


def ulp_distance(one: Tensor, other: Tensor) -> Tensor:
    """How many representable numbers of their dtype two tensors are apart, in double precision.

    Symmetric; 0 for equal numbers (also -0 and 0) and for two NaN; infinite where one of them is NaN or infinite and
    the other is not the same. Complex numbers are as far apart as their parts are at most.
    """
    if one.dtype != other.dtype:
        raise ValueError(f"{one.dtype} and {other.dtype} have different units")
    if one.is_complex():
        return ulp_distance(torch.view_as_real(one.resolve_conj()), torch.view_as_real(other.resolve_conj())).amax(-1)
    first, second = _ordinal(one), _ordinal(other)
    # Differences of 64-bit ordinals overflow where signs differ: halves do not.
    high = (first >> 1) - (second >> 1)
    low = (first & 1) - (second & 1)
    distance = (high.double() * 2 + low.double()).abs()
    same = (one == other) | (one.isnan() & other.isnan())
    apart = ~(one.isfinite() & other.isfinite()) & ~same
    return distance.masked_fill(same, 0.0).masked_fill(apart, inf)


def _ordinal(tensor: Tensor) -> Tensor:
    """The place of each number in the order of all numbers of its dtype; both zeros have place 0."""
    bits = tensor.contiguous().view(_INTEGERS[tensor.itemsize]).long()
    lowest = -(2 ** (8 * tensor.itemsize - 1))
    return torch.where(bits < 0, lowest - bits, bits)


def figures(expected: Tensor, actual: Tensor, rtol: float, atol: float, allowed: float = 0.0) -> Figures:
    """``actual`` against ``expected`` in higher or equal precision, rounded to the dtype of ``actual`` where patterns
    of NaN and infinities are compared: what overflows there is expected to.

    An element is outside where its error exceeds ``atol + rtol * |expected|`` and ``allowed``.
    """
    if not (actual.is_floating_point() or actual.is_complex()):
        unequal = int((expected.to(actual.dtype) != actual).sum())
        return Figures(unequal=unequal, outside=unequal, elements=actual.numel())
    rounded = _rounded(expected, actual.dtype)
    same = (rounded == actual) | (rounded.isnan() & actual.isnan())
    finite = rounded.isfinite() & actual.isfinite()
    odd = ~finite & ~same
    wide = torch.complex128 if actual.is_complex() else torch.float64
    error = (actual.to(wide) - expected.to(wide)).abs().masked_fill(~finite, 0.0)
    size = expected.to(wide).abs().masked_fill(~finite, 0.0)
    limit = (atol + rtol * size).clamp_min(allowed)
    outside = (error > limit) | odd
    counted = finite & (size > atol)
    return Figures(
        _largest(error),
        _largest((error / size)[counted]),
        _largest(ulp_distance(rounded, actual)[counted]),
        int(odd.sum()),
        0,
        int(outside.sum()),
        actual.numel(),
    )


def _rounded(expected: Tensor, dtype: torch.dtype) -> Tensor:
    """A result that is real on the device may be complex in the reference only by mistake: keep the real part."""
    if expected.is_complex() and not dtype.is_complex:
        expected = expected.real
    return expected.to(dtype)


def _largest(values: Tensor) -> float:
    return float(values.max()) if values.numel() else 0.0
