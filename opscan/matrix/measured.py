"""What calls of an operator did on a real NPU, as an answer for a call like them.

A measurement holds for its own torch_npu, CANN and SoC. A call is like it where its tensors have the same dtypes, the
same but for repeats (a list of another length, a bias left out), and its first tensor as many dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from opscan.assessment import Evidence
from opscan.matrix.claims import ClaimCode, KernelClaim
from opscan.matrix.files import Measurement
from opscan.matrix.rows import Dtypes, collapse

_LEVELS: tuple[Callable[[Dtypes], Dtypes], ...] = (tuple, collapse)

_CODES: dict[str, ClaimCode] = {"refused": "raises", "wrong": "wrong", "crashed": "crashed"}


def like(rows: Sequence[Measurement], dtypes: Dtypes, rank: int | None, cann: str) -> tuple[Measurement, ...]:
    """The measurements that tell of a call; ``rank`` None or 0 is not known."""
    here = [row for row in rows if row.cann == cann and (not rank or row.rank == rank)]
    for level in _LEVELS:
        if found := tuple(row for row in here if level(tuple(row.dtypes.split())) == level(dtypes)):
            return found
    return ()


def claim_of(rows: Sequence[Measurement], release: str, source: str) -> KernelClaim:
    """One claim out of measurements of calls that are alike. They must agree: what ran for some shapes and not for
    others is unknown.
    """
    statuses = {row.status for row in rows}
    worst = next((row for row in rows if row.status != "native"), rows[0])
    kernels = tuple(dict.fromkeys(kernel for row in rows for kernel in row.kernels))
    evidence = Evidence("npu", release, _seen(rows), source)
    found = KernelClaim("supported", kernels=kernels, evidence=(evidence,))
    if statuses == {"native"}:
        return found
    if statuses <= {"native", "fallback"}:
        detail = "some argument values are computed on the CPU" if "native" in statuses else ""
        return replace(found, cpu_inside=statuses == {"fallback"}, detail=detail)
    if statuses <= {"refused", "wrong", "crashed"}:
        return replace(found, status="unsupported", code=_CODES[worst.status], detail=worst.detail)
    why = f"{worst.call}: {worst.status} ({worst.detail}), where other calls of these dtypes ran"
    return replace(found, status="unknown", code="arguments", detail=why)


def _seen(rows: Sequence[Measurement]) -> str:
    """``measured: 3 native, 1 refused``."""
    counts = {status: sum(row.status == status for row in rows) for status in dict.fromkeys(r.status for r in rows)}
    said = ", ".join(f"{count} {status}" for status, count in counts.items())
    return f"measured on an NPU: {said}; CANN {rows[0].cann}"


def over_tables(measured: KernelClaim, tables: KernelClaim) -> KernelClaim:
    """A measurement outranks what tables say; where they say otherwise, that is shown."""
    if tables.status in ("unknown", measured.status) or measured.status == "unknown":
        return replace(measured, evidence=(*measured.evidence, *tables.evidence))
    conflict = f"measured on an NPU: {measured.status}; by the tables: {tables.status}"
    if named := (tables.detail or " ".join(filter(None, (tables.api, tables.parameter, tables.dtype)))):
        conflict += f" ({named})"
    return replace(measured, evidence=(*measured.evidence, *tables.evidence), conflicts=(conflict, *tables.conflicts))
