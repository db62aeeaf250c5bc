from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from opscan.assessment import Assessment
from opscan.batch.summing import exit_code, operator_tallies, roll_up, scanned_model
from opscan.rendering.json import load_assessment
from opscan.rollup import ModelResult, Status

RESULT = load_assessment(Path(__file__).with_name("result.json").read_bytes())


def model(status: Status, name: str = "m") -> ModelResult:
    scanned = scanned_model(RESULT) if status in ("passed", "failed", "incomplete") else None
    return ModelResult(name, name, status, 0, None, None, 1.0, False, "", None, None, scanned)


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        (("passed", "passed"), 0),
        (("passed", "failed"), 1),
        (("incomplete", "failed"), 3),
        (("error", "failed"), 3),
        (("time_limit", "passed"), 3),
        (("error", "time_limit"), 2),
    ],
)
def test_exit_code_is_the_worst(statuses: tuple[Status, ...], code: int) -> None:
    assert exit_code([model(status) for status in statuses]) == code


def test_totals_add_up_what_has_a_result() -> None:
    total = roll_up("x", [model("passed", "a"), model("error", "b"), model("failed", "c")], (), (), False).totals
    assert total.models == 3
    assert total.statuses == {"error": 1, "time_limit": 0, "not_run": 0, "incomplete": 0, "failed": 1, "passed": 1}
    assert total.ops == {"unsupported": 2, "fallback": 2, "slow": 0, "unknown": 0, "supported": 4}
    assert total.calls == {"unsupported": 6, "fallback": 2, "slow": 0, "unknown": 0, "supported": 20}
    assert (total.person_days.low, total.person_days.likely, total.person_days.high) == (1.0, 2.0, 5.0)


def test_operators_in_the_way_of_most_models_come_first() -> None:
    def with_refused(*names: str) -> Assessment:
        refused = next(op for op in RESULT.ops if op.verdict == "unsupported")
        return replace(RESULT, ops=tuple(replace(refused, name=name, count=2) for name in names))

    tallies = operator_tallies([("a", with_refused("aten::x", "aten::y")), ("b", with_refused("aten::y"))])
    assert [(t.name, t.models, t.calls) for t in tallies] == [("aten::y", ("a", "b"), 4), ("aten::x", ("a",), 2)]


def test_blockers_are_named_once() -> None:
    scanned = scanned_model(RESULT)
    assert scanned.blockers == ("aten::bad",)
    assert scanned.calls["unsupported"] == 3
