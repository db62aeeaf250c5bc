"""Kinds of values, and a tensor of each: drawn in double precision from a seeded generator, then rounded to the dtype.

The rounded values are what every side starts from, so that a reference in higher precision sees the same input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Generator, Tensor

from opscan.inventory import TensorSpec
from opscan.probing.samples.interface import Unsampled

Kind = Literal[
    "normal", "positive", "small_positive", "unit", "inside_one", "above_one", "above_minus_one", "nonzero",
    "distinct", "ascending", "nonnegative", "counts", "shift", "zeros", "ones", "coin", "grid",
    "log_probabilities", "probabilities", "moderate",
]  # fmt: skip

#: Integers of no special meaning lie in [-4, 4]; unsigned ones in [0, 8].
_INTEGERS = (-4, 5)
_UNSIGNED = (0, 9)


def dtype_of(spec: TensorSpec) -> torch.dtype:
    """Raises Unsampled for a dtype that torch does not know here, or that cannot be filled with numbers."""
    dtype = getattr(torch, spec.dtype, None)
    if not isinstance(dtype, torch.dtype) or spec.dtype.startswith(("qu", "qi", "bits", "float4")):
        raise Unsampled(f"tensors of {spec.dtype} are not made")
    return dtype


def draw_tensor(spec: TensorSpec, kind: Kind, generator: Generator) -> Tensor:
    """A tensor like ``spec``, with numbers for sizes. Booleans are coin flips, or true where zero is not taken."""
    dtype = dtype_of(spec)
    shape = [int(size) for size in spec.shape]
    if dtype == torch.bool:
        sure = kind in ("nonzero", "positive", "above_one", "ones")
        return torch.rand(shape, generator=generator) < (1.0 if sure else 0.5)
    if kind in ("distinct", "ascending"):
        return _distinct(shape, dtype, generator, shuffled=kind == "distinct")
    if dtype.is_floating_point or dtype.is_complex:
        return _real(shape, kind, generator, dtype)
    return _integers(shape, kind, generator, dtype)


def _uniform(shape: list[int], generator: Generator, low: float, high: float) -> Tensor:
    return torch.rand(shape, generator=generator, dtype=torch.float64) * (high - low) + low


_REAL: dict[Kind, Callable[[list[int], Generator], Tensor]] = {
    "normal": lambda shape, g: torch.randn(shape, generator=g, dtype=torch.float64),
    "moderate": lambda shape, g: _uniform(shape, g, -1.2, 1.2),
    "positive": lambda shape, g: _uniform(shape, g, 0.1, 4.0),
    "small_positive": lambda shape, g: _uniform(shape, g, 0.1, 0.9),
    "nonnegative": lambda shape, g: _uniform(shape, g, 0.0, 4.0),
    "unit": lambda shape, g: _uniform(shape, g, 0.05, 0.95),
    "inside_one": lambda shape, g: _uniform(shape, g, -0.95, 0.95),
    "grid": lambda shape, g: _uniform(shape, g, -0.95, 0.95),
    "above_one": lambda shape, g: _uniform(shape, g, 1.05, 4.0),
    "above_minus_one": lambda shape, g: _uniform(shape, g, -0.9, 4.0),
    "counts": lambda shape, g: torch.randint(0, 9, shape, generator=g).double(),
    "shift": lambda shape, g: torch.randint(0, 5, shape, generator=g).double(),
    "zeros": lambda shape, g: torch.zeros(shape, dtype=torch.float64),
    "ones": lambda shape, g: torch.ones(shape, dtype=torch.float64),
    "coin": lambda shape, g: torch.randint(0, 2, shape, generator=g).double(),
    "log_probabilities": lambda shape, g: _last(torch.log_softmax, shape, g),
    "probabilities": lambda shape, g: _last(torch.softmax, shape, g),
}  # fmt: skip


def _last(function: Callable[..., Tensor], shape: list[int], generator: Generator) -> Tensor:
    values = torch.randn(shape, generator=generator, dtype=torch.float64)
    return function(values, -1) if shape else values.abs().clamp(0.1, 0.9)


def _real(shape: list[int], kind: Kind, generator: Generator, dtype: torch.dtype) -> Tensor:
    if kind == "nonzero":
        sign = torch.randint(0, 2, shape, generator=generator) * 2 - 1
        values = _uniform(shape, generator, 0.5, 2.0) * sign
    else:
        values = _REAL[kind](shape, generator)
    if not dtype.is_complex:
        return values.to(dtype)
    if kind in ("zeros", "ones"):
        return values.to(dtype)
    imaginary = _uniform(shape, generator, -0.5, 0.5) if kind != "normal" else torch.randn(shape, generator=generator)
    return torch.complex(values, imaginary.double()).to(dtype)


def _integers(shape: list[int], kind: Kind, generator: Generator, dtype: torch.dtype) -> Tensor:
    low, high = _INTEGERS if dtype.is_signed else _UNSIGNED
    if kind in ("positive", "above_one", "small_positive"):
        low, high = 1, 9
    elif kind in ("nonnegative", "counts", "above_minus_one"):
        low, high = 0, 9
    elif kind in ("unit", "coin"):
        low, high = 0, 2
    elif kind in ("zeros", "inside_one"):
        low, high = 0, 1
    elif kind == "ones":
        low, high = 1, 2
    elif kind == "shift":
        low, high = 0, min(7, torch.iinfo(dtype).bits - 1)
    values = torch.randint(low, high, shape, generator=generator, dtype=torch.int64)
    if kind == "nonzero":
        values = torch.where(values == 0, 1, values)
    return values.to(dtype)


def _distinct(shape: list[int], dtype: torch.dtype, generator: Generator, shuffled: bool) -> Tensor:
    """Values that differ from each other, as far as the dtype has so many; ``ascending`` along the last dimension."""
    if dtype.is_complex:
        return _real(shape, "normal", generator, dtype)
    count = int(torch.Size(shape).numel())
    if not shuffled:  # each line is sorted by itself
        length = shape[-1] if shape else 1
        return _ladder(length, dtype).expand(shape).clone() if shape else _ladder(1, dtype).reshape(())
    return _ladder(count, dtype)[torch.randperm(count, generator=generator)].reshape(shape)


def _ladder(count: int, dtype: torch.dtype) -> Tensor:
    """``count`` values of the dtype in order, from the most even choice among those that it has around zero."""
    if not dtype.is_floating_point:
        info = torch.iinfo(dtype)
        low, high = max(info.min, -(count // 2)), min(info.max, max(count // 2, 1) + 1)
        if not dtype.is_signed:
            low, high = 0, min(info.max, max(count, 1))
        return torch.linspace(low, high, max(count, 1), dtype=torch.float64).round()[:count].to(dtype)
    if dtype.itemsize >= 4:
        return torch.linspace(-4.0, 4.0, count, dtype=torch.float64).to(dtype)
    values = _representable(dtype)
    return values[torch.linspace(0, len(values) - 1, count, dtype=torch.float64).round().long()]


def _representable(dtype: torch.dtype) -> Tensor:
    """Every value of a narrow floating dtype with a magnitude in [2**-6, 8], in order."""
    bits = torch.arange(-(2 ** (8 * dtype.itemsize - 1)), 2 ** (8 * dtype.itemsize - 1))
    patterns = bits.to(torch.int8 if dtype.itemsize == 1 else torch.int16).view(dtype)
    wide = patterns.double()
    kept = (wide.abs() >= 2.0**-6) & (wide.abs() <= 8) & wide.isfinite()
    values: Tensor = wide[kept].unique()
    return values.to(dtype)


def has_ties(tensor: Tensor) -> bool:
    """Whether two elements are equal."""
    return tensor.numel() > 1 and tensor.flatten().unique().numel() < tensor.numel()
