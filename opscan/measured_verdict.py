"""A measurement on a real NPU beside the verdict that tables give: it outranks them, and a disagreement is shown."""

from __future__ import annotations

from dataclasses import replace

from opscan.probing.judgement import Measured
from opscan.verdict import Ruling


def outranked(ruling: Ruling, measured: Measured) -> Ruling:
    """What is known of a call once it was measured.

    An operator that runs may still be slow by what tables know of it (the AI CPU, a wait for the device), for a
    measurement has nothing to compare its time with. One that did not come to an end undoes ``supported`` alone.
    """
    agree = ruling.verdict == measured.verdict or (ruling.verdict == "slow" and measured.verdict == "supported")
    undecided = measured.verdict == "unknown" and ruling.verdict != "supported"
    evidence = (measured.evidence, *ruling.evidence)
    if undecided or (agree and ruling.verdict in ("supported", "slow")):
        return replace(ruling, kernels=measured.kernels or ruling.kernels, evidence=evidence)
    conflicts = ruling.conflicts if agree or ruling.verdict == "unknown" else (*ruling.conflicts, _disagreement(ruling))
    return Ruling(
        measured.verdict, measured.rule, measured.facts, measured.kernels or ruling.kernels, evidence, conflicts
    )


def _disagreement(ruling: Ruling) -> str:
    because = f": {ruling.reason}" if ruling.reason else ""
    return f"Without the measurement on an NPU the verdict would be {ruling.verdict}{because}"
