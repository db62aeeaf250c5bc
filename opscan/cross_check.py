"""Several tracers on one model: where their inventories differ, and why where that can be told.

It adds a table and findings to a report, and changes no verdict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from opscan.assess import Judged
from opscan.assessment import VERDICTS, Cause, CheckedTracer, CrossCheck, Difference, Verdict
from opscan.inventory import Finding, Inventory, Location, OpCall, Phase, Trace

Key = tuple[str, Phase]
Judge = Callable[[Inventory], list[Judged]]

#: The name of the rehearsal among tracers: it follows the model as ``dispatch`` does, on the real adapter.
REHEARSAL = "rehearse"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one tracer came to: an inventory, or in words why there is none."""

    name: str
    inventory: Inventory | None
    reason: str = ""

    @property
    def ended(self) -> str | None:
        """Why the inventory does not reach the model's end; None where it does."""
        attempts = self.inventory.trace.attempts if self.inventory else ()
        return None if not attempts or attempts[-1].ok else attempts[-1].reason or ""


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison, and findings about operators that some inventory missed."""

    cross_check: CrossCheck
    findings: tuple[Finding, ...] = ()


def compare(outcomes: Iterable[Outcome], trace: Trace, judge: Judge) -> Compared:
    """``trace`` is that of the report's inventory. ``judge`` rules on an inventory's calls."""
    shown = REHEARSAL if trace.engine == "rehearse" else trace.tracer
    views = [_View(outcome) for outcome in outcomes]
    tracers = tuple(_tracer(view, shown) for view in views)
    seen = [view for view in views if view.outcome.inventory is not None]
    verdicts = _Verdicts(sorted(seen, key=lambda view: view.outcome.name != shown), judge)
    keys = sorted({key for view in seen for key in view.calls}, key=lambda key: (_PHASES.index(key[1]), key[0]))
    differences: list[Difference] = []
    findings: list[Finding] = []
    agreed = 0
    for key in keys:
        row = {view.outcome.name: view.count(key) for view in seen if key[1] in view.phases}
        if len(set(row.values())) <= 1:
            agreed += len(row) > 1
            continue
        cause = _cause(key, [view for view in seen if key[1] in view.phases])
        verdict = verdicts.of(key)
        differences.append(Difference(*key, row, verdict, cause))
        if verdict != "supported" and _is_missed(row, shown, cause):
            findings.append(_finding(key, verdict, row, seen))
    differences.sort(key=_weight)
    return Compared(CrossCheck(tracers, tuple(differences), agreed), tuple(findings))


def _weight(difference: Difference) -> tuple[bool, bool, int]:
    """What is least explained, and worst, comes first."""
    cause = difference.cause
    return cause == "ended", cause is not None, VERDICTS.index(difference.verdict)


#: A captured graph holds what it answered, too.
_TO_PYTHON = "aten::_local_scalar_dense"

_PHASES: tuple[Phase, ...] = ("forward", "backward", "optimizer")


class _View:
    """An inventory by operator and phase."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.calls: dict[Key, list[OpCall]] = defaultdict(list)
        for call in outcome.inventory.calls if outcome.inventory else ():
            self.calls[call.name, call.phase].append(call)
        self.phases = {"forward", *(phase for _, phase in self.calls)}

    def count(self, key: Key) -> int:
        return sum(call.count for call in self.calls.get(key, ()))


def _tracer(view: _View, shown: str) -> CheckedTracer:
    outcome, inventory = view.outcome, view.outcome.inventory
    if inventory is None:
        return CheckedTracer(outcome.name, False, False, reason=outcome.reason)
    return CheckedTracer(
        name=outcome.name,
        ok=outcome.ended is None,
        shown=outcome.name == shown,
        complete=inventory.trace.complete,
        ops=len(view.calls),
        calls=sum(map(view.count, view.calls)),
        reason=outcome.ended,
    )


class _Verdicts:
    """The worst verdict of an operator in the first inventory that has it; each inventory is judged once."""

    def __init__(self, views: list[_View], judge: Judge) -> None:
        self._views = views
        self._judge = judge
        self._judged: dict[str, Mapping[Key, Verdict]] = {}

    def of(self, key: Key) -> Verdict:
        view = next(view for view in self._views if key in view.calls)
        name, inventory = view.outcome.name, view.outcome.inventory
        assert inventory is not None
        if name not in self._judged:
            self._judged[name] = _worst(self._judge(inventory))
        return self._judged[name][key]


def _worst(judged: list[Judged]) -> dict[Key, Verdict]:
    worst: dict[Key, Verdict] = {}
    for entry in judged:
        key = (entry.example.name, entry.example.phase)
        worst[key] = min(entry.ruling.verdict, worst.get(key, "supported"), key=VERDICTS.index)
    return worst


def _cause(key: Key, views: list[_View]) -> Cause | None:
    if len({view.count(key) for view in views if view.outcome.ended is None}) == 1:
        return "ended"
    if len({view.count(key) for view in views if view.outcome.name != REHEARSAL}) == 1:
        return "rehearsal"
    calls = [call for view in views for call in view.calls.get(key, ())]
    if all(call.is_view for call in calls):
        return "view"
    forms = _forms(key, views)
    if len(forms) > 1 and len({sum(map(view.count, forms)) for view in views}) == 1:
        return "form"
    return None if any(call.inputs for call in calls) and key[0] != _TO_PYTHON else "constant"


def _forms(key: Key, views: list[_View]) -> set[Key]:
    """The operator with its other forms: ``relu.out``, ``relu_``."""
    return {other for view in views for other in view.calls if other[1] == key[1] and _base(other) == _base(key)}


def _base(key: Key) -> str:
    return key[0].partition(".")[0].removesuffix("_")


def _is_missed(row: Mapping[str, int], shown: str, cause: Cause | None) -> bool:
    """Whether an inventory lacks the operator without a good reason: the shown one above all."""
    if cause in ("view", "form") or all(row.values()):
        return False
    return not row.get(shown, 1) or cause is None


def _finding(key: Key, verdict: Verdict, row: Mapping[str, int], views: list[_View]) -> Finding:
    places: list[Location] = []
    for view in views:
        places += [call.location for call in view.calls.get(key, ()) if call.location is not None]
    facts = {
        "operator": key[0],
        "verdict": verdict,
        "seen": ", ".join(name for name, count in row.items() if count),
        "missed": ", ".join(name for name, count in row.items() if not count),
    }
    # Tracers may know modules by other names; a line is the same for all.
    lines = {(place.file, place.line): place for place in reversed(places)}
    return Finding("OPS635", facts, tuple(sorted(lines.values(), key=lambda place: (place.file, place.line))))
