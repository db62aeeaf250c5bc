"""Nodes of ONNX models judged over small tables made by hand, and a few over the built-in ones."""

from __future__ import annotations

import pytest
from small_matrix import SOCS, adapter, cann, ge, native, onnx, open_matrix, statement

from opscan.assess import judge_calls
from opscan.inventory import Inventory, OpCall, TensorSpec, Trace
from opscan.matrix import Matrix
from opscan.matrix.files import GeOp, OnnxOp, OverridesFile
from opscan.offline_verdict import OfflineJudge
from opscan.target import Target
from opscan.verdict import Ruling

EVERY = tuple(range(8, 19))
PARSERS = {
    "ai.onnx::Add": OnnxOp(EVERY, ("Add",)),
    "ai.onnx::Conv": OnnxOp(EVERY, ("Conv2D", "Squeeze"), subgraph=True),
    "ai.onnx::CumSum": OnnxOp((11, 13), ("Cumsum",)),
    "ai.onnx::Pad3d": OnnxOp(EVERY, ("Conv3D",)),
    "ai.onnx::Unique": OnnxOp(EVERY, ("UniqueV2",)),
}
ENGINE = {
    "Add": ge("float16", "float32"),
    "Conv2D": ge("float16"),
    "Cumsum": ge("float32"),
    "Conv3D": GeOp(absent=True, source="op-info"),
    "UniqueV2": ge("float32", engine="ai_cpu"),
}


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> OfflineJudge:
    half = statement("no-bf16", "unsupported", dtypes=("bfloat16",), socs=SOCS, detail="no unit for it")
    files = (
        adapter("2.13.0", {"aten::abs": native()}),
        onnx("9.1.0", PARSERS),
        cann("9.1.0", {}, ENGINE),
        OverridesFile(1, statements=(half,)),
    )
    return OfflineJudge(open_matrix(tmp_path_factory.mktemp("matrix"), *files), "")


def call(name: str, *dtypes: str, opset: str = "18") -> OpCall:
    specs = tuple(TensorSpec(dtype, (2, 3)) for dtype in dtypes or ("float32",))
    return OpCall(name, "forward", specs, specs[:1], (("opset", opset),))


def code(ruling: Ruling) -> str:
    return ruling.facts.get("code", "")


def test_what_is_read_and_has_a_kernel_is_supported(judge: OfflineJudge) -> None:
    ruling = judge.call(call("ai.onnx::Add", "float32", "float32"))
    assert (ruling.verdict, ruling.rule, ruling.kernels) == ("supported", None, ("Add",))
    assert [evidence.kind for evidence in ruling.evidence] == ["onnx", "cann"]


def test_weights_beside_the_data_do_not_decide(judge: OfflineJudge) -> None:
    assert judge.call(call("ai.onnx::Conv", "float32", "float32")).verdict == "supported"


def test_an_operator_without_a_parser_stops_with_its_code(judge: OfflineJudge) -> None:
    ruling = judge.call(call("ai.onnx::MatMulInteger", "int8"))
    assert (ruling.verdict, ruling.rule, code(ruling)) == ("unsupported", "OPS121", "E19010")
    assert ruling.reason == "ATC of CANN 9.1.0 has no parser for ai.onnx::MatMulInteger."
    assert ruling.evidence[-1].detail == "the conversion stops with E19010: No parser for this operator"


def test_an_operator_of_another_domain_is_asked_for_by_it(judge: OfflineJudge) -> None:
    ruling = judge.call(call("com.microsoft::Add", opset="1"))
    assert (ruling.rule, ruling.facts["api"]) == ("OPS121", "com.microsoft::Add")


def test_the_opset_of_the_model_decides(judge: OfflineJudge) -> None:
    assert judge.call(call("ai.onnx::CumSum", opset="13")).verdict == "supported"
    ruling = judge.call(call("ai.onnx::CumSum", opset="14"))
    assert (ruling.verdict, ruling.rule, code(ruling)) == ("unsupported", "OPS122", "E16002")
    assert ruling.reason == "ATC of CANN 9.1.0 parses ai.onnx::CumSum at opsets 11 13, not at 14."
    assert judge.call(call("ai.onnx::Add", opset="20")).rule == "OPS122"


