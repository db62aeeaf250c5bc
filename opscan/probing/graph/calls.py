"""The nodes of converted graphs as operator calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from opscan.inventory import Observed, OpCall
from opscan.probing.graph.conversion import ConvertedGraph
from opscan.probing.graph.emitted import EmittedOperators
from opscan.probing.graph.places import Places
from opscan.tracing.graph.nodes import inputs_of, operator_name, specs_of


def calls_of(graphs: Iterable[ConvertedGraph], places: Places) -> tuple[OpCall, ...]:
    """One call for equal nodes, counted as often as their graphs ran."""
    counted: Counter[OpCall] = Counter()
    for graph in graphs:
        for call in _calls(graph, places):
            counted[call] += max(graph.runs, 1)
    return tuple(replace(call, count=count) for call, count in counted.items())


def _calls(graph: ConvertedGraph, places: Places) -> Iterator[OpCall]:
    if graph.definition is None:
        return
    emitted = EmittedOperators(graph.definition, graph.shapes)
    for converted in graph.nodes:
        name = operator_name(converted.node)
        if not name:
            continue
        inputs, parameters, attributes = inputs_of(converted.node, graph.module)
        launches = () if converted.raised else emitted.launches(converted.operators, converted.results)
        yield OpCall(
            name,
            graph.phase,
            inputs,
            specs_of(converted.node.meta.get("val")),
            attributes,
            places.of(converted.node),
            parameters=parameters,
            observed=Observed(launches, raised=converted.raised),
        )
