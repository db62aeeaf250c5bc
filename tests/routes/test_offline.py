"""The offline route over small tables made by hand."""

from __future__ import annotations

import pytest

from opscan.matrix import Matrix
from opscan.matrix.build.writing import render, write
from opscan.matrix.files import (
    SCHEMA,
    CannFile,
    CannRelease,
    Exported,
    ExportedOp,
    ExportsFile,
    GeKernel,
    GeOp,
    GeParameter,
    OnnxFile,
    OnnxOp,
    OverridesFile,
    RegistrationsFile,
    ReleasesFile,
    Statement,
    TorchNpuRelease,
)
from opscan.routes.offline import has_offline_route, offline
from opscan.target import Target

EVERY = tuple(range(8, 19))


def ge(engine: str, *dtypes: str) -> GeKernel:
    return GeKernel(engine, (GeParameter("x", "in", dtypes), GeParameter("y", "out", dtypes)))  # type: ignore[arg-type]


GE_OPS = {
    "Add": GeOp((ge("ai_core", "float16", "float32", "int32"), ge("ai_cpu", "int64"))),
    "And": GeOp((ge("ai_core", "bool"),)),
    "Conv2D": GeOp((ge("ai_core", "float16"),)),
    "Conv3D": GeOp(absent=True, source="op-info"),
    "Cumsum": GeOp((ge("ai_core", "float32"),)),
    "MatMulV2": GeOp((ge("ai_core", "float16", "float32"),)),
    "PRelu": GeOp((GeKernel("ai_core", (GeParameter("x", "in", ("float16", "float32"), bound=True),)),)),
    "GridSampler2D": GeOp((ge("ai_cpu", "float32"),)),
    "TopK": GeOp((ge("ai_cpu", "float32", "int64"),)),
    "TopKD": GeOp((ge("ai_core", "float16", "float32"),)),
    "BitwiseXor": GeOp((ge("ai_core", "int32"),)),
    "Cast": GeOp((ge("ai_core", "bool", "float16", "float32", "int32", "int64"),)),
}
ONNX_OPS = {
    "ai.onnx::Add": OnnxOp(EVERY, ("Add",)),
    "ai.onnx::And": OnnxOp(EVERY, ("And",)),
    "ai.onnx::Cast": OnnxOp(EVERY, ("Cast",), borrowed="8.5.0"),
    "ai.onnx::Conv": OnnxOp(EVERY, ("Conv2D", "Conv3D", "Squeeze"), subgraph=True),
    "ai.onnx::CumSum": OnnxOp((11, 13), ("Cumsum",)),
    "ai.onnx::Gemm": OnnxOp(EVERY, ("Add", "MatMulV2"), subgraph=True),
    "ai.onnx::PRelu": OnnxOp(EVERY, ("PRelu",), documented=("float16",)),
    "ai.onnx::GridSample": OnnxOp(EVERY, ("GridSampler2D",)),
    "ai.onnx::TopK": OnnxOp(EVERY, ("TopK",)),
    "ai.onnx::Xor": OnnxOp(EVERY, ("BitwiseXor", "Cast"), subgraph=True),
    "ai.onnx::Attention": OnnxOp(EVERY, (), subgraph=True),
}
EXPORTS = {
    "aten::add.Tensor": ExportedOp(
        (Exported(("float32", "int64"), ("ai.onnx::Add[T]",)),), (Exported(("float32",), ("ai.onnx::Add[T]",)),)
    ),
    "aten::logical_and": ExportedOp((Exported(("float32",), ("ai.onnx::And[bool]", "ai.onnx::Cast[T]")),)),
    "aten::cumsum": ExportedOp((Exported(("float32",), ()), Exported(("float32",), ("ai.onnx::CumSum[T,int64]",)))),
    "aten::alias": ExportedOp((Exported(("float32",), ()),)),
    "aten::_fft_r2c": ExportedOp(
        (Exported(("complex64", "float32"), refused="UnsupportedOperatorError"),),
        (Exported(("float32",), refused="DispatchError"),),
    ),
    "aten::adaptive_avg_pool3d": ExportedOp(
        (Exported(("float32",), refused="SymbolicValueError"),), (Exported(("float32",), refused="DispatchError"),)
    ),
    "aten::nonzero": ExportedOp((), (Exported(("float32",), refused="GuardOnDataDependentSymNode"),)),
    "aten::softmax": ExportedOp(
        (Exported(("float32",), ("ai.onnx::Add[T]",)), Exported(("float32",), refused="AssertionError"))
    ),
    "aten::mul.Tensor": ExportedOp((Exported(("float32",), ("ai.onnx::Add[T]",)),)),
    "aten::mul_.Tensor": ExportedOp((Exported(("int64",), ("ai.onnx::Add[T]",)),)),
    "aten::einsum": ExportedOp(
        (Exported(("float32",), ("ai.onnx::Add[T]",)), Exported(("float32",), ("ai.onnx::Loop[T]",)))
    ),
    "aten::where.self": ExportedOp(
        (Exported(("float32",), ("ai.onnx::Loop[T]",)),), (Exported(("float32",), ("ai.onnx::Add[T]",)),)
    ),
}
NO_BFLOAT16 = Statement("b", ("any",), ("bfloat16",), ("ascend310p",), "unsupported", "notes", "page", "2026-01-01")


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    root = tmp_path_factory.mktemp("matrix")
    releases = ReleasesFile(
        SCHEMA,
        (),
        ("2.13.0",),
        ("9.1.0",),
        {"2.13.0": TorchNpuRelease("2.13.0", True)},
        {"9.1.0": CannRelease(("ascend310p",))},
    )
    files = {
        "releases.json": render(releases, ("cann", "torch_npu")),
        "torch_npu/2.13.0.json": render(RegistrationsFile(SCHEMA, "2.13.0", "2.13.0", "", (), {}), ("ops",)),
        "cann/9.1.0/ascend310p.json": render(CannFile(SCHEMA, "9.1.0", "ascend310p", (), {}, GE_OPS), ("apis", "ge")),
        "onnx/9.1.0.json": render(OnnxFile(SCHEMA, "9.1.0", (), ONNX_OPS, ("ai.onnx::Bucketize",)), ("ops",)),
        "onnx_exports/2.13.0.json": render(ExportsFile(SCHEMA, "2.13.0", 18, (), EXPORTS), ("ops",)),
        "overrides/dtypes.json": render(OverridesFile(SCHEMA, statements=(NO_BFLOAT16,)), ()),
    }
    for name, content in files.items():
        write(root / name, content)
    return Matrix.load(Target("2.13.0", "9.1.0", "ascend310p", "offline"), root)


