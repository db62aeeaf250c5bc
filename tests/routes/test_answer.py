"""Summing the cases of one operator up."""

from __future__ import annotations

import pytest

from opscan.assessment import Evidence
from opscan.routes.answer import Case, sum_up
from opscan.verdict import Ruling

FACTS = {"operator": "aten::x", "soc": "ascend910b", "cann": "9.1.0"}


def cases(*verdicts: str) -> tuple[Case, ...]:
    evidence = (Evidence("cann", "9.1.0"),)
    return tuple(
        Case(f"case {i}", Ruling(v, None, {}, (f"k{i}",), evidence))  # type: ignore[arg-type]
        for i, v in enumerate(verdicts)
    )


@pytest.mark.parametrize(
    ("verdicts", "sum_"),
    [
        (("supported",), "supported"),
        (("unsupported", "unsupported"), "unsupported"),
        (("unknown", "unknown"), "unknown"),
        (("supported", "slow"), "slow"),  # all run: the worst
        (("slow", "fallback", "supported"), "fallback"),
        (("supported", "unsupported"), "unknown"),  # the arguments decide
        (("supported", "unknown"), "unknown"),
        (("unknown", "unsupported"), "unknown"),
    ],
)
def test_verdicts(verdicts: tuple[str, ...], sum_: str) -> None:
    assert sum_up(cases(*verdicts), FACTS).verdict == sum_


def test_cases_that_differ_are_all_named() -> None:
    ruling = sum_up(cases("supported", "unsupported"), FACTS)
    assert ruling.rule == "OPS304"
    assert ruling.reason is not None
    assert "case 0: supported; case 1: unsupported" in ruling.reason
    assert ruling.kernels == ("k0", "k1")
    assert ruling.evidence == (Evidence("cann", "9.1.0"),)


def test_one_ruling_for_all_is_the_first_ones() -> None:
    both = cases("slow", "slow")
    assert sum_up(both, FACTS) is both[0].ruling
