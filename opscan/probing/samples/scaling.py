"""Tensors too large for the host: sizes are halved together, as long as the operator accepts the smaller ones."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from opscan.inventory import TensorSpec
from opscan.probing.samples.binding import Bound, Specs, schema_arguments
from opscan.probing.samples.interface import Unsampled
from opscan.probing.samples.kinds import dtype_of

#: Bytes of a call's tensors in double precision: 512 MB. A reference holds them twice, with the results once more.
LIMIT = 512 * 2**20

#: Bytes below which nobody asks how large the results are.
_SMALL = 2**20


def within(bound: Bound, limit: int) -> tuple[Bound, str]:
    """``bound`` with tensors of at most ``limit`` bytes in double precision, and what was scaled in words.

    Equal sizes stay equal, and so do whole numbers in lists that equal them (``size=[…]``). Whether the operator takes
    the smaller sizes is asked of its shape function. Raises Unsampled where it does not.
    """
    before = _bytes(bound)
    before += _result_bytes(bound) if before > _SMALL or _names_large_sizes(bound) else 0
    if before <= limit:
        return bound, ""
    cap = max((size for spec in _all(bound) for size in _sizes(spec)), default=0)
    while cap > 1:
        cap //= 2
        smaller = _capped(bound, cap)
        if _bytes(smaller) <= limit:
            _must_accept(smaller, before)
            if _bytes(smaller) + _result_bytes(smaller) <= limit:
                return smaller, f"sizes above {cap} were cut to {cap}: {before >> 20} MB of tensors in double precision"
    raise Unsampled(f"its tensors take {before >> 20} MB in double precision, which is too much for a reference")


def _names_large_sizes(bound: Bound) -> bool:
    """Whether numbers among the arguments could make a large result of small tensors."""
    lists = [value if isinstance(value, list) else [value] for value in bound.others.values()]
    return any(prod(max(abs(n), 1) for n in numbers if isinstance(n, int)) > _SMALL for numbers in lists)


def _result_bytes(bound: Bound) -> int:
    """What the results take, by the operator's shape function; 0 where it has none or does not say."""
    try:
        results = _on_meta(bound)
    except (RuntimeError, NotImplementedError, ValueError, IndexError, TypeError):
        return 0
    return sum(
        8 * (2 if t.is_complex() else 1) * t.numel() for t in tree_leaves(results) if isinstance(t, torch.Tensor)
    )


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
    try:
        _on_meta(bound)
    except NotImplementedError:
        return  # no shape function, or one that needs data: running it will tell
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        raise Unsampled(
            f"its tensors take {before >> 20} MB in double precision, and it does not accept smaller ones"
        ) from error


def _on_meta(bound: Bound) -> Any:
    """The operator's shape function on tensors without data."""

    def meta(spec: TensorSpec | None) -> torch.Tensor | None:
        return None if spec is None else torch.empty(_sizes(spec), dtype=dtype_of(spec), device="meta")

    tensors: dict[str, Any] = {
        name: meta(given) if isinstance(given, TensorSpec) else [meta(spec) for spec in given]
        for name, given in bound.tensors.items()
    }
    args, kwargs = schema_arguments(bound, tensors)
    if any(parameter.name == "device" for parameter in bound.operator._schema.arguments):
        kwargs["device"] = torch.device("meta")  # else a factory would make real memory
    return bound.operator(*args, **kwargs)
