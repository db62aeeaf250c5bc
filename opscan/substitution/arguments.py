"""Read back the arguments of a recorded call: ``repr`` texts to values, tensors to the parameters they fill.

No torch here: what only torch can represent stays a ``Symbol``.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from opscan.inventory import OpCall, TensorSpec

#: Spellings that ``ast`` does not take for numbers.
_NUMBERS = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}
_SYMBOL = re.compile(r"torch\.[a-z_0-9]+")
_DEVICE = re.compile(r"device\(type='(?P<type>[a-z_]+)'(?:, index=(?P<index>\d+))?\)")
_ELEMENT = re.compile(r"(?P<name>\w+)\[(?P<position>\d+)\]")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A dtype, layout or memory format by its full name (``torch.float64``), or a device (``npu:0``)."""

    text: str
    is_device: bool = False


@dataclass(frozen=True, slots=True)
class Operand:
    """One tensor of a call: the parameter it fills, and its position where that parameter is a list."""

    name: str
    position: int | None
    spec: TensorSpec


def value(text: str) -> object:
    """The value of a ``repr``. ``ValueError`` where it is none that can be read back (a generator, a symbolic size)."""
    if text in _NUMBERS:
        return _NUMBERS[text]
    if _SYMBOL.fullmatch(text):
        return Symbol(text)
    if device := _DEVICE.fullmatch(text):
        index = device["index"]
        return Symbol(device["type"] + (f":{index}" if index else ""), is_device=True)
    try:
        parsed: object = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(f"not a plain value: {text}") from error
    return parsed


def attributes(call: OpCall) -> dict[str, object]:
    """The non-tensor arguments by name. Raises ``ValueError`` where one of them is no plain value."""
    return {name: value(text) for name, text in call.attributes}


def operands(call: OpCall) -> tuple[Operand, ...] | None:
    """The tensors with their parameters, or ``None`` where the trace did not name them."""
    if len(call.parameters) != len(call.inputs):
        return None
    return tuple(_operand(name, spec) for name, spec in zip(call.parameters, call.inputs, strict=True))


def _operand(parameter: str, spec: TensorSpec) -> Operand:
    if element := _ELEMENT.fullmatch(parameter):
        return Operand(element["name"], int(element["position"]), spec)
    return Operand(parameter, None, spec)


def base_name(call: OpCall) -> tuple[str, str, str]:
    """Namespace, name and overload of ``aten::add.Tensor``; the overload is ``default`` where none is written."""
    namespace, _, rest = call.name.partition("::")
    name, _, overload = rest.partition(".")
    return namespace, name, overload or "default"


def described(name: str, spec: TensorSpec) -> str:
    """A tensor in a comment: ``x: float64 [2, 3]``."""
    return f"{name}: {spec.dtype} [{', '.join(str(size) for size in spec.shape)}]"
