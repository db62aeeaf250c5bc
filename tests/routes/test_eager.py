"""The eager route over small tables made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_matrix import CPU_ONLY, adapter, api, cann, ge, native, observed, open_matrix, row

from opscan.matrix import Matrix
from opscan.routes.eager import eager, observed_dtypes

OPS = {
    "aten::abs": native("aclnnAbs"),
    "aten::clamp": native("aclnnClamp"),
    "aten::gather": native("aclnnGather"),
    "aten::masked_fill.Scalar": native("aclnnMaskedFill"),
    "aten::masked_fill_.Tensor": native("aclnnMaskedFill"),
    "aten::isnan": native("aclnnIsNan"),
    "aten::sum": native("aclnnReduceSum"),
    "aten::arange": native("aclnnArange"),
    "aten::mm": native("aclnnMm"),
    "aten::logit": native(hidden_cpu=True),
    "aten::lgamma": CPU_ONLY,
    "aten::_fused_x": native("aclnnX", keys=("CUDA",)),
    "aten::never_seen": native("aclnnAbs"),
}
ROWS = {
    "aten::abs": (
        row("float32", "aclnnAbs[T:float32 T:float32]"),
        row("float64", "aclnnAbs[T:float64 T:float64]"),
    ),
    "aten::clamp": (
        row("float32", "aclnnAbs[T:float32 T:float32]"),
        row("float32", "aclnnHalf[T:float32 T:float32]"),
    ),
    "aten::gather": (
        row("float32 int64", "aclnnGather[T:float32 T:int64 T:float32]"),
        row("int64 int64", "aclnnGather[T:int64 T:int64 T:int64]"),
        row("float32 float16 int64", "aclnnMissing[T:float32]"),  # of no interest where there are calls on float32
    ),
    "aten::masked_fill.Scalar": (row("float32 bool", "aclnnGather[T:float32 T:bool T:float32]"),),
    "aten::masked_fill_.Tensor": (
        row("float32 bool float32", "aclnnGather[T:float32 T:bool T:float32]"),
        row("float32 bool int64", "aclnnMissing[T:float32]"),  # a value of another dtype
    ),
    "aten::isnan": (row("float32", "aclnnIsNan[T:float32 T:bool]", results="bool"),),
    "aten::sum": (
        row("float32", "aclnnAbs[T:float32 T:float32]"),
        row("float32", "aclnnMissing[T:float32]", results="float64"),  # converts on the way
    ),
    "aten::arange": (row("", "aclnnArange[S:int64 S:int64 S:int64 T:int64]", results="int64"),),
    "aten::mm": (row("float32 float32", "aclnnAbs[T:float32 T:float32]", copies=1),),
    "aten::logit": (row("float32", copies=2),),
}
APIS = {
    "aclnnAbs": api("float16", "float32"),
    "aclnnHalf": api("float16"),
    "aclnnGather": api("float32", "int64", index=("int64", "bool")),
    "aclnnIsNan": api("float32"),
}


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    files = adapter("2.13.0", OPS), observed("2.13.0", ROWS), cann("9.1.0", APIS)
    return open_matrix(tmp_path_factory.mktemp("matrix"), *files)


@pytest.mark.parametrize(
    ("operator", "dtype", "verdict", "rule"),
    [
        ("aten::abs", "float32", "supported", None),
        ("aten::abs", "float64", "unsupported", "OPS104"),
        ("aten::abs", "int8", "unknown", "OPS302"),  # never observed
        ("aten::never_seen", "float32", "unknown", "OPS302"),
        ("aten::clamp", "float32", "unknown", "OPS304"),  # other argument values launch another kernel
        ("aten::gather", "float32", "supported", None),  # the index beside the data is int64
        ("aten::gather", "int64", "supported", None),
        ("aten::masked_fill.Scalar", "float32", "supported", None),
        ("aten::masked_fill_.Tensor", "float32", "supported", None),
        ("aten::isnan", "float32", "supported", None),
        ("aten::sum", "float32", "supported", None),
        ("aten::mm", "float32", "slow", "OPS203"),  # it waits for a copy
        ("aten::logit", "float32", "slow", "OPS201"),
        ("aten::lgamma", "float32", "fallback", "OPS102"),
        ("aten::_fused_x", "float32", "unsupported", "OPS101"),
        ("aten::no_such_operator", "float32", "unknown", "OPS301"),
    ],
)
def test_verdicts(matrix: Matrix, operator: str, dtype: str, verdict: str, rule: str | None) -> None:
    ruling = eager(matrix, operator, dtype).ruling
    assert (ruling.verdict, ruling.rule) == (verdict, rule), ruling.reason


def test_tensors_of_other_dtypes_are_those_of_observed_calls(matrix: Matrix) -> None:
    answer = eager(matrix, "aten::gather", "float32")
    assert [case.name for case in answer.cases] == ["float32 int64 → float32"]
    assert answer.ruling.kernels == ("aclnnGather",)
    assert [case.name for case in eager(matrix, "aten::masked_fill.Scalar", "float32").cases] == [
        "float32 bool → float32"
    ]


def test_calls_that_convert_are_shown_and_do_not_decide(matrix: Matrix) -> None:
    answer = eager(matrix, "aten::sum", "float32")
    assert [(case.name, case.ruling.verdict) for case in answer.cases] == [
        ("float32 → float32", "supported"),
        ("float32 → float64", "unknown"),
    ]


def test_an_operator_without_tensors_is_asked_by_its_result(matrix: Matrix) -> None:
    answer = eager(matrix, "aten::arange", "int64")
    assert [case.name for case in answer.cases] == ["no tensor → int64"]
    assert answer.ruling.kernels == ("aclnnArange",)


def test_dtypes_in_which_an_operator_was_observed(matrix: Matrix) -> None:
    assert observed_dtypes(matrix, "aten::abs") == ("float32", "float64")
    assert observed_dtypes(matrix, "aten::arange") == ("int64",)
    assert observed_dtypes(matrix, "aten::never_seen") == ()


@pytest.mark.parametrize(
    ("operator", "dtype", "verdict", "rule"),
    [
        ("aten::abs", "float32", "supported", None),
        ("aten::neg", "float32", "supported", None),  # 310P computes it in float16
        ("aten::neg", "int8", "unsupported", "OPS104"),
        ("aten::add", "int64", "slow", "OPS202"),
        ("aten::mul", "float32", "unknown", "OPS306"),  # no table has Mul
    ],
)
def test_legacy_launches_are_judged_by_graph_engine_operators(
    tmp_path: Path, operator: str, dtype: str, verdict: str, rule: str | None
) -> None:
    ops = {name: native() for name in ("aten::abs", "aten::neg", "aten::add", "aten::mul")}
    rows = {
        "aten::abs": (row("float32", "GE Abs[float32 > float32]"),),
        "aten::neg": (row("float32", "GE Neg[float32 > float32]"), row("int8", "GE Neg[int8 > int8]")),
        "aten::add": (row("int64", "GE Add[int64 > int64]"),),
        "aten::mul": (row("float32", "GE Mul[float32 > float32]"),),
    }
    engine = {"Abs": ge("float16", "float32"), "Neg": ge("float16"), "Add": ge("int64", engine="ai_cpu")}
    # An aclnn API that would refuse everything: nobody asks it here.
    table = cann("9.1.0", {"aclnnAbs": api("bool")}, engine, soc="ascend310p")
    matrix = open_matrix(
        tmp_path, adapter("2.13.0", ops), observed("2.13.0", rows, "ascend310p"), table, soc="ascend310p"
    )
    ruling = eager(matrix, operator, dtype).ruling
    assert (ruling.verdict, ruling.rule) == (verdict, rule), ruling.reason
