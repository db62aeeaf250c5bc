"""What an operator should return: the CPU in double precision, and the CPU in the operator's own dtypes.

Both start from the same rounded values. The first says what is right; the second which dtypes and shapes to expect, and
how far off the dtype itself is for these values, whoever computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from opscan.probing.comparison.contracts import OWN_PRECISION, Arguments, base_name, is_random
from opscan.probing.comparison.stand_ins import stand_in
from opscan.probing.comparison.tolerance import terms
from opscan.probing.samples.interface import Sample

_WIDE = {
    torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
    torch.complex32: torch.complex128, torch.complex64: torch.complex128,
}  # fmt: skip
_WIDER = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.complex32: torch.complex64}

#: Arguments that only make sense for narrow inputs: the wide run takes these instead.
_FOR_WIDE: dict[str, Any] = {"half_to_float": False}


class NoReference(Exception):
    """The CPU does not compute the operator. ``reason`` completes the sentence "not compared: …"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Reference:
    """``expected``: results in the higher precision; ``own``: the same in the operator's own dtypes, empty where the
    CPU does not compute in them. None stands for a result that is not known. ``given``: the arguments before the call.
    ``precision``: in words, where it is not double.
    """

    sample: Sample
    expected: tuple[Tensor | None, ...]
    own: tuple[Tensor | None, ...]
    given: Arguments
    terms: int = 1
    precision: str = ""


def reference_of(sample: Sample) -> Reference:
    """Run the operator on the CPU. Raises NoReference where it has no kernel there, or takes none of the precisions."""
    given = sample.placed(_as_it_is, derived=False)
    own, why = _attempt(sample, {})
    if base_name(sample.operator) in OWN_PRECISION or is_random(sample.operator) or not _is_narrow(given):
        if own is None:
            raise NoReference(why)
        return Reference(sample, tuple(own), tuple(own), given, _terms(sample, given, own))
    for precision, dtypes in (("", _WIDE), ("the reference is float32", _WIDER)):
        expected, failed = _attempt(sample, dtypes)
        if expected is not None and (own is None or len(own) == len(expected)):
            return Reference(
                sample, tuple(expected), tuple(own or ()), given, _terms(sample, given, expected), precision
            )
        why = why or failed
    if own is None:
        raise NoReference(why)
    note = "the reference has the operator's own precision"
    return Reference(sample, tuple(own), tuple(own), given, _terms(sample, given, own), note)


def results_of(sample: Sample, args: Any, kwargs: Any, result: Any) -> list[Tensor]:
    """Everything that a call produced: its results, then the arguments that it wrote to.

    Plain numbers become tensors. A result that is an argument written to is counted once.
    """
    schema = sample.operator._schema
    returned = result if isinstance(result, tuple) and len(schema.returns) > 1 else (result,)
    fresh = [
        value
        for value, declared in zip(returned, schema.returns, strict=False)
        if declared.alias_info is None or not declared.alias_info.is_write
    ]
    named = dict(zip((a.name for a in schema.arguments), args, strict=False)) | kwargs
    written = [
        named.get(a.name) for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write
    ] + _unannounced(sample, named)
    return [
        _tensor(leaf) for leaf in tree_leaves((fresh, written)) if isinstance(leaf, (Tensor, bool, int, float, complex))
    ]


def _unannounced(sample: Sample, named: dict[str, Any]) -> list[Any]:
    """Running statistics, which the older batch norm's schema does not say that it writes."""
    if sample.operator._schema.name != "aten::native_batch_norm" or not named.get("training"):
        return []
    return [named.get("running_mean"), named.get("running_var")]


def _tensor(leaf: Any) -> Tensor:
    return leaf.detach() if isinstance(leaf, Tensor) else torch.tensor(leaf)


def _as_it_is(tensor: Tensor) -> Tensor:
    return tensor


def _is_narrow(given: Arguments) -> bool:
    """Whether any argument, or a dtype asked for, has a wider one."""
    leaves = tree_leaves(given)
    return any(leaf.dtype in _WIDE for leaf in leaves if isinstance(leaf, Tensor)) or any(
        leaf in _WIDE for leaf in leaves if isinstance(leaf, torch.dtype)
    )


def _attempt(sample: Sample, dtypes: dict[torch.dtype, torch.dtype]) -> tuple[Sequence[Tensor | None] | None, str]:
    """The results in other dtypes, or None and why the CPU does not compute them."""
    try:
        compute = stand_in(sample.operator)
        args, kwargs = sample.placed(lambda tensor: _cast(tensor, dtypes), derived=compute is None)
        if dtypes:
            args, kwargs = tree_map(lambda value: _widened(value, dtypes), (args, kwargs))
            args, kwargs = _for_wide(sample.operator, args, kwargs)
        if compute is not None:
            computed = compute((args, kwargs))
            return computed, "" if computed is not None else "no reference is known for these arguments"
        with torch.no_grad():
            results = results_of(sample, args, kwargs, sample.operator(*args, **kwargs))
        if any(result.layout is not torch.strided for result in results):
            return None, "its results are sparse"
        return results, ""
    except (RuntimeError, NotImplementedError, ValueError, TypeError, IndexError) as error:
        first = str(error).strip().partition("\n")[0][:200] or type(error).__name__
        return None, f"the CPU does not compute it: {first}"


def _cast(tensor: Tensor, dtypes: dict[torch.dtype, torch.dtype]) -> Tensor:
    return tensor.to(dtypes.get(tensor.dtype, tensor.dtype))


def _widened(value: Any, dtypes: dict[torch.dtype, torch.dtype]) -> Any:
    return dtypes.get(value, value) if isinstance(value, torch.dtype) else value


def _for_wide(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
    names = [a.name for a in operator._schema.arguments]
    args = tuple(_FOR_WIDE.get(name, value) for name, value in zip(names, args, strict=False))
    return args, {name: _FOR_WIDE.get(name, value) for name, value in kwargs.items()}


def _terms(sample: Sample, given: Arguments, results: Sequence[Tensor | None]) -> int:
    inputs = [leaf for leaf in tree_leaves(given) if isinstance(leaf, Tensor)]
    return terms(sample.operator, given[0], inputs, [result for result in results if result is not None])
