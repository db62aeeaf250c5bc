"""Nodes of captured graphs as operator calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch.fx.node import map_arg
from torch.utils._pytree import tree_leaves

from opscan.inventory import Dim, OpCall, TensorSpec
from opscan.tracing.graph.emission import emitted_arguments, is_emitted
from opscan.tracing.graph.marks import mark_of
from opscan.tracing.signature import arguments, dtype_name, qualified


def calls_of(graphs: Iterable[torch.fx.GraphModule]) -> tuple[OpCall, ...]:
    """One call for equal nodes."""
    counted: Counter[OpCall] = Counter()
    for graph in graphs:
        for node in graph.graph.nodes:
            mark = mark_of(node)
            if not (mark.hidden or mark.outside) and (call := _call(node, graph)) is not None:
                counted[call] += 1
    return tuple(replace(call, count=count) for call, count in counted.items())


def outside_of(graphs: Iterable[torch.fx.GraphModule]) -> Iterator[str]:
    """Names of operators that torch.compile leaves to eager mode."""
    names = (_name(node) for graph in graphs for node in graph.graph.nodes if mark_of(node).outside)
    return iter(dict.fromkeys(name for name in names if name))


def _call(node: torch.fx.Node, graph: torch.fx.GraphModule) -> OpCall | None:
    name = _name(node)
    if not name:
        return None
    mark = mark_of(node)
    outputs = _specs(node.meta.get("val"))
    if is_emitted(node):
        inputs, name, attributes = emitted_arguments(node)
        given = map_arg(inputs, lambda n: _value(n, graph))
        return OpCall(name, mark.phase, _specs(given), outputs, attributes, mark.location)
    args, kwargs = map_arg((node.args, dict(node.kwargs)), lambda n: _value(n, graph))
    if not isinstance(node.target, torch._ops.OpOverload):
        return OpCall(name, mark.phase, _specs((args, kwargs)), outputs, location=mark.location)
    parameters, attributes = arguments(node.target, args, kwargs)
    return OpCall(name, mark.phase, _specs((args, kwargs)), outputs, attributes, mark.location, parameters=parameters)


def _name(node: torch.fx.Node) -> str:
    """Empty for what is no operator: taking one of several results, arithmetic on sizes."""
    target: Any = node.target
    if node.op != "call_function":
        return ""
    if is_emitted(node):
        return str(node.args[2])
    if isinstance(target, torch._ops.OpOverload):
        return qualified(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order::{target.name()}"
    return ""


def _value(node: torch.fx.Node, graph: torch.fx.GraphModule) -> Any:
    if "val" in node.meta or node.op != "get_attr":
        return node.meta.get("val")
    value: Any = graph
    for part in str(node.target).split("."):
        value = getattr(value, part, None)
    return value


def _specs(value: Any) -> tuple[TensorSpec, ...]:
    leaves = (leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor))
    return tuple(TensorSpec(dtype_name(t.dtype), _shape(t)) for t in leaves)


def _shape(tensor: torch.Tensor) -> tuple[Dim, ...]:
    return tuple(size if isinstance(size, int) else str(size) for size in tensor.size())
