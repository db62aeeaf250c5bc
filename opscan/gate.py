"""Whether an assessment passes: the verdicts that ``--fail-on`` names, against how many operators have them."""

from __future__ import annotations

from opscan.assessment import FailOn, Gate, Summary, Verdict

#: The verdicts that fail each setting. Cumulative from unsupported to slow; an unknown operator may yet prove
#: unsupported, so ``unknown`` adds it to that one and leaves out what is known to run.
FAILING: dict[FailOn, tuple[Verdict, ...]] = {
    "unsupported": ("unsupported",),
    "fallback": ("unsupported", "fallback"),
    "slow": ("unsupported", "fallback", "slow"),
    "unknown": ("unsupported", "unknown"),
    "never": (),
}


def decide(summary: Summary, fail_on: FailOn) -> Gate:
    """Failed where any operator has a verdict that ``fail_on`` names."""
    counts: dict[Verdict, int] = {
        "unsupported": summary.unsupported,
        "fallback": summary.fallback,
        "slow": summary.slow,
        "unknown": summary.unknown,
    }
    return Gate(passed=not any(counts[verdict] for verdict in FAILING[fail_on]), fail_on=fail_on)
