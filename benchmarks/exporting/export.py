"""Exporting one call, and what the exported model holds."""

from __future__ import annotations

import io
from contextlib import suppress
from functools import cache
from typing import Any

import onnx
import onnx.inliner
import torch
import torch._export.utils
import torch.export.decomp_utils
import torch.export.exported_program
from torch.onnx._internal.exporter import _decomp, _registration

from exporting.call import Call

#: The newest opset that ATC reads.
OPSET = 18

#: Operators that hold or pass on a value.
_PLAIN = frozenset({"Constant", "Identity"})


def share_tables() -> None:
    """Let all exports of a process use the tables that the dynamo exporter makes anew for each, in 2 s."""
    registry = _registration.ONNXRegistry
    registry.from_torchlib = staticmethod(cache(registry.from_torchlib))  # type: ignore[assignment]
    decompositions = cache(lambda: _make_decompositions(registry.from_torchlib(opset_version=OPSET)))
    _decomp.create_onnx_friendly_decomposition_table = lambda registered: dict(decompositions())
    operators = cache(torch._export.utils._collect_all_valid_cia_ops)
    for module in (torch._export.utils, torch.export.decomp_utils, torch.export.exported_program):
        module._collect_all_valid_cia_ops = operators  # type: ignore[attr-defined]


_table = _decomp.create_onnx_friendly_decomposition_table


def _make_decompositions(registry: Any) -> Any:
    return _table(set(_decomp.get_onnx_implemented_overloads(registry)))


def export(call: Call, exporter: str) -> tuple[str, str, str]:
    """(opset, outcome, ONNX operators) of a call exported by ``exporter``: ``torchscript`` or ``dynamo``."""
    inputs = tuple(tensor.clone() for tensor in call.tensors)
    try:
        with torch.no_grad():
            model = _torchscript(call, inputs) if exporter == "torchscript" else _dynamo(call, inputs)
    except Exception as error:
        return str(OPSET), f"refused: {_cause(error)}", ""
    opset = next(str(entry.version) for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
    return opset, "ok", " ".join(sorted(_operators(model)))


def _torchscript(call: Call, inputs: tuple[torch.Tensor, ...]) -> onnx.ModelProto:
    stream = io.BytesIO()
    torch.onnx.export(call, inputs, stream, dynamo=False, opset_version=OPSET)
    return onnx.load_from_string(stream.getvalue())


def _dynamo(call: Call, inputs: tuple[torch.Tensor, ...]) -> onnx.ModelProto:
    program: Any = torch.onnx.export(call, inputs, dynamo=True, opset_version=OPSET, verbose=False)
    return program.model_proto  # type: ignore[no-any-return]


def _cause(error: Exception) -> str:
    """The class of the error that began it: exporters wrap what they meet."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    return type(cause).__name__


def _operators(model: onnx.ModelProto) -> set[str]:
    """``domain::op[dtypes of its inputs, without repeats]``, functions inlined, subgraphs included."""
    if model.functions:
        model = onnx.inliner.inline_local_functions(model)
    with suppress(Exception):  # operators of other domains: the dtypes that the exporter wrote remain
        model = onnx.shape_inference.infer_shapes(model)
    return set(_walk(model.graph, {}))


def _walk(graph: onnx.GraphProto, outer: dict[str, str]) -> set[str]:
    known = outer | {value.name: _dtype(value.type.tensor_type.elem_type) for value in _values(graph)}
    known |= {tensor.name: _dtype(tensor.data_type) for tensor in graph.initializer}
    found = set()
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name == "value":
                known[node.output[0]] = _dtype(attribute.t.data_type)
            if attribute.type == onnx.AttributeProto.GRAPH:
                found |= _walk(attribute.g, known)
        if node.op_type in _PLAIN and node.domain in ("", "ai.onnx"):
            continue
        dtypes = ",".join(dict.fromkeys(known.get(name, "?") or "?" for name in node.input if name))
        found.add(f"{node.domain or 'ai.onnx'}::{node.op_type}[{dtypes}]")
    return found


def _values(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    return [*graph.input, *graph.value_info, *graph.output]


def _dtype(number: int) -> str:
    """As torch writes it: ``float32``."""
    name = onnx.TensorProto.DataType.Name(number).lower() if number else ""
    return {"float": "float32", "double": "float64"}.get(name, name)
