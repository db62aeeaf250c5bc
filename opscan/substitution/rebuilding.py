"""Make a recorded call callable again, through ``torch.ops`` and its schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from opscan.inventory import OpCall
from opscan.substitution.arguments import Operand, Symbol, attributes, base_name, operands
from opscan.substitution.interface import NotChecked, Run, Text


def rebuild(call: OpCall, attribute: Callable[[object], object]) -> Run:
    """The operator of ``call`` as a function of its flat tensors. ``attribute`` may change any other argument.

    Raises ``NotChecked`` where torch does not know the operator here, where it draws random numbers, and where what was
    recorded does not determine its arguments.
    """
    operator = _operator(call)
    if torch.Tag.nondeterministic_seeded in operator.tags:
        raise NotChecked(Text(f"{call.name} draws random numbers", f"{call.name} 使用随机数"))
    try:
        others = {
            name: _value(attribute(value))
            for name, value in attributes(call).items()
            if not (isinstance(value, Symbol) and value.is_device)  # a factory follows the device of this process
        }
    except ValueError as error:
        raise NotChecked(
            Text(
                f"an argument of {call.name} was not recorded as a value: {error}",
                f"{call.name} 的某个参数未以值的形式记录：{error}",
            )
        ) from error
    places = operands(call) or _by_schema(call, operator, others)
    absent = _absent(operator, {place.name for place in places} | others.keys())

    def run(*tensors: Tensor) -> Any:
        return operator(**_keywords(places, tensors), **others, **absent)

    return run


def _operator(call: OpCall) -> Any:
    namespace, name, overload = base_name(call)
    try:
        return getattr(getattr(getattr(torch.ops, namespace), name), overload)
    except (AttributeError, RuntimeError) as error:
        raise NotChecked(Text(f"torch here has no {call.name}", f"此处的 torch 没有 {call.name}")) from error


def _value(value: object) -> object:
    """Symbols as torch's own objects."""
    if not isinstance(value, Symbol):
        return value
    try:
        return getattr(torch, value.text.removeprefix("torch."))
    except AttributeError as error:
        raise ValueError(f"torch here has no {value.text}") from error


def _by_schema(call: OpCall, operator: Any, others: dict[str, object]) -> tuple[Operand, ...]:
    """Tensors in the schema's order, where that leaves no doubt: no lists, as many tensors as parameters for them."""
    tensors = [argument for argument in operator._schema.arguments if "Tensor" in str(argument.type)]
    names = [argument.name for argument in tensors if argument.name not in others]
    if any("List" in str(argument.type) for argument in tensors) or len(names) != len(call.inputs):
        raise NotChecked(Text("the trace does not name the parameters", "跟踪结果未给出参数名"))
    return tuple(Operand(name, None, spec) for name, spec in zip(names, call.inputs, strict=True))


def _absent(operator: Any, given: set[str]) -> dict[str, None]:
    """Parameters without a default that were not recorded: ``None``, as a trace leaves that out."""
    return {
        argument.name: None
        for argument in operator._schema.arguments
        if argument.name not in given and not argument.has_default_value() and "Optional" in str(argument.type)
    }


def _keywords(places: tuple[Operand, ...], tensors: tuple[Tensor, ...]) -> dict[str, Any]:
    """Tensors by parameter; a list gets ``None`` where no tensor was recorded at a position."""
    keywords: dict[str, Any] = {}
    for place, tensor in zip(places, tensors, strict=True):
        if place.position is None:
            keywords[place.name] = tensor
        else:
            items = keywords.setdefault(place.name, [])
            items += [None] * (place.position - len(items))
            items.append(tensor)
    return keywords
