"""What the graph and offline routes share: the answer of graph-engine kernels."""

from __future__ import annotations

from collections.abc import Callable

from opscan.assessment import Evidence
from opscan.matrix.graph_engine import Acceptance
from opscan.matrix.query import Matrix
from opscan.matrix.tables import CannTable
from opscan.verdict import Ruling

#: Where a kernel of either engine accepts the call.
_ENGINES = {"ai_core": "AI Core", "ai_cpu": "AI CPU", "local": "no kernel needed", "": "engine not documented"}


def ge_ruling(
    matrix: Matrix,
    ge_op: str,
    ask: Callable[[CannTable], Acceptance],
    facts: dict[str, str],
    evidence: tuple[Evidence, ...] = (),
) -> Ruling:
    """The ruling on one graph-engine operator, by what ``ask`` finds in the table of the target's CANN release.

    Where that release has no table, the nearest ones answer, if they agree.
    """
    rulings = [_ruling(ge_op, ask(table), table, facts, evidence) for table in matrix.cann]
    if all(ruling.verdict == rulings[0].verdict for ruling in rulings):
        return rulings[0]
    said = "; ".join(f"{r.verdict} at CANN {t.release}" for r, t in zip(rulings, matrix.cann, strict=True))
    facts = facts | {"api": ge_op, "parameter": "?", "dtype": facts["dtypes"], "detail": said}
    return Ruling("unknown", "OPS303", facts, (ge_op,), evidence)


def _ruling(
    ge_op: str, found: Acceptance, table: CannTable, facts: dict[str, str], evidence: tuple[Evidence, ...]
) -> Ruling:
    says = f"graph-engine operator {ge_op}, {found.detail or _ENGINES[found.engine]}"
    evidence += tuple(Evidence("cann", table.release, says, source) for source in found.sources)
    facts = facts | {"api": ge_op, "parameter": found.parameter, "dtype": found.dtype, "detail": found.detail or ge_op}
    if found.status == "supported":
        slow = found.engine == "ai_cpu"
        return Ruling("slow" if slow else "supported", "OPS202" if slow else None, facts, (ge_op,), evidence)
    if found.status == "unsupported":
        return Ruling("unsupported", "OPS105" if found.code == "soc" else "OPS104", facts, (ge_op,), evidence)
    return Ruling("unknown", "OPS306", facts, (ge_op,), evidence)
