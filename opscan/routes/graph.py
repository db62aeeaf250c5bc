"""The graph route: torchair's converter of the operator, then the graph-engine operators it may emit."""

from __future__ import annotations

from opscan.assessment import Evidence
from opscan.matrix.graph_engine import Acceptance, accepts
from opscan.matrix.query import Matrix
from opscan.matrix.torchair_table import TorchairTable
from opscan.routes.answer import Answer, Case, sum_up
from opscan.routes.dtypes import lacking
from opscan.verdict import Ruling

#: Graph-engine operators that converters use to convert, shape and carry their arguments.
_PLUMBING = frozenset({"Cast", "Const", "Pack", "Shape", "Fill", "BroadcastTo", "Reshape", "Identity", "Squeeze"})


def graph(matrix: Matrix, operator: str, dtype: str) -> Answer:
    """What ``operator`` on ``dtype`` meets under ``torch.compile`` with the torchair backend."""
    table = TorchairTable.load(matrix.target.torch_npu, matrix.roots)
    facts = _facts(matrix, operator, dtype)
    if table is None:
        return Answer("graph", dtype, Ruling("unknown", "OPS305", facts))
    if (absent := lacking(matrix, dtype, facts)) is not None:
        return Answer("graph", dtype, absent)
    converter = table.ops.get(operator)
    if converter is None:
        return Answer("graph", dtype, _without_converter(matrix, operator, facts))
    evidence = (Evidence("torchair", table.release, f"converter {converter.status}", converter.source),)
    if converter.status == "raises":
        return Answer("graph", dtype, Ruling("unsupported", "OPS112", facts, evidence=evidence))
    if not converter.ge:
        detail = {"detail": "no graph-engine operator was found in its converter"}
        return Answer("graph", dtype, Ruling("unknown", "OPS308", facts | detail, evidence=evidence))
    if not matrix.cann:
        return Answer("graph", dtype, Ruling("unknown", "OPS305", facts, evidence=evidence))
    emitted = [op for op in converter.ge if op not in _PLUMBING] or list(converter.ge)
    cases = tuple(Case(op, ge_ruling(matrix, op, dtype, facts, evidence)) for op in emitted)
    return Answer("graph", dtype, sum_up(cases, facts), cases)


def _without_converter(matrix: Matrix, operator: str, facts: dict[str, str]) -> Ruling:
    """A composition is taken apart before torchair sees it; anything else stops it."""
    registration = matrix.registration(operator)
    if registration is None:
        return Ruling("unknown", "OPS301", facts)
    evidence = (Evidence("torch_npu", matrix.target.torch_npu, " ".join(sorted(registration.keys))),)
    if "CompositeImplicitAutograd" in registration.keys:
        return Ruling("unknown", "OPS307", facts, evidence=evidence)
    return Ruling("unsupported", "OPS111", facts, evidence=evidence)


def ge_ruling(
    matrix: Matrix,
    ge_op: str,
    dtype: str,
    facts: dict[str, str],
    evidence: tuple[Evidence, ...] = (),
    narrows: bool = False,
) -> Ruling:
    """What the kernels of a graph-engine operator on the target's SoC make of ``dtype``.

    Where the target's CANN release has no table, the nearest ones answer, if they agree.
    """
    found = [accepts(table.ge.get(ge_op), dtype, name=ge_op, narrows=narrows) for table in matrix.cann]
    rulings = [_ruling(ge_op, a, t.release, facts, evidence) for a, t in zip(found, matrix.cann, strict=True)]
    if all(r.verdict == rulings[0].verdict for r in rulings):
        return rulings[0]
    said = "; ".join(f"{r.verdict} at CANN {t.release}" for r, t in zip(rulings, matrix.cann, strict=True))
    return Ruling("unknown", "OPS303", facts | {"api": ge_op, "parameter": "?", "detail": said}, (ge_op,), evidence)


def _ruling(ge_op: str, found: Acceptance, cann: str, facts: dict[str, str], evidence: tuple[Evidence, ...]) -> Ruling:
    evidence += tuple(Evidence("cann", cann, f"graph-engine operator {ge_op}", source) for source in found.sources)
    facts = facts | {"api": ge_op, "parameter": found.parameter, "dtype": found.dtype, "detail": found.detail}
    if found.status == "supported":
        slow = found.engine == "ai_cpu"
        return Ruling("slow" if slow else "supported", "OPS202" if slow else None, facts, (ge_op,), evidence)
    if found.status == "unsupported":
        return Ruling("unsupported", "OPS105" if found.code == "soc" else "OPS104", facts, (ge_op,), evidence)
    return Ruling("unknown", "OPS306", facts, (ge_op,), evidence)


def _facts(matrix: Matrix, operator: str, dtype: str) -> dict[str, str]:
    target = matrix.target
    return {
        "operator": operator,
        "dtypes": dtype,
        "release": target.torch_npu,
        "torch": matrix.torch_release,
        "host_torch": matrix.torch_release,
        "cann": target.cann,
        "soc": target.soc,
    }
