"""What an outcome measured on a device makes of a call."""

from __future__ import annotations

import pytest

from opscan.assessment import Evidence
from opscan.probing.judgement import measured
from opscan.probing.protocol import STATUSES, Errors, Latency, Outcome, Status, Versions
from opscan.probing.signature import Signature, TensorArgument
from opscan.rules.registry import RULES

VERSIONS = Versions("2.6.0", "2.6.0.post5", "8.5.0", "Ascend910B3")
CUMMAX = Signature("aten::cummax", (TensorArgument("self", "float32", (2, 3)),), (("dim", "0"),))


def outcome(status: Status, **more: object) -> Outcome:
    return Outcome(status, versions=VERSIONS, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "verdict", "rule"),
    [
        ("native", "supported", None),
        ("fallback", "fallback", "OPS102"),
        ("refused", "unsupported", "OPS106"),
        ("wrong", "unsupported", "OPS109"),
        ("crashed", "unsupported", "OPS113"),
        ("timeout", "unknown", "OPS309"),
        ("out_of_memory", "unknown", "OPS309"),
        ("device_lost", "unknown", "OPS309"),
    ],
)
def test_the_verdict_of_each_status(status: Status, verdict: str, rule: str | None) -> None:
    found = measured(CUMMAX, outcome(status))
    assert found is not None
    assert (found.verdict, found.rule) == (verdict, rule)
    assert rule is None or RULES[rule].verdict == verdict
    assert found.evidence.kind == "npu"


def test_nothing_is_said_where_no_device_computed() -> None:
    simulated = Versions("2.6.0", "2.6.0.post5", "8.5.0", "Ascend910B3", simulated=True)
    assert measured(CUMMAX, outcome("not_run", message="no sample")) is None
    assert measured(CUMMAX, Outcome("native")) is None
    for status in STATUSES:
        assert measured(CUMMAX, Outcome(status, versions=simulated)) is None


def test_the_evidence_says_what_was_measured_and_where() -> None:
    found = measured(CUMMAX, outcome("native", latency=Latency(12.34, 10, 11.0), kernels=("aclnnCummax",) * 2))
    assert found is not None
    assert found.evidence == Evidence(
        "npu", "2.6.0.post5", "native; 12.3 µs, median of 10", "CANN 8.5.0 on Ascend910B3"
    )
    assert found.kernels == ("aclnnCummax",)


def test_a_refusal_carries_its_code_and_words() -> None:
    found = measured(CUMMAX, outcome("refused", code="161002", message="RuntimeError: call\n aclnnCummax failed"))
    assert found is not None
    assert found.facts["detail"] == "161002: RuntimeError: call aclnnCummax failed"
    assert RULES["OPS106"].say("en", found.facts).startswith("torch_npu refuses aten::cummax for float32: 161002")


def test_a_wrong_result_says_how_wrong() -> None:
    found = measured(CUMMAX, outcome("wrong", errors=Errors(max_abs=0.5, max_rel=0.25, nonfinite=3)))
    assert found is not None
    assert found.facts["detail"] == "3 elements are not finite on one side; the relative error is 0.25"


def test_a_fallback_inside_names_what_fell_back() -> None:
    inside = measured(CUMMAX, outcome("fallback", operators=("aten::_cummax_helper",)))
    own = measured(CUMMAX, outcome("fallback", operators=("aten::cummax.out",)))
    assert inside is not None
    assert own is not None
    assert (inside.facts["operator"], inside.facts["within"]) == ("aten::_cummax_helper", "aten::cummax")
    assert (own.facts["operator"], "within" in own.facts) == ("aten::cummax", False)
