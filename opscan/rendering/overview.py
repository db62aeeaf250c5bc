"""What a reader wants to know first, drawn from an assessment once for every format: headline, coverage, blockers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from opscan.assessment import VERDICTS, AssessedFinding, AssessedOp, Assessment, CheckedTracer, Substitution, Verdict

#: The state of a whole model. ``none``: no operator was seen, so nothing can be said.
State = Literal["blocked", "undecided", "slower", "clear", "none"]

#: The kind of evidence that was measured on an NPU rather than documented or simulated.
MEASURED = "npu"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of the headline: a key of ``strings.json`` and the values that fill it."""

    key: str
    values: dict[str, object]


@dataclass(frozen=True, slots=True)
class Tally:
    """Operators (entries of the assessment) and calls with one verdict."""

    verdict: Verdict
    ops: int
    calls: int


@dataclass(frozen=True, slots=True)
class AppliedSubstitution:
    """One replacement, and the operators of the model that it stands in for."""

    substitution: Substitution
    replaces: tuple[str, ...]


def state(assessment: Assessment) -> State:
    """The worst thing known. An ``unknown`` operator weighs more than a slow one: it may yet turn out to be refused."""
    summary = assessment.summary
    if summary.unsupported or error_findings(assessment):
        return "blocked"
    if not summary.ops:
        return "none"
    if summary.unknown:
        return "undecided"
    return "slower" if summary.fallback or summary.slow else "clear"


def headline(assessment: Assessment) -> list[Sentence]:
    """The verdict on the model in one sentence, then what qualifies it."""
    summary, soc = assessment.summary, assessment.target.soc
    errors = len(error_findings(assessment))
    others = len(assessment.findings) - errors
    main = state(assessment)
    key, n = f"headline.{main}", summary.unsupported
    if main == "blocked" and not summary.unsupported:
        key, n = "headline.blocked_findings", errors
    elif main == "undecided":
        n = summary.unknown
    elif main == "slower":
        n = summary.fallback + summary.slow
    elif main == "clear":
        n = summary.ops
    sentences = [Sentence(key, {"n": n, "ops": summary.ops, "soc": soc})]
    replaced = sum(_has_checked_replacement(op) for op in assessment.ops if op.verdict == "unsupported")
    if replaced:
        sentences.append(Sentence("headline.and_replaced", {"n": replaced, "of": summary.unsupported}))
    if errors and summary.unsupported:
        sentences.append(Sentence("headline.and_errors", {"n": errors}))
    if others:
        sentences.append(Sentence("headline.and_findings", {"n": others}))
    if not assessment.trace.complete:
        sentences.append(Sentence("headline.incomplete", {}))
    return sentences


def _has_checked_replacement(op: AssessedOp) -> bool:
    return any(each.supported and each.check is not None and each.check.passed for each in op.substitutions)


def tallies(assessment: Assessment) -> list[Tally]:
    """One tally a verdict, worst first, those without operators too."""
    return [
        Tally(
            verdict,
            sum(op.verdict == verdict for op in assessment.ops),
            sum(op.count for op in assessment.ops if op.verdict == verdict),
        )
        for verdict in VERDICTS
    ]


def error_findings(assessment: Assessment) -> list[AssessedFinding]:
    """Findings that stop the model, whatever its operators."""
    return [finding for finding in assessment.findings if finding.severity == "error"]


def by_severity(assessment: Assessment) -> list[AssessedFinding]:
    order = ("error", "warning", "info")
    return sorted(assessment.findings, key=lambda finding: (order.index(finding.severity), finding.rule))


def worst_first(assessment: Assessment) -> list[AssessedOp]:
    """Operators as reports list them: by verdict, then the most called first."""
    return sorted(assessment.ops, key=lambda op: (VERDICTS.index(op.verdict), -op.count, op.name, op.phase, op.dtypes))


def substitutions(assessment: Assessment) -> list[AppliedSubstitution]:
    """Every different replacement once, in the order of the operators that need it most."""
    replaces: dict[tuple[str, str], list[str]] = {}
    first: dict[tuple[str, str], Substitution] = {}
    for op in worst_first(assessment):
        for substitution in op.substitutions:
            key = (substitution.id, substitution.after)
            first.setdefault(key, substitution)
            names = replaces.setdefault(key, [])
            if op.name not in names:
                names.append(op.name)
    return [AppliedSubstitution(first[key], tuple(names)) for key, names in replaces.items()]


def tracer_result(tracer: CheckedTracer) -> Literal["whole", "path", "ended", "none"]:
    """How far a tracer of a cross-check came."""
    if tracer.ops is None:
        return "none"
    if not tracer.ok:
        return "ended"
    return "whole" if tracer.complete else "path"


def measured(assessment: Assessment) -> int:
    """How many operators were judged by a measurement on an NPU."""
    return sum(any(item.kind == MEASURED for item in op.evidence) for op in assessment.ops)


def dtypes(op: AssessedOp) -> str:
    """``float32 ×3, int64``: runs of one dtype are counted, since ``cat`` and its like take any number of tensors."""
    runs = ((dtype, len(list(run))) for dtype, run in groupby(op.dtypes))
    return ", ".join(f"{dtype} ×{length}" if length > 1 else dtype for dtype, length in runs)


def percent(part: int, whole: int) -> str:
    """A share with one decimal, cut rather than rounded: 999 of 1,000 must not read as all, nor 1 of 10,000 as none."""
    if not whole:
        return "–"
    if part in (0, whole):
        return f"{100 * part // whole}%"
    tenths = 1000 * part // whole
    return f"{tenths / 10:.1f}%" if tenths else "< 0.1%"


def days(value: float) -> str:
    """Person-days with at most two decimals: ``0.5``, ``12``."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def error_size(value: float | None) -> str:
    """A numeric error or tolerance as ``1.2e-07``, in any language."""
    if value is None or not math.isfinite(value):
        return "inf/NaN"
    return f"{value:.1e}" if value else "0"