@pytest.mark.parametrize(
    ("operator", "dtype", "verdict", "rule"),
    [
        ("ai.onnx::Add", "float32", "supported", None),
        ("ai.onnx::Add", "int64", "slow", "OPS202"),
        ("ai.onnx::Add", "complex64", "unsupported", "OPS104"),
        ("ai.onnx::Add", "bfloat16", "unsupported", "OPS107"),  # nothing can be converted from it
        ("ai.onnx::Conv", "float32", "supported", None),  # in float16, and Conv3D is for volumes
        ("ai.onnx::Gemm", "int64", "unknown", "OPS304"),  # Add takes it, MatMulV2 does not
        ("ai.onnx::PRelu", "float32", "supported", None),  # documents settle what its kernel leaves open
        ("ai.onnx::PRelu", "int8", "unsupported", "OPS104"),
        ("ai.onnx::GridSample", "float32", "unknown", "OPS306"),  # the compiler rewrites it
        ("ai.onnx::TopK", "float32", "supported", None),  # as TopKD
        ("ai.onnx::TopK", "int64", "slow", "OPS202"),
        ("ai.onnx::Xor", "bool", "unknown", "OPS306"),  # its plugin casts
        ("ai.onnx::Attention", "float32", "unknown", "OPS308"),  # what its graph holds is not known
        ("ai.onnx::Loop", "float32", "unsupported", "OPS121"),
        ("ai.onnx::Bucketize", "float32", "unknown", "OPS308"),
        ("ai.onnx::CumSum", "float32", "unsupported", "OPS122"),
        ("aten::add.Tensor", "float32", "supported", None),
        ("aten::add_.Tensor", "float32", "supported", None),  # as the call out of place
        ("aten::add.Tensor", "int64", "slow", "OPS202"),
        ("aten::add.Tensor", "float64", "unknown", "OPS308"),  # never exported
        ("aten::logical_and", "float32", "supported", None),  # And sees what the cast makes
        ("aten::cumsum", "float32", "unsupported", "OPS122"),  # calls that leave nothing tell nothing
        ("aten::alias", "float32", "supported", None),
        ("aten::_fft_r2c", "float32", "unsupported", "OPS123"),
        ("aten::_fft_r2c", "complex64", "unknown", "OPS308"),  # one exporter was not tried
        ("aten::adaptive_avg_pool3d", "float32", "unknown", "OPS308"),  # for other arguments it may not
        ("aten::nonzero", "float32", "unknown", "OPS308"),  # a whole model may pass
        ("aten::softmax", "float32", "supported", None),  # a failure beside a success tells nothing
        ("aten::mul_.Tensor", "float32", "supported", None),  # out of place for the dtypes not seen in place
        ("aten::einsum", "float32", "unknown", "OPS304"),
        ("aten::where.self", "float32", "supported", None),  # one exporter is enough
        ("aten::never_seen", "float32", "unknown", "OPS308"),
    ],
)
def test_verdicts(matrix: Matrix, operator: str, dtype: str, verdict: str, rule: str | None) -> None:
    ruling = offline(matrix, operator, dtype).ruling
    assert (ruling.verdict, ruling.rule) == (verdict, rule), ruling.reason


def test_an_older_opset(matrix: Matrix) -> None:
    assert offline(matrix, "ai.onnx::CumSum", "float32", opset=13).ruling.verdict == "supported"
    refused = offline(matrix, "ai.onnx::Add", "float32", opset=20).ruling
    assert (
        refused.reason == "ATC of CANN 9.1.0 parses ai.onnx::Add at opsets 8 9 10 11 12 13 14 15 16 17 18, not at 20."
    )


def test_what_an_answer_rests_on(matrix: Matrix) -> None:
    answer = offline(matrix, "aten::logical_and", "float32")
    assert [case.name for case in answer.cases] == ["torchscript: And Cast"]
    assert answer.ruling.kernels == ("And", "Cast")
    assert [evidence.kind for evidence in answer.ruling.evidence] == ["onnx_exports", "onnx"]


def test_operators_that_the_route_knows(matrix: Matrix) -> None:
    assert has_offline_route(matrix, "aten::add_.Tensor")
    assert has_offline_route(matrix, "ai.onnx::Loop")
    assert not has_offline_route(matrix, "aten::never_seen")
