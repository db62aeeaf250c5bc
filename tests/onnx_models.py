"""ONNX models made by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper

Shape = Sequence[int | str | None] | None

FLOAT = TensorProto.FLOAT


def value(name: str, shape: Shape = (1, 3, 8, 8), element: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, element, shape)


def weight(name: str, *sizes: int) -> onnx.TensorProto:
    data = np.full(sizes, 0.5, dtype=np.float32).tobytes()
    return helper.make_tensor(name, FLOAT, sizes, data, raw=True)


def node(
    operator: str, inputs: str, outputs: str, name: str = "", domain: str = "", **attributes: object
) -> onnx.NodeProto:
    """Names of inputs and outputs are separated by spaces."""
    return helper.make_node(operator, inputs.split(), outputs.split(), name=name, domain=domain, **attributes)


def model(
    *nodes: onnx.NodeProto,
    inputs: Sequence[onnx.ValueInfoProto] = (value("x"),),
    outputs: Sequence[onnx.ValueInfoProto] = (value("y", None),),
    weights: Sequence[onnx.TensorProto] = (),
    opset: int = 18,
    functions: Sequence[onnx.FunctionProto] = (),
    **domains: int,
) -> onnx.ModelProto:
    """``domains``: versions of other operator sets that the model imports."""
    graph = helper.make_graph(list(nodes), "graph", list(inputs), list(outputs), list(weights))
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(name, v) for name, v in domains.items())]
    return helper.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=10)


def convolution() -> onnx.ModelProto:
    """A convolution with 4 × 3 weights and an activation."""
    nodes = (node("Conv", "x w", "c", "conv", kernel_shape=[1, 1]), node("Relu", "c", "y", "relu"))
    return model(*nodes, weights=(weight("w", 4, 3, 1, 1),))
