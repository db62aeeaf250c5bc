"""Observations beside the verdicts of a scan."""

from __future__ import annotations

import pytest

from opscan.assessment import AssessedOp, Assessment, Cost, Gate, ModelInfo, PersonDays, Summary, ToolInfo, Verdict
from opscan.importing.comparison import Comparison, compare
from opscan.importing.observations import FileRead, Imported, Kind, Observation
from opscan.inventory import Trace
from opscan.matrix.errors_file import ErrorCodes
from opscan.target import Target

CODES = ErrorCodes.load()


def op(
    name: str, verdict: Verdict, *kernels: str, dtypes: tuple[str, ...] = ("float32",), rule: str | None = None
) -> AssessedOp:
    return AssessedOp(name, verdict, rule, None, "forward", 1, dtypes, (), (), kernels)


def seen(kind: Kind, operator: str = "", kernel: str = "", dtypes: tuple[str, ...] = (), code: str = "") -> Observation:
    return Observation(kind, operator, kernel, dtypes, "", code, 1)


def beside(*ops: AssessedOp, observed: list[Observation], route: str = "eager") -> Comparison:
    assessment = Assessment(
        1,
        ToolInfo("0"),
        ModelInfo("m", 0),
        Target("2.6.0", "8.5.0", "ascend910b", route),  # type: ignore[arg-type]
        Trace("dispatch", "virtual", "2.6.0", False, True),
        ops,
        (),
        Summary(len(ops), len(ops), 0, 0, 0, 0, 0),
        Cost(PersonDays(0, 0, 0)),
        Gate(True, "never"),
    )
    return compare(Imported((FileRead(1, ("cann",), 1),), tuple(observed)), assessment, CODES)


def outcomes(comparison: Comparison) -> list[tuple[str, str]]:
    return [(each.operator, each.outcome) for each in comparison.results]


@pytest.mark.parametrize(
    ("verdict", "outcome"),
    [
        ("fallback", "confirmed"),
        ("supported", "contradicted"),
        ("slow", "contradicted"),
        ("unsupported", "contradicted"),
        ("unknown", "decided"),
    ],
)
def test_a_fallback(verdict: Verdict, outcome: str) -> None:
    comparison = beside(op("aten::x", verdict), observed=[seen("fallback", "aten::x")])
    assert outcomes(comparison) == [("aten::x", outcome)]
    assert comparison.contradicted == (outcome == "contradicted")


def test_an_overload_is_found_by_its_operator_where_it_is_missing() -> None:
    ops = op("aten::x", "fallback"), op("aten::y.Tensor", "supported"), op("aten::y.out", "fallback")
    comparison = beside(*ops, observed=[seen("fallback", "aten::x.out"), seen("fallback", "aten::y.out")])
    assert outcomes(comparison) == [("aten::x", "confirmed"), ("aten::y.out", "confirmed")]
    assert comparison.silent["supported"] == 1


def test_what_the_scan_does_not_have() -> None:
    comparison = beside(
        op("aten::x", "supported"), observed=[seen("fallback", "aten::z"), seen("ran", kernel="aclnnZ")]
    )
    assert outcomes(comparison) == [("aten::z", "unforeseen")]
    assert not comparison.contradicted
    assert comparison.silent["supported"] == 1


def test_a_kernel_on_the_ai_cpu_by_dtype() -> None:
    ops = (
        op("aten::sort", "supported", "aclnnSort"),
        op("aten::sort", "supported", "aclnnSort", dtypes=("int64",)),
    )
    observed = [seen("ai_cpu", "Sort", "aclnnSort", ("int64",)), seen("ran", "Cast", "aclnnSort", ("int64",))]
    (result,) = beside(*ops, observed=observed).results
    assert (result.dtypes, result.outcome, result.means) == (("int64",), "contradicted", "slow")


def test_one_operator_of_a_kernel_that_agrees_is_enough() -> None:
    ops = op("aten::a", "supported", "aclnnX"), op("aten::b", "slow", "aclnnX", rule="OPS202")
    assert outcomes(beside(*ops, observed=[seen("ai_cpu", "X", "aclnnX")])) == [("aten::b", "confirmed")]


def test_what_ran_on_the_ai_core() -> None:
    ops = (
        op("aten::a", "supported", "aclnnA"),
        op("aten::b", "slow", "aclnnB", rule="OPS202"),
        op("aten::c", "slow", "aclnnC", rule="OPS203"),
        op("aten::d", "unsupported", "aclnnD"),
        op("aten::e", "unknown", "aclnnE"),
        op("aten::f", "unsupported", "aclnnF", dtypes=("float64",)),
    )
    observed = [seen("ran", name, f"aclnn{name}", ("float32",)) for name in "ABCDEF"]
    assert dict(outcomes(beside(*ops, observed=observed))) == {
        "aten::a": "confirmed",
        "aten::b": "contradicted",
        "aten::c": "confirmed",
        "aten::d": "contradicted",
        "aten::e": "decided",
    }


def test_without_a_dtype_what_ran_refutes_nothing() -> None:
    assert beside(op("aten::d", "unsupported", "aclnnD"), observed=[seen("ran", "D", "aclnnD")]).results == ()


def test_a_call_that_failed_counts_where_its_code_speaks_of_coverage() -> None:
    ops = op("aten::a", "supported", "aclnnA"), op("aten::b", "supported", "aclnnB")
    observed = [seen("refused", kernel="aclnnA", code="161002"), seen("refused", kernel="aclnnB", code="507018")]
    assert outcomes(beside(*ops, observed=observed)) == [("aten::a", "contradicted")]


def test_a_type_of_the_graph_engine_is_looked_up_among_kernels() -> None:
    ops = op("aten::argsort", "slow", "aclnnArgsort", rule="OPS202"), op("ai.onnx::Resize", "supported", "Resize")
    observed = [seen("ai_cpu", "ArgSort"), seen("no_kernel", "Resize")]
    assert outcomes(beside(*ops, observed=observed)) == [
        ("ai.onnx::Resize", "contradicted"),
        ("aten::argsort", "confirmed"),
    ]


def test_each_route_has_its_messages() -> None:
    onnx, aten = op("ai.onnx::GridSample", "unsupported"), op("aten::x", "supported")
    observed = [seen("no_parser", "ai.onnx::GridSample"), seen("fallback", "aten::x")]
    assert outcomes(beside(onnx, observed=observed, route="offline")) == [("ai.onnx::GridSample", "confirmed")]
    assert outcomes(beside(aten, observed=observed)) == [("aten::x", "contradicted")]
