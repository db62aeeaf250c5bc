"""One claim out of what several observed calls of an operator launched."""

from __future__ import annotations

from dataclasses import dataclass

from opscan.assessment import Evidence
from opscan.matrix.claims import KernelClaim
from opscan.matrix.files import Row
from opscan.matrix.join import Judgement
from opscan.matrix.launches import LEGACY, parse_launch
from opscan.matrix.tables import CannTable

#: Kernels that only move or fill memory. An operator that launches nothing else but copies to the host and back
#: computes there.
MOVES = frozenset({"aclnnInplaceCopy", "aclnnInplaceZero", "aclnnInplaceFillScalar", "aclnnCast"})


#: Rows with the judgements of their launches.
Judged = list[tuple[Row, list[Judgement]]]


@dataclass(frozen=True, slots=True)
class Grounds:
    """What a claim can cite: the observation, the CANN table, and the reviewed corrections by id."""

    observation: Evidence
    cann: CannTable
    corrections: dict[str, Evidence]


def combine(rows: tuple[Row, ...], judged: list[list[Judgement]], grounds: Grounds) -> KernelClaim:
    """The claim for calls that could be any of ``rows``; ``judged`` holds the judgements of each row's launches.

    Which row a call resembles depends on argument values that are not asked about. So all must agree: what is accepted
    in one row and refused in another is unknown.
    """
    telling = _telling(rows, judged)
    if not telling:
        return KernelClaim("supported", evidence=(grounds.observation,))
    worst = [_worst(row, js) for row, js in telling]
    refusals = [w for w in worst if w.status == "unsupported"]
    doubts = [w for w in worst if w.status == "unknown"]
    decisive = (refusals or doubts or worst)[0]
    evidence = _evidence(decisive, [j for js in judged for j in js], grounds)
    kernels = tuple(dict.fromkeys(j.api for _, js in telling for j in js))
    if not refusals and not doubts:
        return _accepted(telling, kernels, evidence)
    named = (decisive.api, decisive.parameter, decisive.dtype)
    if refusals and len(refusals) < len(worst):
        why = f"{_why(decisive)}, but other argument values launch other kernels ({_apis(telling, worst)})"
        return KernelClaim("unknown", "arguments", *named, why, kernels, evidence=evidence)
    partly = " (for some argument values)" if len(doubts) < len(worst) and doubts and decisive.detail else ""
    detail = decisive.detail + partly
    return KernelClaim(
        decisive.status, decisive.code, *named, detail, kernels, evidence=evidence, conflicts=decisive.conflicts
    )


def _accepted(telling: Judged, kernels: tuple[str, ...], evidence: tuple[Evidence, ...]) -> KernelClaim:
    """A claim for calls that are all accepted, with what makes them slow."""
    on_cpu = [_computes_on_cpu(row) for row, _ in telling]
    detail = "some argument values are computed on the CPU" if any(on_cpu) and not all(on_cpu) else ""
    slow = _on_ai_cpu([js for _, js in telling])
    return KernelClaim(
        "supported",
        api=slow.api if slow else "",
        detail=f"{slow.api} ({slow.ai_cpu})" if slow else detail,
        kernels=kernels,
        host_sync=all(row.copies > 0 and not cpu for (row, _), cpu in zip(telling, on_cpu, strict=True)),
        cpu_inside=all(on_cpu),
        ai_cpu=slow is not None,
        evidence=evidence,
        conflicts=tuple(dict.fromkeys(c for _, js in telling for j in js for c in j.conflicts)),
    )


def _telling(rows: tuple[Row, ...], judged: list[list[Judgement]]) -> Judged:
    """The rows that count: those that compute; else those that wait for one copy (``item``, a move between devices).

    Views and empty tensors launch nothing; beside calls that compute, they and moves between devices say nothing.
    """
    pairs = list(zip(rows, judged, strict=True))
    computing = [(row, js) for row, js in pairs if computes(row)]
    return computing or [(row, js) for row, js in pairs if row.copies]


def computes(row: Row) -> bool:
    """Whether the calls of a row did more than to make a view or to move a tensor between devices."""
    return bool(row.kernels or row.refused or row.copies >= 2)


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


def _apis(telling: Judged, worst: list[Judgement]) -> str:
    others = [j.api for (_, js), w in zip(telling, worst, strict=True) if w.status != "unsupported" for j in js]
    return ", ".join(dict.fromkeys(others)) or "none"


def _on_ai_cpu(judged: list[list[Judgement]]) -> Judgement | None:
    """A launch on the AI CPU, where every call that launches kernels has one; plain copies do not count."""
    slow = [[j for j in judgements if j.ai_cpu] for judgements in judged if judgements]
    return slow[0][0] if slow and all(slow) else None


def _evidence(decisive: Judgement, judgements: list[Judgement], grounds: Grounds) -> tuple[Evidence, ...]:
    """The observation, the page of the API that decides, and what stood in for a missing or mistaken list."""
    found, cann = [grounds.observation], grounds.cann
    if source := _page(decisive.api, cann):
        found.append(Evidence("cann", cann.release, decisive.api + _note(decisive, cann), source))
    for release in sorted({r for j in judgements for r in j.borrowed}):
        found.append(Evidence("cann", release, f"lists that CANN {cann.release} leaves out"))
    found += [grounds.corrections[ident] for ident in sorted({i for j in judgements for i in j.corrected})]
    return tuple(found)


def _note(decisive: Judgement, cann: CannTable) -> str:
    """That the table of the page lists what is refused, so that its reader looks further down."""
    api = cann.apis.get(decisive.api)
    parameter = api.params.get(decisive.parameter) if api else None
    if parameter is None or decisive.dtype not in parameter.excluded:
        return ""
    return f": the table lists {decisive.dtype} for {decisive.parameter}, and a note below it excludes it on {cann.soc}"


def _page(api: str, cann: CannTable) -> str:
    """The source of what the table says of an API, or of a graph-engine operator's first kernel."""
    if not api.startswith(LEGACY):
        page = cann.apis.get(api)
        return page.source if page else ""
    op = cann.ge.get(api.removeprefix(LEGACY))
    return "" if op is None else next((k.source for k in op.kernels), op.source)
