"""One claim out of what several observed calls of an operator launched."""

from __future__ import annotations

from opscan.assessment import Evidence
from opscan.matrix.claims import KernelClaim
from opscan.matrix.files import CannFile, Row
from opscan.matrix.join import Judgement
from opscan.matrix.launches import parse_launch

#: Kernels that only move or fill memory. An operator that launches nothing else but copies to the host and back
#: computes there.
MOVES = frozenset({"aclnnInplaceCopy", "aclnnInplaceZero", "aclnnInplaceFillScalar", "aclnnCast"})


def combine(cann: CannFile, rows: tuple[Row, ...], judged: list[list[Judgement]], observation: Evidence) -> KernelClaim:
    """The claim for calls that could be any of ``rows``; ``judged`` holds the judgements of each row's launches.

    Which row a call resembles depends on argument values that are not asked about. So all must agree: what is accepted
    in one row and refused in another is unknown. Rows that launched nothing (views, empty tensors) do not count
    beside others.
    """
    telling = [(row, js) for row, js in zip(rows, judged, strict=True) if row.kernels or row.copies or row.refused]
    if not telling:
        return KernelClaim("supported", evidence=(observation,))
    worst = [_worst(row, js) for row, js in telling]
    accepted = [js for js, w in zip((js for _, js in telling), worst, strict=True) if w.status == "supported"]
    refusals = [w for w in worst if w.status == "unsupported"]
    doubts = [w for w in worst if w.status == "unknown"]
    decisive = (refusals or doubts or worst)[0]
    evidence = _evidence(cann, decisive, [j for js in judged for j in js], observation)
    kernels = tuple(dict.fromkeys(j.api for _, js in telling for j in js))
    if refusals and (accepted or doubts):
        why = f"{_why(decisive)}, but other argument values launch other kernels ({_apis(telling, worst)})"
        return KernelClaim(
            "unknown", "arguments", decisive.api, decisive.parameter, decisive.dtype, why, kernels, evidence=evidence
        )
    if decisive.status != "supported":
        return KernelClaim(
            decisive.status,
            decisive.code,
            decisive.api,
            decisive.parameter,
            decisive.dtype,
            decisive.detail + (" (for some argument values)" if accepted and decisive.detail else ""),
            kernels,
            evidence=evidence,
            conflicts=decisive.conflicts,
        )
    on_cpu = [_computes_on_cpu(row) for row, _ in telling]
    synced = [row.copies > 0 and not cpu for (row, _), cpu in zip(telling, on_cpu, strict=True)]
    detail = "some argument values are computed on the CPU" if any(on_cpu) and not all(on_cpu) else ""
    return KernelClaim(
        "supported",
        detail=detail,
        kernels=kernels,
        host_sync=all(synced),
        cpu_inside=all(on_cpu),
        ai_cpu=all(any(j.ai_cpu for j in js) for js in accepted),
        evidence=evidence,
        conflicts=tuple(dict.fromkeys(c for js in accepted for j in js for c in j.conflicts)),
    )


def _worst(row: Row, judgements: list[Judgement]) -> Judgement:
    """All launches of one call must be accepted."""
    if row.refused:
        return Judgement("unsupported", "raises", "", detail=row.refused)
    order = ("unsupported", "unknown", "supported")
    return min(judgements, key=lambda j: order.index(j.status), default=Judgement("supported", "ok", ""))


def _computes_on_cpu(row: Row) -> bool:
    """Inputs copied to the host, results copied back, and no kernel that computes in between."""
    launches = {launch.api for text in row.kernels if (launch := parse_launch(text)) is not None}
    return row.copies >= 2 and launches <= MOVES


def _why(judgement: Judgement) -> str:
    if judgement.code == "dtype":
        return f"{judgement.api} refuses {judgement.dtype} for {judgement.parameter}"
    if judgement.code == "soc":
        return f"{judgement.api} is not there on the SoC"
    return judgement.detail


def _apis(telling: list[tuple[Row, list[Judgement]]], worst: list[Judgement]) -> str:
    others = [j.api for (_, js), w in zip(telling, worst, strict=True) if w.status != "unsupported" for j in js]
    return ", ".join(dict.fromkeys(others)) or "none"


def _evidence(
    cann: CannFile, decisive: Judgement, judgements: list[Judgement], observation: Evidence
) -> tuple[Evidence, ...]:
    """The observation, the page of the API that decides, and what stood in for a missing or mistaken list."""
    found = [observation]
    page = cann.apis.get(decisive.api)
    if page is not None:
        found.append(Evidence("cann", cann.release, decisive.api, page.source))
    for release in sorted({r for j in judgements for r in j.borrowed}):
        found.append(Evidence("cann", release, f"lists that CANN {cann.release} leaves out"))
    found += [Evidence("override", ident) for ident in sorted({i for j in judgements for i in j.corrected})]
    return tuple(found)
