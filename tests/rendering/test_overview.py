from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from opscan.assessment import AssessedFinding, AssessedOp, Assessment, Evidence, Verdict
from opscan.rendering import overview
from opscan.rendering.strings import text

Op = Callable[..., AssessedOp]
WithOps = Callable[..., Assessment]


@pytest.fixture
def finished(sample: Assessment) -> Assessment:
    """A complete trace without findings."""
    return replace(sample, findings=(), trace=replace(sample.trace, complete=True))


@pytest.mark.parametrize(
    ("verdicts", "state"),
    [
        (("supported", "slow", "fallback", "unknown", "unsupported"), "blocked"),
        (("supported", "slow", "fallback", "unknown"), "undecided"),
        (("supported", "fallback"), "slower"),
        (("slow",), "slower"),
        (("supported",), "clear"),
        ((), "none"),
    ],
)
def test_state(
    finished: Assessment, op: Op, with_operators: WithOps, verdicts: tuple[Verdict, ...], state: overview.State
) -> None:
    assessment = with_operators(finished, *(op(f"aten::{verdict}", verdict) for verdict in verdicts))
    assert overview.state(assessment) == state
    assert len(overview.headline(assessment)) == 1


def test_a_finding_can_block_a_model_whose_operators_are_supported(
    finished: Assessment, op: Op, with_operators: WithOps
) -> None:
    error = AssessedFinding("OPS605", "error", "needs a CUDA extension")
    assessment = with_operators(replace(finished, findings=(error,)), op("aten::add.Tensor"))
    assert overview.state(assessment) == "blocked"
    (sentence,) = overview.headline(assessment)
    words = text(sentence.key, "en", **sentence.values)
    assert words == "The model is not ready for ascend910b: 1 problem in its code must be solved first."


def test_headline_of_the_sample(sample: Assessment) -> None:
    words = [text(each.key, "en", **each.values) for each in overview.headline(sample)]
    assert words == [
        "The model is not ready for ascend910b: 1 of its 6 operators is unsupported.",
        "A checked replacement for 1 of 1 is given below.",
        "2 further findings are about its code.",
        "The trace is incomplete: other operators may run as well.",
    ]


def test_tallies_count_operators_and_calls(sample: Assessment) -> None:
    tallies = {tally.verdict: (tally.ops, tally.calls) for tally in overview.tallies(sample)}
    assert tallies == {
        "unsupported": (1, 2),
        "fallback": (1, 1),
        "slow": (1, 1),
        "unknown": (2, 2),
        "supported": (1, 64),
    }


def test_the_worst_and_most_called_come_first(sample: Assessment, op: Op, with_operators: WithOps) -> None:
    rare, often, bad = op("aten::a"), op("aten::b", count=9), op("aten::c", "unsupported")
    assert overview.worst_first(with_operators(sample, rare, often, bad)) == [bad, often, rare]


def test_a_substitution_is_listed_once_for_all_it_replaces(sample: Assessment, op: Op, with_operators: WithOps) -> None:
    rotary = sample.ops[1].substitutions
    assessment = with_operators(
        sample,
        op("aten::index.Tensor", "unsupported", count=2, substitutions=rotary),
        op("aten::mul.Tensor", "unsupported", substitutions=rotary),
    )
    (applied,) = overview.substitutions(assessment)
    assert applied.replaces == ("aten::index.Tensor", "aten::mul.Tensor")


def test_only_a_measurement_on_an_npu_counts_as_one(sample: Assessment, op: Op, with_operators: WithOps) -> None:
    assert overview.measured(sample) == 0
    measured = op("aten::add.Tensor", evidence=(Evidence("npu", "8.5.0"),))
    assert overview.measured(with_operators(sample, measured, op("aten::b"))) == 1


def test_percent_never_rounds_up_to_all_or_down_to_none() -> None:
    assert overview.percent(999, 1000) == "99.9%"
    assert overview.percent(99_999, 100_000) == "99.9%"
    assert overview.percent(1, 100_000) == "< 0.1%"
    assert overview.percent(3, 3) == "100%"
    assert overview.percent(0, 3) == "0%"
    assert overview.percent(0, 0) == "–"


def test_days() -> None:
    assert [overview.days(value) for value in (0, 0.5, 1.75, 10, 100)] == ["0", "0.5", "1.75", "10", "100"]


def test_dtypes_of_many_tensors(op: Op) -> None:
    assert overview.dtypes(op("aten::cat", dtypes=("float32",) * 64)) == "float32 ×64"
    assert overview.dtypes(op("aten::index.Tensor", dtypes=("complex64", "int64"))) == "complex64, int64"
