"""CPU tensors for a check, drawn from a seeded generator so that a report repeats."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from opscan.inventory import TensorSpec


def draw(specs: Sequence[TensorSpec], generator: Generator, below: int = 1) -> list[Tensor]:
    """One tensor a spec: normal values for floating and complex dtypes, coin flips for bool, integers in [0, below)."""
    return [one(spec, generator, 0, below) for spec in specs]


def one(spec: TensorSpec, generator: Generator, low: int = 0, high: int = 1) -> Tensor:
    """A tensor like ``spec`` with concrete sizes; integers are drawn from [low, high)."""
    dtype = getattr(torch, spec.dtype)
    shape = [int(size) for size in spec.shape]
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    if dtype.is_floating_point or dtype.is_complex:
        wide = torch.complex128 if dtype.is_complex else torch.float64
        return torch.randn(shape, generator=generator, dtype=wide).to(dtype)
    return torch.randint(low, max(high, low + 1), shape, generator=generator, dtype=torch.int64).to(dtype)


def moved(tensors: Sequence[Tensor], low: float) -> list[Tensor]:
    """The same tensors with real floating values moved into (low, low + 0.9)."""
    return [tensor.sigmoid() * 0.9 + low if tensor.is_floating_point() else tensor for tensor in tensors]
