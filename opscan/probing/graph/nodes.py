"""FX nodes in the words of an inventory: the operator, its tensors, and where in the user's code and model it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.fx.node import map_arg
from torch.utils._pytree import tree_leaves

from opscan.inventory import Dim, Location, TensorSpec
from opscan.tracing.signature import arguments, dtype_name, qualified
from opscan.tracing.source import SourceLocator

_FRAME = re.compile(r'^\s*File "(.+)", line (\d+)', re.M)

#: The root of a module's name as dynamo writes it: ``L['self'].layers.0``, ``L__self___layers_0``.
_ROOT = re.compile(r"^[LG]\['\w+'\]\.?")
_INDEX = re.compile(r"\[['\"]?(\w+)['\"]?\]")


def operator_name(node: torch.fx.Node) -> str:
    """``aten::add.Tensor``; a higher-order operator as ``higher_order::cond``. Empty for what is no operator: taking
    one of several results, arithmetic on sizes.
    """
    target: Any = node.target
    if isinstance(target, torch._ops.OpOverload):
        return qualified(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order::{target.name()}"
    return ""


def tensors_of(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def specs_of(value: Any) -> tuple[TensorSpec, ...]:
    """The tensors in a meta value, as they are on the device."""
    return tuple(TensorSpec(dtype_name(t.dtype), shape_of(t)) for t in tensors_of(value))


def shape_of(tensor: torch.Tensor) -> tuple[Dim, ...]:
    """Sizes; symbolic ones by their expression."""
    return tuple(size if isinstance(size, int) else str(size) for size in tensor.size())


def is_symbolic(node: torch.fx.Node) -> bool:
    """Whether a size of its results is not a number."""
    return any(isinstance(size, str) for t in tensors_of(node.meta.get("val")) for size in shape_of(t))


def inputs_of(
    node: torch.fx.Node, module: torch.fx.GraphModule
) -> tuple[tuple[TensorSpec, ...], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """(tensors, the parameters that they fill, the other arguments) of a node."""
    args, kwargs = map_arg((node.args, dict(node.kwargs)), lambda n: _value(n, module))
    specs = specs_of((args, kwargs))
    if not isinstance(node.target, torch._ops.OpOverload):
        return specs, (), ()
    parameters, attributes = arguments(node.target, args, kwargs)
    return specs, parameters, attributes


def _value(node: torch.fx.Node, module: torch.fx.GraphModule) -> Any:
    if "val" in node.meta or node.op != "get_attr":
        return node.meta.get("val")
    value: Any = module
    for part in str(node.target).split("."):
        value = getattr(value, part, None)
    return value


class Places:
    """Where nodes come from. ``model`` gives modules their names."""

    def __init__(self, locator: SourceLocator, model: object) -> None:
        self._locator = locator
        named = model.named_modules() if isinstance(model, nn.Module) else ()
        self._names = {id(module): name for name, module in named}
        self._qualified = frozenset(self._names.values())

    def of(self, node: torch.fx.Node) -> Location | None:
        """The user's innermost line and the innermost module; a backward node has those of its forward node."""
        line = self._locator.innermost_of(frames(node.meta.get("stack_trace") or node.stack_trace or ""))
        return Location(*line, self._module(node)) if line else None

    def _module(self, node: torch.fx.Node) -> str:
        stack: dict[Any, Any] = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack") or {}
        for key, entry in reversed(list(stack.items())):
            path = str(entry[0] if isinstance(entry, (tuple, list)) else entry)
            name = self._names.get(int(key)) if str(key).isdigit() else _as_named(path)
            if name is not None and (name in self._qualified or name == ""):
                return name
        return ""


def _as_named(path: str) -> str:
    """``L['self']._modules['layers'][0]`` → ``layers.0``, as ``named_modules()`` has it."""
    plain = _INDEX.sub(r".\1", _ROOT.sub("", path)).replace("_modules.", "")
    return plain.strip(".")


def frames(text: str) -> Iterator[tuple[str, int]]:
    """(file, line) of each entry of a traceback's text, outermost first."""
    for match in _FRAME.finditer(text):
        yield match[1], int(match[2])
