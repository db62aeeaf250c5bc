"""The graph route: torchair's converter of the operator, then the graph-engine operators it may emit."""

from __future__ import annotations

from opscan.assessment import Evidence
from opscan.matrix.compiler_passes import with_constants
from opscan.matrix.graph_engine import Acceptance, accepts
from opscan.matrix.query import Matrix
from opscan.matrix.tables import CannTable
from opscan.matrix.torchair_table import TorchairTable
from opscan.routes.answer import Answer, Case, sum_up
from opscan.routes.conversion import Conversion, of_the_chip
from opscan.routes.dtypes import lacking, unknown_soc
from opscan.routes.ge_kernels import ge_ruling
from opscan.verdict import Ruling, facts_of

#: Graph-engine operators that converters use to convert, shape and carry their arguments.
_PLUMBING = frozenset({"Cast", "Const", "Pack", "Shape", "Fill", "BroadcastTo", "Reshape", "Identity", "Squeeze"})


def graph(matrix: Matrix, operator: str, dtype: str, conversion: Conversion | None = None) -> Answer:
    """What ``operator`` on ``dtype`` meets under ``torch.compile`` with the torchair backend.

    ``conversion``: what the arguments of one call decide of it.
    """
    table = matrix.converters
    facts = facts_of(matrix, operator, dtype, matrix.torch_release)
    if table is None:
        return Answer("graph", dtype, Ruling("unknown", "OPS305", facts))
    if (absent := unknown_soc(matrix, facts) or lacking(matrix, dtype, facts)) is not None:
        return Answer("graph", dtype, absent)
    name = _traced(table, operator)
    converter = table.ops.get(name)
    if converter is None:
        return Answer("graph", dtype, _without_converter(matrix, table, operator, facts))
    says = f"converter of {name} {converter.status}"
    evidence = (Evidence("torchair", table.release, says, converter.source),)
    if converter.status == "raises":
        detail = {"detail": "its converter only raises"}
        return Answer("graph", dtype, Ruling("unsupported", "OPS112", facts | detail, evidence=evidence))
    conversion = conversion or of_the_chip(name, matrix.target.soc)
    added = [op for op in conversion.operators if op in converter.ge]
    if conversion.refusal and added:
        return Answer(
            "graph",
            dtype,
            Ruling("unsupported", "OPS112", facts | {"detail": conversion.refusal}, evidence=evidence),
        )
    if converter.status == "decomposed":
        return Answer("graph", dtype, Ruling("unknown", "OPS307", facts, evidence=evidence))
    if not matrix.cann:
        return Answer("graph", dtype, Ruling("unknown", "OPS305", facts, evidence=evidence))
    if not converter.ge:
        detail = {"detail": "no graph-engine operator was found in its converter"}
        return Answer("graph", dtype, Ruling("unknown", "OPS308", facts | detail, evidence=evidence))
    emitted = added or [op for op in converter.ge if op not in _PLUMBING] or list(converter.ge)
    cases = tuple(Case(op, _kernel(matrix, op, conversion.dtype or dtype, facts, evidence)) for op in emitted)
    return Answer("graph", dtype, sum_up(cases, facts), cases)


def _kernel(matrix: Matrix, ge_op: str, dtype: str, facts: dict[str, str], evidence: tuple[Evidence, ...]) -> Ruling:
    def ask(table: CannTable) -> Acceptance:
        """Positions are constants where shapes are static."""
        return with_constants(table, ge_op, lambda op: accepts(table.ge.get(op), dtype, name=op))

    return ge_ruling(matrix, ge_op, ask, facts, evidence)


def _traced(table: TorchairTable, operator: str) -> str:
    """The operator that torchair sees: in-place and out variants are made functional before."""
    if _is_implemented(table, operator):
        return operator
    base, _, overload = operator.partition(".")
    candidates = [f"{base.removesuffix('_')}.{overload}" if overload else base.removesuffix("_")] * base.endswith("_")
    if overload == "out":
        candidates += [base, f"{base}.Tensor"]
    elif overload.endswith("_out"):
        candidates.append(f"{base}.{overload.removesuffix('_out')}")
    return next((name for name in candidates if _is_implemented(table, name)), operator)


def _is_implemented(table: TorchairTable, operator: str) -> bool:
    converter = table.ops.get(operator)
    return converter is not None and converter.status == "implemented"


def _without_converter(matrix: Matrix, table: TorchairTable, operator: str, facts: dict[str, str]) -> Ruling:
    """A composition is taken apart before torchair sees it; anything else stops it."""
    if table.automatic and not operator.startswith(("aten::", "prim::", "prims::")):
        detail = "torchair converts it by itself where CANN has an operator of its name"
        return Ruling("unknown", "OPS308", facts | {"detail": detail})
    registration = matrix.registration(operator)
    if registration is None:
        return Ruling("unknown", "OPS301", facts)
    evidence = (Evidence("torch_npu", matrix.target.torch_npu, " ".join(sorted(registration.keys))),)
    if "CompositeImplicitAutograd" in registration.keys:
        return Ruling("unknown", "OPS307", facts, evidence=evidence)
    return Ruling("unsupported", "OPS111", facts, evidence=evidence)
