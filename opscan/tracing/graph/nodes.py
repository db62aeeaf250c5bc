"""Nodes of FX graphs in the words of an inventory: the operator and its tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx.node import map_arg
from torch.utils._pytree import tree_leaves

from opscan.inventory import Dim, TensorSpec
from opscan.tracing.signature import arguments, dtype_name, qualified


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
    args, kwargs = map_arg((node.args, dict(node.kwargs)), lambda n: value_of(n, module))
    specs = specs_of((args, kwargs))
    if not isinstance(node.target, torch._ops.OpOverload):
        return specs, (), ()
    parameters, attributes = arguments(node.target, args, kwargs)
    return specs, parameters, attributes


def value_of(node: torch.fx.Node, module: torch.fx.GraphModule) -> Any:
    """The meta value of a node's result, or the attribute of the module that it gets."""
    if "val" in node.meta or node.op != "get_attr":
        return node.meta.get("val")
    value: Any = module
    for part in str(node.target).split("."):
        value = getattr(value, part, None)
    return value
