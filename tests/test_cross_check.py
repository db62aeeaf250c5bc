"""Inventories of several tracers compared: counts, likely reasons, and what deserves a finding."""

from __future__ import annotations

from typing import Any

from opscan.assess import Judged
from opscan.assessment import CrossCheck, Verdict
from opscan.cross_check import Compared, Outcome, compare
from opscan.inventory import Attempt, Inventory, Location, OpCall, Phase, TensorSpec, Trace
from opscan.verdict import Ruling

TENSOR = TensorSpec("float32", (2,))

VERDICTS: dict[str, Verdict] = {"aten::lgamma": "fallback", "aten::lgamma_": "fallback", "aten::rand": "unsupported"}


def judge(inventory: Inventory) -> list[Judged]:
    return [Judged(Ruling(VERDICTS.get(call.name, "supported"), None, {}), [call]) for call in inventory.calls]


def call(name: str, count: int = 1, phase: Phase = "forward", **changes: Any) -> OpCall:
    made: dict[str, Any] = {"inputs": (TENSOR,), "location": Location("model.py", 7), **changes}
    return OpCall(name, phase, outputs=(TENSOR,), count=count, **made)


def trace(tracer: str, ended: str = "", engine: Any = "virtual") -> Trace:
    attempts = (Attempt(tracer, not ended, ended or None),)
    return Trace(tracer, engine, "2.13.0", False, not ended, attempts=attempts)


def outcome(name: str, *calls: OpCall, ended: str = "") -> Outcome:
    engine = "rehearse" if name == "rehearse" else "virtual"
    return Outcome(name, Inventory("", 0, trace(name, ended, engine), calls))


def compared(*outcomes: Outcome, shown: str = "dispatch") -> Compared:
    return compare(outcomes, trace(shown, engine="rehearse" if shown == "rehearse" else "virtual"), judge)


def rows(check: CrossCheck) -> dict[str, tuple[dict[str, int], str | None]]:
    return {row.name: (row.counts, row.cause) for row in check.differences}


def test_inventories_that_agree_have_no_rows() -> None:
    found = compared(outcome("dispatch", call("aten::add", 2)), outcome("export", call("aten::add"), call("aten::add")))
    assert found.cross_check.differences == ()
    assert found.cross_check.agreed == 1
    assert found.findings == ()
    assert [(each.name, each.ops, each.calls, each.shown) for each in found.cross_check.tracers] == [
        ("dispatch", 1, 2, True),
        ("export", 1, 2, False),
    ]


def test_a_tracer_without_an_inventory_says_why_and_counts_for_nothing() -> None:
    found = compared(outcome("dispatch", call("aten::add")), Outcome("fx", None, "control flow at model.py:3"))
    fx = found.cross_check.tracers[1]
    assert (fx.ok, fx.ops, fx.reason) == (False, None, "control flow at model.py:3")
    assert found.cross_check.differences == ()


def test_an_operator_that_the_report_misses_is_a_finding_with_its_line() -> None:
    found = compared(outcome("dispatch", call("aten::add")), outcome("export", call("aten::add"), call("aten::lgamma")))
    assert rows(found.cross_check) == {"aten::lgamma": ({"dispatch": 0, "export": 1}, None)}
    assert found.cross_check.differences[0].verdict == "fallback"
    (finding,) = found.findings
    assert finding.rule == "OPS635"
    assert finding.facts == {
        "operator": "aten::lgamma",
        "verdict": "fallback",
        "seen": "export",
        "missed": "dispatch",
    }
    assert finding.locations == (Location("model.py", 7),)


def test_a_supported_operator_is_a_row_and_no_finding() -> None:
    found = compared(outcome("dispatch"), outcome("export", call("aten::add")))
    assert list(rows(found.cross_check)) == ["aten::add"]
    assert found.findings == ()


def test_other_counts_of_the_same_operator_are_no_finding() -> None:
    found = compared(outcome("dispatch", call("aten::lgamma", 3)), outcome("jit", call("aten::lgamma", 1)))
    assert rows(found.cross_check) == {"aten::lgamma": ({"dispatch": 3, "jit": 1}, None)}
    assert found.findings == ()


