"""A measurement beside what tables say."""

from __future__ import annotations

from opscan.assessment import Evidence
from opscan.measured_verdict import outranked
from opscan.probing.judgement import Measured
from opscan.verdict import Ruling

TABLE, NPU = Evidence("cann", "8.5.0"), Evidence("npu", "2.6.0.post5", "native")
FACTS = {"operator": "aten::x", "dtypes": "float32", "detail": "161002", "release": "2.6.0.post5"}
RUNS = Measured("supported", None, NPU, {}, ("aclnnX",))
REFUSED = Measured("unsupported", "OPS106", NPU, FACTS)
UNDECIDED = Measured("unknown", "OPS309", NPU, FACTS)


def test_what_runs_is_supported_whatever_tables_say_and_the_conflict_is_shown() -> None:
    found = outranked(Ruling("fallback", "OPS102", FACTS, evidence=(TABLE,)), RUNS)
    assert found == Ruling(
        "supported", None, {}, ("aclnnX",), (NPU, TABLE),
        ("Without the measurement on an NPU the verdict would be fallback: torch_npu 2.6.0.post5 registers no kernel "
         "for aten::x: it runs on the CPU, with copies to the host and back.",),
    )  # fmt: skip


def test_what_runs_stays_slow() -> None:
    slow = Ruling("slow", "OPS202", FACTS, ("aclnnSort",), (TABLE,))
    assert outranked(slow, RUNS) == Ruling("slow", "OPS202", FACTS, ("aclnnX",), (NPU, TABLE))


def test_agreement_adds_the_evidence_alone() -> None:
    assert outranked(Ruling("supported", evidence=(TABLE,)), RUNS).conflicts == ()
    found = outranked(Ruling("unsupported", "OPS104", FACTS, evidence=(TABLE,)), REFUSED)
    assert (found.rule, found.evidence, found.conflicts) == ("OPS106", (NPU, TABLE), ())


def test_a_refusal_beats_supported() -> None:
    found = outranked(Ruling("supported", evidence=(TABLE,)), REFUSED)
    assert (found.verdict, found.rule) == ("unsupported", "OPS106")
    assert found.conflicts == ("Without the measurement on an NPU the verdict would be supported",)


def test_what_was_unknown_is_no_conflict() -> None:
    assert outranked(Ruling("unknown", "OPS302", FACTS), REFUSED).conflicts == ()


def test_a_probe_without_an_answer_undoes_supported_alone() -> None:
    assert outranked(Ruling("supported"), UNDECIDED).verdict == "unknown"
    for verdict, rule in (("unsupported", "OPS104"), ("fallback", "OPS102"), ("slow", "OPS203"), ("unknown", "OPS302")):
        found = outranked(Ruling(verdict, rule, FACTS), UNDECIDED)  # type: ignore[arg-type]
        assert (found.verdict, found.rule, found.evidence) == (verdict, rule, (NPU,))
