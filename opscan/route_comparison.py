"""Assessments of one model in several routes, laid side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from opscan.assessment import (
    VERDICTS,
    AssessedFinding,
    AssessedOp,
    Assessment,
    Blocker,
    RouteComparison,
    RouteResult,
    Verdict,
)
from opscan.inventory import Location
from opscan.recommendation import recommend
from opscan.target import Route

ROUTES: tuple[Route, ...] = ("eager", "graph", "offline")


#: The last layer of models that generate text, by its name in transformers, and the operators of such a layer.
_LANGUAGE_HEAD = "lm_head"
_OF_A_LAYER = frozenset({"aten::addmm", "aten::linear", "aten::matmul", "aten::mm"})


@dataclass(frozen=True, slots=True)
class NotJudged:
    """Why there is no assessment of a route, in one line each."""

    reason: str
    hint: str = ""


def compare(
    assessments: Mapping[Route, Assessment], failures: Mapping[Route, NotJudged], train: bool = False
) -> Assessment:
    """The assessment of the first route that was judged, eager before the others, with all of them beside it.

    ``assessments`` must not be empty.
    """
    main = next(assessments[route] for route in ROUTES if route in assessments)
    results = tuple(
        _result(route, assessments) if route in assessments else _not_judged(route, failures) for route in ROUTES
    )
    recommendation = recommend(results, train, _generates(main))
    others = {route: assessment.ops for route, assessment in assessments.items() if route != main.target.route}
    ops = tuple(replace(op, routes=op.routes | _elsewhere(op, others)) for op in main.ops)
    return replace(main, ops=ops, routes=RouteComparison(results, recommendation.route, recommendation.reasons))


def _generates(assessment: Assessment) -> bool:
    """Whether the model has a language head, which is a layer by itself: those that fill in words have more of it."""
    layers = (op for op in assessment.ops if op.name in _OF_A_LAYER)
    return any(place.module == _LANGUAGE_HEAD for op in layers for place in op.locations)


def _not_judged(route: Route, failures: Mapping[Route, NotJudged]) -> RouteResult:
    failure = failures[route]
    return RouteResult(route, failure.reason, failure.hint)


def _result(route: Route, assessments: Mapping[Route, Assessment]) -> RouteResult:
    own = assessments[route]
    elsewhere = {_key(f) for other, each in assessments.items() if other != route for f in each.findings}
    return RouteResult(
        route=route,
        reason=_where_it_ended(own),
        summary=own.summary,
        calls={v: sum(op.count for op in own.ops if op.verdict == v) for v in VERDICTS},
        blockers=_blockers(own),
        findings=tuple(finding for finding in own.findings if _key(finding) not in elsewhere),
        person_days=own.cost.person_days,
        trace=own.trace,
    )


def _key(finding: AssessedFinding) -> tuple[str, str, tuple[tuple[str, int], ...]]:
    return finding.rule, finding.message, tuple((place.file, place.line) for place in finding.locations)


def _where_it_ended(assessment: Assessment) -> str:
    """Why the tracer did not come to the model's end; empty where it did, or where another took its place."""
    attempts = [attempt for attempt in assessment.trace.attempts if attempt.tracer != "probe"]
    if not attempts or attempts[-1].ok:
        return ""
    if assessment.target.route == "offline":
        failed = [f"{attempt.tracer}: {attempt.reason}" for attempt in attempts if not attempt.ok]
        return one_line(f"the model cannot be exported here. {'; '.join(failed)}")
    return one_line(attempts[-1].reason or f"the tracer {attempts[-1].tracer} failed part-way")


def one_line(message: str) -> str:
    return " ".join(message.split())


def _blockers(assessment: Assessment) -> tuple[Blocker, ...]:
    """Unsupported operators by name and rule, the most called first; then findings that are errors."""
    grouped: dict[tuple[str, str | None], list[AssessedOp]] = {}
    for op in assessment.ops:
        if op.verdict == "unsupported":
            grouped.setdefault((op.name, op.rule), []).append(op)
    refused = sorted((_of_operator(entries) for entries in grouped.values()), key=lambda b: (-b.calls, b.operator))
    errors = (f for f in assessment.findings if f.severity == "error")
    return (*refused, *(Blocker("", f.rule, f.message, locations=f.locations, facts=f.facts) for f in errors))


def _of_operator(entries: Sequence[AssessedOp]) -> Blocker:
    first = entries[0]
    return Blocker(
        operator=first.name,
        rule=first.rule,
        reason=first.reason or "",
        dtypes=tuple(dict.fromkeys(dtype for op in entries for dtype in op.dtypes)),
        calls=sum(op.count for op in entries),
        locations=tuple(dict.fromkeys(place for op in entries for place in op.locations)),
        facts=first.facts,
    )


def _elsewhere(op: AssessedOp, others: Mapping[Route, Sequence[AssessedOp]]) -> dict[str, str]:
    """Verdicts of other routes that their own inventories tell of an operator."""
    if op.phase == "optimizer":
        return {}  # in no graph, and in no offline model
    told = {
        route: _told(op, ops) for route, ops in others.items() if not (route == "offline" and op.phase != "forward")
    }
    return {route: verdict for route, verdict in told.items() if verdict is not None}


def _told(op: AssessedOp, ops: Sequence[AssessedOp]) -> Verdict | None:
    """By the operator itself, where the other inventory has it; by its lines, where all that stands there fares alike.
    Else nothing is told: one of several operators of a line need not be this one.
    """
    named = [other for other in ops if other.phase == op.phase and _names(op) & {other.name, *other.origins}]
    here = [other for other in named if set(_places(op)) & set(_places(other))]
    alike = [other for other in here or named if other.dtypes[:1] == op.dtypes[:1]]
    if found := alike or here or named:
        return min((other.verdict for other in found), key=VERDICTS.index)
    return _by_lines(op, ops)


def _by_lines(op: AssessedOp, ops: Iterable[AssessedOp]) -> Verdict | None:
    places = set(_places(op))
    there = [other for other in ops if other.phase == op.phase and places & set(_places(other))]
    covered = {place for other in there for place in _places(other)}
    verdicts = {other.verdict for other in there}
    return verdicts.pop() if places and places <= covered and len(verdicts) == 1 else None


def _names(op: AssessedOp) -> set[str]:
    """The operator, and without writing in place: a graph has that."""
    base, dot, overload = op.name.partition(".")
    return {op.name, base.removesuffix("_") + dot + overload}


def _places(op: AssessedOp) -> list[tuple[str, int, str]]:
    return [_place(location) for location in op.locations if location.line]


def _place(location: Location) -> tuple[str, int, str]:
    return location.file, location.line, location.module
