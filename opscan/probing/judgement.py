"""What an outcome on a real NPU says of a call: it outranks what tables predict."""

from __future__ import annotations

from dataclasses import dataclass, field

from opscan.assessment import Evidence, Verdict
from opscan.probing.protocol import Outcome
from opscan.probing.signature import Signature

#: Characters of a message in a rule's fact.
_DETAIL = 300


@dataclass(frozen=True, slots=True)
class Measured:
    """A verdict with its rule and the rule's facts. ``rule`` is None where the call is supported."""

    verdict: Verdict
    rule: str | None
    evidence: Evidence
    facts: dict[str, str] = field(default_factory=dict)
    kernels: tuple[str, ...] = ()


def measured(signature: Signature, outcome: Outcome) -> Measured | None:
    """None where the outcome says nothing of the device: it was not reached, or it is simulated.

    A call that ran out of memory or of time, or lost its device, is ``unknown``: that may be the machine's state rather
    than the operator.
    """
    versions = outcome.versions
    if versions is None or versions.simulated or outcome.status == "not_run":
        return None
    evidence = Evidence("npu", versions.torch_npu, _seen(outcome), f"CANN {versions.cann} on {versions.soc}")
    facts = {
        "operator": signature.operator,
        "dtypes": ", ".join(dict.fromkeys(signature.dtypes)),
        "release": versions.torch_npu,
        "cann": versions.cann,
        "soc": versions.soc,
        "detail": _detail(outcome),
    }
    if outcome.status == "native":
        return Measured("supported", None, evidence, {}, _distinct(outcome.kernels))
    if outcome.status == "fallback":
        within = (
            {"within": signature.operator, "operator": outcome.operators[0]} if _is_within(signature, outcome) else {}
        )
        return Measured("fallback", "OPS102", evidence, {**facts, **within})
    verdict, rule = _RULES[outcome.status]
    return Measured(verdict, rule, evidence, facts, _distinct(outcome.kernels))


_RULES: dict[str, tuple[Verdict, str]] = {
    "refused": ("unsupported", "OPS106"),
    "wrong": ("unsupported", "OPS109"),
    "crashed": ("unsupported", "OPS113"),
    "timeout": ("unknown", "OPS309"),
    "out_of_memory": ("unknown", "OPS309"),
    "device_lost": ("unknown", "OPS309"),
}


def _seen(outcome: Outcome) -> str:
    parts = [outcome.status.replace("_", " ")]
    if outcome.code:
        parts.append(outcome.code)
    if outcome.latency is not None:
        parts.append(f"{outcome.latency.median:.1f} µs, median of {outcome.latency.runs}")
    if outcome.note:
        parts.append(outcome.note)
    return "; ".join(parts)


def _detail(outcome: Outcome) -> str:
    if outcome.status == "wrong" and outcome.errors is not None:
        errors = outcome.errors
        worst = [f"{errors.unequal} elements differ"] if errors.unequal else []
        worst += [f"{errors.nonfinite} elements are not finite on one side"] if errors.nonfinite else []
        worst += [f"the relative error is {errors.max_rel:.2g}"] if errors.max_rel is not None else []
        return "; ".join(worst) or outcome.message[:_DETAIL]
    words = " ".join(outcome.message.split())[:_DETAIL]
    return f"{outcome.code}: {words}" if outcome.code and outcome.code not in words else words


def _is_within(signature: Signature, outcome: Outcome) -> bool:
    """Whether another operator than the call's own fell back: ``cummax`` calls ``_cummax_helper``."""
    own = signature.operator.partition(".")[0]
    return bool(outcome.operators) and all(name.partition(".")[0] != own for name in outcome.operators)


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