def test_an_in_place_form_is_the_same_operator() -> None:
    found = compared(
        outcome("dispatch", call("aten::lgamma_"), call("aten::lgamma")), outcome("export", call("aten::lgamma", 2))
    )
    assert {cause for _, cause in rows(found.cross_check).values()} == {"form"}
    assert found.findings == ()


def test_a_view_has_no_kernel_to_miss() -> None:
    found = compared(outcome("dispatch", call("aten::detach", is_view=True)), outcome("fx"))
    assert rows(found.cross_check)["aten::detach"][1] == "view"


def test_what_takes_no_tensors_may_be_a_constant_of_the_graph() -> None:
    found = compared(outcome("dispatch", call("aten::rand", inputs=())), outcome("jit"))
    assert rows(found.cross_check)["aten::rand"][1] == "constant"
    assert found.findings == (), "the report has it, and the reason is known"
    missed = compared(outcome("dispatch"), outcome("jit", call("aten::rand", inputs=())))
    assert [finding.facts["verdict"] for finding in missed.findings] == ["unsupported"]


def test_a_value_that_python_asked_for_is_a_constant_of_the_graph() -> None:
    found = compared(outcome("dispatch", call("aten::_local_scalar_dense")), outcome("jit"))
    assert rows(found.cross_check)["aten::_local_scalar_dense"][1] == "constant"


def test_a_tracer_that_ended_early_misses_what_follows() -> None:
    whole = outcome("dispatch", call("aten::add"), call("aten::lgamma"))
    found = compared(whole, outcome("export", call("aten::add"), ended="ended at model.py:5"))
    assert rows(found.cross_check) == {"aten::lgamma": ({"dispatch": 1, "export": 0}, "ended")}
    assert found.findings == ()
    assert found.cross_check.tracers[1].reason == "ended at model.py:5"


def test_where_the_reports_own_ended_early_what_follows_is_a_finding() -> None:
    found = compared(
        outcome("dispatch", call("aten::add"), ended="a limit"),
        outcome("export", call("aten::add"), call("aten::lgamma")),
    )
    assert [finding.facts["operator"] for finding in found.findings] == ["aten::lgamma"]


def test_a_rehearsal_has_kernels_of_torch_npu() -> None:
    found = compared(
        outcome("rehearse", call("npu::npu_format_cast")), outcome("dispatch"), outcome("export"), shown="rehearse"
    )
    assert rows(found.cross_check)["npu::npu_format_cast"][1] == "rehearsal"


def test_a_phase_is_compared_among_those_that_look_at_it() -> None:
    backward = call("aten::lgamma", phase="backward")
    found = compared(outcome("dispatch", call("aten::add"), backward), outcome("fx", call("aten::add")))
    assert found.cross_check.differences == ()
    assert found.cross_check.agreed == 1
    other = compared(outcome("dispatch", backward), outcome("jit", call("aten::mul", phase="backward")), outcome("fx"))
    assert rows(other.cross_check)["aten::lgamma"][0] == {"dispatch": 1, "jit": 0}


def test_what_is_worst_and_least_explained_comes_first() -> None:
    found = compared(
        outcome("dispatch", call("aten::a"), call("aten::lgamma"), call("aten::rand", inputs=()), call("aten::b")),
        outcome("jit", call("aten::b", is_view=True, count=2)),
    )
    assert [row.name for row in found.cross_check.differences] == ["aten::lgamma", "aten::a", "aten::b", "aten::rand"]


def test_each_inventory_is_judged_once() -> None:
    asked: list[str] = []

    def counting(inventory: Inventory) -> list[Judged]:
        asked.append(inventory.trace.tracer)
        return judge(inventory)

    outcomes = [outcome("dispatch", call("aten::a"), call("aten::b")), outcome("jit", call("aten::c"), call("aten::d"))]
    compare(outcomes, trace("dispatch"), counting)
    assert asked == ["dispatch", "jit"]
