"""A signature back to an operator, its tensors by parameter, and the values of its other arguments."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any

import torch

from opscan.inventory import TensorSpec
from opscan.probing.samples.interface import Unsampled
from opscan.probing.signature import Signature, TensorArgument

_ELEMENT = re.compile(r"(?P<name>\w+)\[(?P<position>\d+)\]")
_DEVICE = re.compile(r"device\(type='\w+'(?:, index=\d+)?\)")
_WORDS = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}

Specs = TensorSpec | tuple[TensorSpec | None, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """``tensors``: a spec a parameter, several where it takes a list. ``others``: what was recorded of the rest."""

    operator: Any
    tensors: dict[str, Specs]
    others: dict[str, object] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """The name that overloads, in-place variants and list variants share: ``aten::_foreach_log_`` is ``log``."""
        name: str = self.operator._schema.name.partition("::")[2]
        if name.startswith("_foreach_"):
            name = name.removeprefix("_foreach_")
        return name.removeprefix("special_").rstrip("_") if not name.startswith("__") else name


def bind(signature: Signature) -> Bound:
    """Raises Unsampled where torch does not know the operator here, or where the trace does not determine a value."""
    operator = find_operator(signature.operator)
    given = {name: text for name, text in signature.attributes if name != "layout" or _strided(text)}
    cut = {name for name, text in given.items() if _is_cut(text) and _takes_scalars(operator, name)}
    others = {name: _value(name, text) for name, text in given.items() if name not in cut}
    tensors = _by_parameter(_named(signature.tensors, operator, {**others, **dict.fromkeys(cut)}))
    length = max((len(specs) for specs in tensors.values() if isinstance(specs, tuple)), default=0)
    others |= {name: _lengthened(name, given[name], length) for name in cut}
    return Bound(operator, tensors, others)


def _is_cut(text: str) -> bool:
    """A trace keeps the beginning of a long ``repr``."""
    return text.startswith("[") and not text.endswith("]")


def _takes_scalars(operator: Any, name: str) -> bool:
    return any(a.name == name and str(a.type) in ("List[number]", "List[float]") for a in operator._schema.arguments)


def _lengthened(name: str, text: str, length: int) -> object:
    """Numbers for each tensor of a list, of which the trace kept the first: the rest repeat them."""
    known = _value(name, text.rpartition(",")[0] + "]")
    if not isinstance(known, list) or not known:
        raise Unsampled(f"the argument {name} was not recorded as a value: {text[:80]}")
    return [known[i % len(known)] for i in range(length)]


def find_operator(name: str) -> Any:
    """The overload of a qualified name. Raises Unsampled where torch does not know it here."""
    namespace, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")
    except (AttributeError, RuntimeError) as error:
        raise Unsampled(f"torch here has no operator {name}") from error


def _strided(text: str) -> bool:
    if text.startswith("torch.sparse"):
        raise Unsampled("arguments that are sparse tensors are not made")
    return True


def _value(name: str, text: str) -> object:
    if text in _WORDS:
        return _WORDS[text]
    if text.startswith("torch."):
        value: object = getattr(torch, text.removeprefix("torch."), None)
        if value is None:
            raise Unsampled(f"torch here has no {text}")
        return value
    if _DEVICE.fullmatch(text):
        return torch.device("cpu")
    if "torch._C.Generator" in text:
        return None
    try:
        parsed: object = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise Unsampled(f"the argument {name} was not recorded as a value: {text[:80]}") from error
    return parsed


def _named(tensors: tuple[TensorArgument, ...], operator: Any, others: dict[str, object]) -> tuple[TensorArgument, ...]:
    """Tensors without names take those of the schema, in order, where no list leaves a doubt."""
    if all(tensor.parameter for tensor in tensors):
        return tensors
    places = [a for a in operator._schema.arguments if "Tensor" in str(a.type) and a.name not in others]
    if any("List" in str(a.type) for a in places) or len(places) != len(tensors):
        raise Unsampled("the trace does not name the parameters of its tensors")
    return tuple(TensorArgument(a.name, t.dtype, t.shape) for a, t in zip(places, tensors, strict=True))


def _by_parameter(tensors: tuple[TensorArgument, ...]) -> dict[str, Specs]:
    found: dict[str, Specs] = {}
    lists: dict[str, dict[int, TensorSpec]] = {}
    for tensor in tensors:
        spec = TensorSpec(tensor.dtype, _concrete(tensor))
        if element := _ELEMENT.fullmatch(tensor.parameter):
            lists.setdefault(element["name"], {})[int(element["position"])] = spec
            found.setdefault(element["name"], ())
        else:
            found[tensor.parameter] = spec
    for name, items in lists.items():
        found[name] = tuple(items.get(position) for position in range(max(items) + 1))
    return found


def _concrete(tensor: TensorArgument) -> tuple[int, ...]:
    if unknown := [size for size in tensor.shape if not isinstance(size, int)]:
        raise Unsampled(f"a size of {tensor.parameter} is unknown: {unknown[0]}")
    return tuple(int(size) for size in tensor.shape)


def schema_arguments(bound: Bound, tensors: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments in the schema's order: what was neither recorded nor has a default is None, as a trace leaves it out.

    Raises Unsampled for a parameter that takes no None.
    """
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    given = {**bound.others, **tensors}
    positional = True
    for parameter in bound.operator._schema.arguments:
        positional = positional and not parameter.kwarg_only
        if parameter.name in given:
            value = given[parameter.name]
        elif parameter.has_default_value():
            positional = False  # those after it are named
            continue
        elif "Optional" in str(parameter.type) or "?" in str(parameter.type):
            value = None
        elif str(parameter.type).startswith("List") and parameter.N is None:  # of any length
            value = []
        else:
            raise Unsampled(f"the argument {parameter.name} was not recorded")
        if positional:
            args.append(value)
        else:
            kwargs[parameter.name] = value
    return tuple(args), kwargs
