"""Nodes of captured graphs as operator calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

import torch
from torch.fx.node import map_arg

from opscan.inventory import OpCall
from opscan.tracing.graph.emission import emitted_arguments, is_emitted
from opscan.tracing.graph.marks import mark_of
from opscan.tracing.graph.nodes import inputs_of, operator_name, specs_of, value_of


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
    outputs = specs_of(node.meta.get("val"))
    if is_emitted(node):
        inputs, name, attributes = emitted_arguments(node)
        given = map_arg(inputs, lambda n: value_of(n, graph))
        return OpCall(name, mark.phase, specs_of(given), outputs, attributes, mark.location)
    specs, parameters, attributes = inputs_of(node, graph)
    return OpCall(name, mark.phase, specs, outputs, attributes, mark.location, parameters=parameters)


def _name(node: torch.fx.Node) -> str:
    """Empty for what is no operator: taking one of several results, arithmetic on sizes."""
    if node.op != "call_function":
        return ""
    return str(node.args[2]) if is_emitted(node) else operator_name(node)
