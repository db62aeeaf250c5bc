"""What a scan of one route says of the other two: only what tables tell of the call itself."""

from __future__ import annotations

from typing import Any

import pytest

from opscan.inventory import OpCall, TensorSpec
from opscan.matrix.query import Matrix
from opscan.routes.elsewhere import by_route
from opscan.target import Route, Target


def matrix_for(route: Route) -> Matrix:
    return Matrix.load(Target("2.13.0", "9.1.0", "ascend910b", route))


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return matrix_for("eager")


def call(name: str, *dtypes: str, **fields: Any) -> OpCall:
    tensors = tuple(TensorSpec(dtype, (4,)) for dtype in dtypes)
    return OpCall(name, fields.pop("phase", "forward"), tensors, tensors[:1], **fields)


def test_the_own_verdict_stands_and_tables_tell_the_others(matrix: Matrix) -> None:
    told = by_route(matrix, call("aten::relu", "float32"), "supported")
    assert told == {"eager": "supported", "graph": "supported", "offline": "supported"}


def test_a_name_without_a_converter_proves_nothing_of_what_a_compiler_makes_of_it(matrix: Matrix) -> None:
    """Batch normalisation of inference has a name of its own in a graph, and a converter."""
    assert by_route(matrix, call("aten::native_batch_norm", "float32"), "supported")["graph"] == "unknown"


def test_indices_beside_the_data_do_not_decide(matrix: Matrix) -> None:
    assert by_route(matrix, call("aten::embedding", "float32", "int64"), "supported")["graph"] == "supported"
    mixed = by_route(matrix, call("aten::index.Tensor", "complex64", "int64"), "unsupported")
    assert mixed == {"eager": "unsupported", "graph": "unknown", "offline": "unknown"}


def test_an_offline_model_has_no_backward_pass_and_a_graph_no_optimizer(matrix: Matrix) -> None:
    assert by_route(matrix, call("aten::relu", "float32", phase="backward"), "supported")["offline"] == "unknown"
    step = by_route(matrix, call("aten::_fused_adamw_", "float32", phase="optimizer"), "fallback")
    assert step == {"eager": "fallback", "graph": "fallback", "offline": "unknown"}


def test_a_node_of_an_onnx_model_has_no_other_route() -> None:
    node = call("ai.onnx::Relu", "float32", attributes=(("opset", "18"),))
    assert by_route(matrix_for("offline"), node, "slow") == {"eager": "unknown", "graph": "unknown", "offline": "slow"}


def test_of_the_graph_route_the_eager_kernel_is_told() -> None:
    told = by_route(matrix_for("graph"), call("aten::relu", "float32"), "supported")
    assert told["eager"] == "supported"
