"""What was observed, beside what a scan of the model had said: confirmed, contradicted, or decided.

Only what can be laid side by side is compared: an operator by its name; a kernel by its API and, where both sides name
them, by the dtype of the first argument. Operators that the log does not speak of are counted, not judged: a warning
comes once a process, and a table may be of another part of the model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from opscan.assessment import VERDICTS, AssessedOp, Assessment, Verdict
from opscan.importing.observations import Imported, Kind, Observation
from opscan.matrix.errors_file import ErrorCodes
from opscan.target import Target

#: ``decided``: the scan had left it open. ``unforeseen``: the scan has no such operator.
Outcome = Literal["contradicted", "decided", "unforeseen", "confirmed"]

OUTCOMES: tuple[Outcome, ...] = ("contradicted", "decided", "unforeseen", "confirmed")

#: The verdict that an observation amounts to.
_MEANS: dict[Kind, Verdict] = {
    "fallback": "fallback",
    "no_parser": "unsupported",
    "no_kernel": "unsupported",
    "refused": "unsupported",
    "ai_cpu": "slow",
    "ran": "supported",
}

#: The rule of operators that compute on the AI CPU.
_ON_AI_CPU = "OPS202"


@dataclass(frozen=True, slots=True)
class Compared:
    """``operator``: of the scan, or where it has none, as the log names it. ``said``: its verdict, None where it has
    none. ``observed`` and ``means``: the kind of observation, and the verdict that it amounts to.
    """

    operator: str
    dtypes: tuple[str, ...]
    said: Verdict | None
    rule: str | None
    observed: Kind
    means: Verdict
    kernel: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Comparison:
    """``target``: of the scan; the log does not say its own. ``silent``: operators of the scan, by verdict, of which
    the log says nothing.
    """

    target: Target
    results: tuple[Compared, ...]
    silent: dict[str, int]

    @property
    def contradicted(self) -> bool:
        return any(each.outcome == "contradicted" for each in self.results)


def compare(imported: Imported, assessment: Assessment, codes: ErrorCodes) -> Comparison:
    elsewhere = ("fallback", "refused") if assessment.target.route == "offline" else ("no_parser",)
    relevant = [o for o in imported.observations if o.kind not in elsewhere and _speaks_of_coverage(o, codes)]
    on_ai_cpu = {each.kernel for each in relevant if each.kind == "ai_cpu" and each.kernel}
    results: dict[Compared, None] = {}
    touched: set[int] = set()
    for observation in relevant:
        if observation.kind == "ran" and observation.kernel in on_ai_cpu:
            continue  # casts and copies around the task on the AI CPU
        matched = list(_matching(observation, assessment.ops))
        touched.update(index for index, _ in matched)
        for each in _judge(observation, [op for _, op in matched]):
            results[each] = None
    silent = {
        str(verdict): sum(op.verdict == verdict and n not in touched for n, op in enumerate(assessment.ops))
        for verdict in VERDICTS
    }
    ordered = sorted(results, key=lambda each: (OUTCOMES.index(each.outcome), each.operator, each.dtypes, each.kernel))
    return Comparison(assessment.target, tuple(ordered), silent)


def _speaks_of_coverage(observation: Observation, codes: ErrorCodes) -> bool:
    """A call that failed for want of memory, say, does not tell whether the operator is supported."""
    if observation.kind != "refused" or observation.dtypes:
        return True
    found = codes.look_up(observation.code) if observation.code else None
    known = (found.entry or found.family) if found else None
    return known is not None and known.about == "coverage"


def _matching(observation: Observation, ops: Iterable[AssessedOp]) -> list[tuple[int, AssessedOp]]:
    numbered = list(enumerate(ops))
    if observation.kernel:
        return [(n, op) for n, op in numbered if observation.kernel in _kernels(op) and _same_dtype(observation, op)]
    exact = [(n, op) for n, op in numbered if op.name == observation.operator]
    if exact or "::" not in observation.operator:
        # A type of the graph engine is a kernel of the graph and offline routes, and mostly the name of an API, too.
        named = {observation.operator.lower(), f"aclnn{observation.operator}".lower()}
        return exact or [(n, op) for n, op in numbered if named & {kernel.lower() for kernel in _kernels(op)}]
    base = _base(observation.operator)
    return [(n, op) for n, op in numbered if _base(op.name) == base]


def _kernels(op: AssessedOp) -> set[str]:
    return {*op.kernels, *(launch.api for launch in op.launches)}


def _same_dtype(observation: Observation, op: AssessedOp) -> bool:
    return not observation.dtypes or not op.dtypes or observation.dtypes[0] in op.dtypes


def _base(name: str) -> str:
    """``aten::add`` of ``aten::add.out``: the overload that falls back is not always the one that is called."""
    namespace, _, rest = name.partition("::")
    return f"{namespace}::{rest.partition('.')[0]}"


def _judge(observation: Observation, ops: list[AssessedOp]) -> Iterable[Compared]:
    """One result where some operator agrees, else one for each that does not: a kernel may serve several operators,
    and only one of them need have launched it.
    """
    means = _MEANS[observation.kind]
    if not ops:
        if observation.kind != "ran":
            yield _compared(observation, None, "unforeseen")
        return
    agreeing = [op for op in ops if _agrees(observation, op)]
    if agreeing:
        yield from (_compared(observation, op, "confirmed") for op in agreeing)
        return
    if means == "supported" and not observation.dtypes:
        return  # which dtype ran is not known
    for op in ops:
        yield _compared(observation, op, "decided" if op.verdict == "unknown" else "contradicted")


def _agrees(observation: Observation, op: AssessedOp) -> bool:
    if observation.kind == "ran":
        # Slow for another reason than the AI CPU, waiting for the host, say, is no matter of the unit.
        return op.verdict == "supported" or (op.verdict == "slow" and op.rule != _ON_AI_CPU)
    return op.verdict == _MEANS[observation.kind]


def _compared(observation: Observation, op: AssessedOp | None, outcome: Outcome) -> Compared:
    return Compared(
        op.name if op else observation.operator or observation.kernel,
        op.dtypes if op else observation.dtypes,
        op.verdict if op else None,
        op.rule if op else None,
        observation.kind,
        _MEANS[observation.kind],
        observation.kernel,
        outcome,
    )
