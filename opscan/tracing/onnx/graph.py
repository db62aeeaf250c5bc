"""Calls of the operators of an ONNX graph, and of the graphs within its nodes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import onnx

from opscan.inventory import OpCall, TensorSpec, VaryingInput
from opscan.tracing.onnx.metadata import location_of, origin_of
from opscan.tracing.onnx.types import ANY_SHAPE, UNKNOWN, dtype_of, open_dims, spec_of_tensor, spec_of_type

STANDARD = "ai.onnx"

#: Longer values of attributes are cut.
_LONGEST_VALUE = 200

#: Equal calls that are told apart by their nodes' names; further ones are counted.
_MOST_PLACES = 100

_UNKNOWN = TensorSpec(UNKNOWN, ANY_SHAPE)

_Types = dict[str, TensorSpec]


def opsets_of(model: onnx.ModelProto) -> dict[str, int]:
    """The version of each operator set that the model imports; the standard one by its name. Before the third version
    of the format, models imported none and meant the first."""
    return {entry.domain or STANDARD: entry.version for entry in model.opset_import} or {STANDARD: 1}


def calls_of(model: onnx.ModelProto, file: str, root: Path | None = None) -> tuple[OpCall, ...]:
    """Every node as a call, those in subgraphs included; equal calls of one place are one with their count.

    ``attributes`` begin with ``opset``, the version of the node's operator set, and ``origin``, the operator of torch
    that it stands for, where its exporter told. ``file`` and ``root`` are for locations: see ``location_of``.
    """
    walk = _Walk(opsets_of(model), file, root)
    counts = Counter(walk.graph(model.graph, {}))
    places: dict[OpCall, int] = defaultdict(int)
    calls: dict[OpCall, int] = {}
    for call, count in counts.items():
        alike = replace(call, location=None)
        places[alike] += 1
        kept = call if places[alike] <= _MOST_PLACES else alike
        calls[kept] = calls.get(kept, 0) + count
    return tuple(replace(call, count=count) for call, count in calls.items())


def open_inputs(graph: onnx.GraphProto) -> list[str]:
    """Inputs of the model, other than its weights, whose shape is not fixed: ``x[batch, 3, 224, 224]``."""
    return open_dims(_inputs(graph))


def inputs_of(graph: onnx.GraphProto) -> tuple[VaryingInput, ...]:
    """Inputs of the model, other than its weights. Sizes without a name get one: ``x.0``."""
    return tuple(
        VaryingInput(
            name,
            spec.dtype,
            tuple(f"{name}.{i}" if dim == "?" else dim for i, dim in enumerate(spec.shape)),
            tuple(dim if isinstance(dim, int) else 0 for dim in spec.shape),
        )
        for name, spec in _inputs(graph)
        if spec.shape != ANY_SHAPE
    )


def _inputs(graph: onnx.GraphProto) -> Iterator[tuple[str, TensorSpec]]:
    weights = {tensor.name for tensor in graph.initializer}
    return ((value.name, spec_of_type(value.type)) for value in graph.input if value.name not in weights)


class _Walk:
    """``opsets``: those that the model imports."""

    def __init__(self, opsets: Mapping[str, int], file: str, root: Path | None) -> None:
        self._opsets = opsets
        self._file = file
        self._root = root

    def graph(self, graph: onnx.GraphProto, outer: _Types) -> Iterator[OpCall]:
        """``outer``: types of the values around a subgraph, which it may read."""
        types = {**outer, **_types(graph)}
        for node in graph.node:
            yield self._call(node, types)
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    yield from self.graph(attribute.g, types)
                for inner in attribute.graphs:
                    yield from self.graph(inner, types)

    def _call(self, node: onnx.NodeProto, types: _Types) -> OpCall:
        domain = node.domain or STANDARD
        opset = self._opsets.get(domain, 0)
        given = [(index, name) for index, name in enumerate(node.input) if name]
        names = _input_names(node.op_type, domain, opset, len(node.input))
        origin = origin_of(node)
        return OpCall(
            name=f"{domain}::{node.op_type}",
            phase="forward",
            inputs=tuple(types.get(name, _UNKNOWN) for _, name in given),
            outputs=tuple(types.get(name, _UNKNOWN) for name in node.output if name),
            attributes=(
                ("opset", str(opset)),
                *((("origin", origin),) if origin else ()),
                *((attribute.name, _value(attribute)) for attribute in node.attribute),
            ),
            location=location_of(node, self._file, self._root),
            parameters=tuple(names[index] for index, _ in given) if names else (),
        )


def _types(graph: onnx.GraphProto) -> _Types:
    """What the graph tells of its values. A constant node tells of itself."""
    types: _Types = {}
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name == "value" and node.output:
                types[node.output[0]] = spec_of_tensor(attribute.t)
    for value in (*graph.value_info, *graph.output, *graph.input):
        if value.type.WhichOneof("value"):
            types[value.name] = spec_of_type(value.type)
    for tensor in graph.initializer:
        types[tensor.name] = spec_of_tensor(tensor)
    for sparse in graph.sparse_initializer:
        types[sparse.values.name] = TensorSpec(dtype_of(sparse.values.data_type), tuple(sparse.dims))
    return types


@cache
def _input_names(operator: str, domain: str, opset: int, count: int) -> tuple[str, ...]:
    """Names of the operator's inputs, those of a list with their position; empty where onnx does not know it."""
    try:
        schema = onnx.defs.get_schema(operator, opset, "" if domain == STANDARD else domain)
    except (onnx.defs.SchemaError, TypeError, ValueError):
        return ()
    formal = [each.name for each in schema.inputs]
    if not formal:
        return ()
    variadic = schema.inputs[-1].option == onnx.defs.OpSchema.FormalParameterOption.Variadic
    if not variadic:
        return tuple(formal[:count]) if count <= len(formal) else ()
    fixed = len(formal) - 1
    return tuple(formal[:fixed][:count]) + tuple(f"{formal[-1]}[{i}]" for i in range(max(0, count - fixed)))


def _value(attribute: onnx.AttributeProto) -> str:
    """The value of an attribute in a few words."""
    kind = attribute.type
    if kind == onnx.AttributeProto.FLOAT:
        text = repr(attribute.f)
    elif kind == onnx.AttributeProto.INT:
        text = repr(attribute.i)
    elif kind == onnx.AttributeProto.STRING:
        text = repr(attribute.s[:_LONGEST_VALUE].decode(errors="replace"))
    elif kind in (onnx.AttributeProto.FLOATS, onnx.AttributeProto.INTS):
        values = attribute.floats if kind == onnx.AttributeProto.FLOATS else attribute.ints
        text = repr(list(values[:_LONGEST_VALUE]))
    elif kind == onnx.AttributeProto.TENSOR:
        spec = spec_of_tensor(attribute.t)
        text = f"tensor({spec.dtype}, {list(spec.shape)})"
    elif kind == onnx.AttributeProto.GRAPH:
        text = f"graph({attribute.g.name!r})"
    else:
        text = onnx.AttributeProto.AttributeType.Name(kind).lower()
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
