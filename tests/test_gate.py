from __future__ import annotations

from typing import get_args

import pytest

from opscan.assessment import FailOn, Gate, Summary
from opscan.gate import FAILING, decide


def summary(supported: int = 3, slow: int = 0, fallback: int = 0, unsupported: int = 0, unknown: int = 0) -> Summary:
    ops = supported + slow + fallback + unsupported + unknown
    return Summary(ops, ops, supported, slow, fallback, unsupported, unknown)


TABLE: list[tuple[dict[str, int], set[str]]] = [
    ({}, set()),
    ({"supported": 0}, set()),
    ({"unsupported": 1}, {"unsupported", "fallback", "slow", "unknown"}),
    ({"fallback": 2}, {"fallback", "slow"}),
    ({"slow": 1}, {"slow"}),
    ({"unknown": 4}, {"unknown"}),
    ({"slow": 1, "unknown": 1}, {"slow", "unknown"}),
    ({"fallback": 1, "unknown": 1}, {"fallback", "slow", "unknown"}),
]


@pytest.mark.parametrize("fail_on", get_args(FailOn))
@pytest.mark.parametrize(("counts", "failing"), TABLE)
def test_fails_exactly_on_the_named_verdicts(counts: dict[str, int], failing: set[str], fail_on: FailOn) -> None:
    assert decide(summary(**counts), fail_on) == Gate(passed=fail_on not in failing, fail_on=fail_on)


def test_every_setting_has_its_verdicts() -> None:
    assert set(FAILING) == set(get_args(FailOn))