def test_kernels_refuse_dtypes_and_socs(judge: OfflineJudge) -> None:
    dtype = judge.call(call("ai.onnx::Add", "complex64"))
    assert (dtype.verdict, dtype.rule, code(dtype)) == ("unsupported", "OPS104", "EZ3002")
    absent = judge.call(call("ai.onnx::Pad3d"))
    assert (absent.verdict, absent.rule, code(absent)) == ("unsupported", "OPS105", "EZ3003")
    nowhere = judge.call(call("ai.onnx::Add", "bfloat16"))
    assert (nowhere.verdict, nowhere.rule) == ("unsupported", "OPS107")


def test_the_ai_cpu_is_slow(judge: OfflineJudge) -> None:
    assert (judge.call(call("ai.onnx::Unique")).verdict, judge.call(call("ai.onnx::Unique")).rule) == ("slow", "OPS202")


def test_a_dtype_that_the_file_does_not_tell_is_left_open(judge: OfflineJudge) -> None:
    assert judge.call(call("ai.onnx::Add", "unknown")).verdict == "unknown"


def test_the_joiner_picks_this_judge_by_the_route(judge: OfflineJudge) -> None:
    trace = Trace("onnx", "file", "", False, True)
    inventory = Inventory("model.onnx", 0, trace, (call("ai.onnx::Add"), call("ai.onnx::Gone"), call("ai.onnx::Add")))
    matrix = judge.matrix.at(Target("2.13.0", "9.1.0", "ascend910b", "offline"))
    judged = judge_calls(inventory, matrix)
    assert [(entry.example.name, entry.ruling.verdict, len(entry.calls)) for entry in judged] == [
        ("ai.onnx::Gone", "unsupported", 1),
        ("ai.onnx::Add", "supported", 2),
    ]


def test_an_operator_at_which_the_export_failed_is_refused(judge: OfflineJudge) -> None:
    spec = TensorSpec("complex64", (2,))
    attributes = (("dim", "0"), ("onnx_export", "no translation"))
    ruling = judge.call(OpCall("aten::gather", "forward", (spec,), (spec,), attributes))
    assert (ruling.verdict, ruling.rule) == ("unsupported", "OPS123")
    assert "refuses aten::gather on complex64: no translation" in (ruling.reason or "")


# --- cases, over the built-in tables --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def builtin() -> OfflineJudge:
    return OfflineJudge(Matrix.load(Target("2.13.0", "9.1.0", "ascend910b", "offline")), "")


@pytest.mark.parametrize(
    ("name", "opset", "verdict", "rule"),
    [
        ("ai.onnx::MMCVModulatedDeformConv2d", "18", "unsupported", "OPS121"),
        ("ai.onnx::MatMulInteger", "18", "unsupported", "OPS121"),
        ("ai.onnx::grid_sampler", "11", "unsupported", "OPS121"),
        ("ai.onnx::DFT", "18", "unsupported", "OPS121"),
        ("ai.onnx::Conv", "18", "supported", None),
        ("ai.onnx::Relu", "20", "unsupported", "OPS122"),
        ("ai.onnx::Constant", "18", "supported", None),
    ],
)
def test_cases(builtin: OfflineJudge, name: str, opset: str, verdict: str, rule: str | None) -> None:
    ruling = builtin.call(call(name, "float32", opset=opset))
    assert (ruling.verdict, ruling.rule) == (verdict, rule)


def test_an_operator_of_aten_is_judged_by_what_exporters_make_of_it(builtin: OfflineJudge) -> None:
    """Where a model could not be exported."""
    spec = TensorSpec("float32", (2, 3))
    ruling = builtin.call(OpCall("aten::relu", "forward", (spec,), (spec,)))
    assert ruling.verdict == "supported"
    assert {evidence.kind for evidence in ruling.evidence} >= {"onnx_exports", "onnx"}
