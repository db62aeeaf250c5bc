"""Tensors too large for the host: sizes are halved together, as long as the operator accepts the smaller ones."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import torch

from opscan.inventory import TensorSpec
from opscan.probing.samples.binding import Bound, Specs, schema_arguments
from opscan.probing.samples.interface import Unsampled
from opscan.probing.samples.kinds import dtype_of

#: Bytes of a call's tensors in double precision: 512 MB. A reference holds them twice, with the results once more.
LIMIT = 512 * 2**20


def within(bound: Bound, limit: int) -> tuple[Bound, str]:
    """``bound`` with tensors of at most ``limit`` bytes in double precision, and what was scaled in words.

    Equal sizes stay equal, and so do whole numbers in lists that equal them (``size=[…]``). Whether the operator takes
    the smaller sizes is asked of its shape function. Raises Unsampled where it does not.
    """
    before = _bytes(bound)
    if before <= limit:
        return bound, ""
    cap = max(size for spec in _all(bound) for size in _sizes(spec))
    while cap > 1:
        cap //= 2
        smaller = _capped(bound, cap)
        if _bytes(smaller) <= limit:
            _must_accept(smaller, before)
            return smaller, f"sizes above {cap} were cut to {cap}: {before >> 20} MB of tensors in double precision"
    raise Unsampled(f"its tensors take {before >> 20} MB in double precision, which is too much for a reference")


def _all(bound: Bound) -> list[TensorSpec]:
    found: list[TensorSpec] = []
    for specs in bound.tensors.values():
        found += [specs] if isinstance(specs, TensorSpec) else [spec for spec in specs if spec is not None]
    return found


def _sizes(spec: TensorSpec) -> tuple[int, ...]:
    return tuple(int(size) for size in spec.shape)


def _bytes(bound: Bound) -> int:
    return sum(8 * (2 if spec.dtype.startswith("complex") else 1) * prod(_sizes(spec)) for spec in _all(bound))


def _capped(bound: Bound, cap: int) -> Bound:
    sizes = {size for spec in _all(bound) for size in _sizes(spec) if size > cap}

    def spec(one: TensorSpec) -> TensorSpec:
        return TensorSpec(one.dtype, tuple(min(size, cap) for size in _sizes(one)))

    def specs(given: Specs) -> Specs:
        if isinstance(given, TensorSpec):
            return spec(given)
        return tuple(None if one is None else spec(one) for one in given)

    def other(value: object) -> object:
        if isinstance(value, list):
            return [other(item) for item in value]
        return cap if isinstance(value, int) and not isinstance(value, bool) and value in sizes else value

    others = {name: other(value) if isinstance(value, list) else value for name, value in bound.others.items()}
    return replace(bound, tensors={name: specs(given) for name, given in bound.tensors.items()}, others=others)


def _must_accept(bound: Bound, before: int) -> None:
    """Raises Unsampled where the operator's shape function refuses the sizes of ``bound``."""

    def meta(spec: TensorSpec | None) -> torch.Tensor | None:
        return None if spec is None else torch.empty(_sizes(spec), dtype=dtype_of(spec), device="meta")

    tensors: dict[str, Any] = {
        name: meta(given) if isinstance(given, TensorSpec) else [meta(spec) for spec in given]
        for name, given in bound.tensors.items()
    }
    args, kwargs = schema_arguments(bound, tensors)
    kwargs = {name: torch.device("meta") if isinstance(v, torch.device) else v for name, v in kwargs.items()}
    try:
        bound.operator(*args, **kwargs)
    except NotImplementedError:
        return  # no shape function, or one that needs data: running it will tell
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        raise Unsampled(
            f"its tensors take {before >> 20} MB in double precision, and it does not accept smaller ones"
        ) from error
