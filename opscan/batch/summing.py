"""Many results as one: counts, the operators that stand in the way of most models, and the exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from opscan import __version__
from opscan.assessment import VERDICTS, Assessment, PersonDays, ToolInfo
from opscan.rollup import (
    SCHEMA,
    STATUSES,
    UNSCANNED,
    ModelResult,
    OperatorTally,
    RollUp,
    ScannedModel,
    SkippedFile,
    Status,
    Totals,
)

PASSED, FAILED, NOTHING, INCOMPLETE, INTERRUPTED = 0, 1, 2, 3, 130

_STATUS_OF: dict[int, Status] = {PASSED: "passed", FAILED: "failed", INCOMPLETE: "incomplete"}


def status_of(exit_code: int) -> Status:
    """How a scan with a result ended."""
    return _STATUS_OF.get(exit_code, "incomplete")


def scanned_model(assessment: Assessment) -> ScannedModel:
    calls: Counter[str] = Counter()
    for op in assessment.ops:
        calls[op.verdict] += op.count
    return ScannedModel(
        reference=assessment.model.reference,
        target=assessment.target,
        complete=assessment.trace.complete,
        summary=assessment.summary,
        calls={verdict: calls[verdict] for verdict in VERDICTS},
        error_findings=sum(finding.severity == "error" for finding in assessment.findings),
        blockers=tuple(dict.fromkeys(op.name for op in assessment.ops if op.verdict == "unsupported")),
        person_days=assessment.cost.person_days,
        recommended=assessment.routes.recommended if assessment.routes else None,
    )


def operator_tallies(assessments: Iterable[tuple[str, Assessment]]) -> tuple[OperatorTally, ...]:
    """Operators by name, verdict and rule; worst verdict first, in it those of most models, then of most calls.

    ``assessments``: with the name of the model.
    """
    calls: Counter[tuple[str, str, str | None]] = Counter()
    models: dict[tuple[str, str, str | None], dict[str, None]] = {}
    for name, assessment in assessments:
        for op in assessment.ops:
            if op.verdict != "supported":
                key = (op.name, op.verdict, op.rule)
                calls[key] += op.count
                models.setdefault(key, {})[name] = None
    tallies = [
        OperatorTally(name, verdict, rule, tuple(named), calls[name, verdict, rule])  # type: ignore[arg-type]
        for (name, verdict, rule), named in models.items()
    ]
    return tuple(
        sorted(tallies, key=lambda t: (VERDICTS.index(t.verdict), -len(t.models), -t.calls, t.name, t.rule or ""))
    )


def roll_up(
    source: str,
    models: Sequence[ModelResult],
    operators: tuple[OperatorTally, ...],
    skipped: Sequence[SkippedFile],
    interrupted: bool,
) -> RollUp:
    statuses = Counter(model.status for model in models)
    scanned = [model.scanned for model in models if model.scanned is not None]
    totals = Totals(
        models=len(models),
        statuses={status: statuses[status] for status in STATUSES},
        ops={verdict: sum(getattr(each.summary, verdict) for each in scanned) for verdict in VERDICTS},
        calls={verdict: sum(each.calls[verdict] for each in scanned) for verdict in VERDICTS},
        person_days=PersonDays(
            *(round(sum(getattr(s.person_days, part) for s in scanned), 4) for part in ("low", "likely", "high"))
        ),
    )
    return RollUp(
        schema=SCHEMA,
        tool=ToolInfo(__version__),
        source=source,
        exit_code=INTERRUPTED if interrupted else exit_code(models),
        interrupted=interrupted,
        totals=totals,
        models=tuple(models),
        operators=operators,
        skipped=tuple(skipped),
    )


def exit_code(models: Sequence[ModelResult]) -> int:
    """The worst of all. 2 where no model has a result: nothing can be said. 3 where one has none, or one that may lack
    operators: what was not seen may be worse than a failed gate, so it comes before 1.
    """
    if all(model.status in UNSCANNED for model in models):
        return NOTHING
    if any(model.status in UNSCANNED or model.status == "incomplete" for model in models):
        return INCOMPLETE
    return FAILED if any(model.status == "failed" for model in models) else PASSED
