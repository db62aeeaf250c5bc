"""Overloads next to an observed call that take the same arguments: ``out=`` and in-place variants, numbers for tensors.

They are called with the arguments of the observed call, so that whatever has sample inputs gives some to its family.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from observing.registered import find_overload, registered_overloads

#: The namespaces in which torch_npu registers its own operators; older releases mirror ``npu`` in ``aten``.
_NAMESPACES = ("aten", "npu")

Call = tuple[Any, tuple[Any, ...], dict[str, Any]]


class Unfit(Exception):
    """The observed arguments do not serve the relative."""


def relatives(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Iterator[Call]:
    """Calls of every registered relative of ``func`` that its arguments and results allow."""
    known = _by_name(func, args, kwargs)
    results = [leaf for leaf in tree_leaves(out) if isinstance(leaf, torch.Tensor)]
    for name in family(func.name()):
        relative = find_overload(name)
        if relative is None or relative is func:
            continue
        try:
            yield relative, *_fitted(relative, known, out, results)
        except Unfit:
            continue


@cache
def family(name: str) -> tuple[str, ...]:
    """The registered overloads of an operator, of its in-place variant, and of their twins in the other namespace."""
    base = name.partition("::")[2].partition(".")[0].removesuffix("_")
    families = {f"{namespace}::{base}{suffix}" for namespace in _NAMESPACES for suffix in ("", "_")}
    return tuple(sorted(other for other in registered_overloads() if other.partition(".")[0] in families))


def _by_name(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    parameters = func._schema.arguments
    return {p.name: value for p, value in zip(parameters, args, strict=False)} | kwargs


def _fitted(
    relative: Any, known: dict[str, Any], out: Any, results: list[torch.Tensor]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    args, kwargs, left = [], {}, list(results)
    for parameter in relative._schema.arguments:
        if parameter.is_out:
            value = _receiver(parameter, out, left)
        elif parameter.name in known:
            value = _converted(parameter, known[parameter.name])
        elif parameter.has_default_value():
            continue
        else:
            raise Unfit(parameter.name)
        if parameter.kwarg_only:
            kwargs[parameter.name] = value
        else:
            args.append(value)
    return tuple(args), kwargs


def _receiver(parameter: Any, out: Any, left: list[torch.Tensor]) -> Any:
    """Tensors to receive a result, of the result's dtype and shape."""
    if "List" in str(parameter.type):
        taken, left[:] = list(left), []
        return [torch.empty_like(tensor) for tensor in taken]
    if not left:
        raise Unfit(parameter.name)
    return torch.empty_like(left.pop(0))


def _converted(parameter: Any, value: Any) -> Any:
    """The observed argument in the type that the relative wants; what it may change is cloned."""
    wanted = str(parameter.type).removeprefix("Optional[").removesuffix("]")
    if isinstance(value, torch.Tensor) and wanted != "Tensor":
        if wanted != "number":
            raise Unfit(parameter.name)
        return 2.5 if value.is_floating_point() else 2
    if wanted == "Tensor" and value is not None and not isinstance(value, torch.Tensor):
        if not isinstance(value, (bool, int, float)):
            raise Unfit(parameter.name)
        return torch.tensor(value).npu()
    if parameter.alias_info is not None and parameter.alias_info.is_write:
        return tree_map_only(torch.Tensor, torch.clone, value)
    return value
