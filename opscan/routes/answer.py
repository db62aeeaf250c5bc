"""The answer to "does this operator run here?": a ruling for one route, and what it rests on case by case."""

from __future__ import annotations

from dataclasses import dataclass

from opscan.target import Route
from opscan.verdict import Ruling


@dataclass(frozen=True, slots=True)
class Case:
    """One way of calling the operator: the dtypes of its tensors, or a graph-engine operator that it becomes."""

    name: str
    ruling: Ruling


@dataclass(frozen=True, slots=True)
class Answer:
    """``cases`` are what the ruling sums up; empty where nothing but the operator itself was looked at."""

    route: Route
    dtype: str
    ruling: Ruling
    cases: tuple[Case, ...] = ()


#: Verdicts of calls that run, from the worst.
_RUNNING = ("fallback", "slow", "supported")


def sum_up(cases: tuple[Case, ...], facts: dict[str, str]) -> Ruling:
    """One ruling for all cases: the worst where all run, theirs where none does; else the arguments decide."""
    rulings = [case.ruling for case in cases]
    verdicts = {ruling.verdict for ruling in rulings}
    if len(verdicts) == 1:
        return rulings[0]
    if verdicts <= set(_RUNNING):
        return min(rulings, key=lambda ruling: _RUNNING.index(ruling.verdict))
    said = "; ".join(f"{case.name}: {case.ruling.verdict}" for case in cases)
    evidence = tuple(dict.fromkeys(e for ruling in rulings for e in ruling.evidence))
    kernels = tuple(dict.fromkeys(k for ruling in rulings for k in ruling.kernels))
    return Ruling("unknown", "OPS304", {**facts, "detail": said}, kernels, evidence)
