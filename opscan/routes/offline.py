"""The offline route: torch's exporter, ATC's parser, then the graph-engine operators that the parser makes.

A call runs if the model of either exporter does, so the better of the two answers. ATC computes in float16 where a
kernel has no float32, unless it is told to keep dtypes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import get_args

from opscan.assessment import Evidence, Verdict
from opscan.matrix.exports_table import OBSERVED_TORCH, Export, Exporter, ExportsTable, OnnxNode
from opscan.matrix.files import OnnxOp
from opscan.matrix.graph_engine import Acceptance, accepts
from opscan.matrix.onnx_table import NEWEST_OPSET, OnnxTable, Parser
from opscan.matrix.query import Matrix
from opscan.matrix.tables import CannTable
from opscan.routes.answer import Answer, Case, sum_up
from opscan.routes.dtypes import lacking
from opscan.routes.ge_kernels import ge_ruling
from opscan.verdict import Ruling, facts_of

#: Tables are read once a process.
_onnx_table = cache(OnnxTable.load)
_exports_table = cache(ExportsTable.load)

#: Graph-engine operators with which plugins convert, shape and carry what the main ones compute.
_PLUMBING = frozenset(
    {"BroadcastTo", "Cast", "Const", "Constant", "ExpandDims", "Fill", "Identity", "Shape", "Slice", "Squeeze"}
    | {"Split", "Transpose", "TransposeD", "Unsqueeze"}
)

#: Graph-engine operators that a fusion pass replaces before kernels are chosen, and by what (empty: by several).
#: Besides, one whose sizes are constants becomes the operator of the same name with a D. Source: the names of passes in
#: ``lib64/plugin/opskernel/fusion_pass/config/fusion_config.json`` of an installed CANN 8.1.RC1 @551ed27c2928, and
#: ``math/reduce_mean/op_graph/fusion_pass/globalavgpool_fusion_pass.cpp`` of ops-math @c41933244c31.
_REWRITTEN = {
    "CommonGRU": "",
    "GlobalAveragePool": "ReduceMean",
    "GridSampler2D": "",
    "GridSampler3D": "",
    "StridedSliceV2": "StridedSliceD",
}

#: What an exporter raises because it has no translation of the operator, and because of a call's arguments. Other
#: errors come from the trace, which a whole model may pass.
_UNTRANSLATED = frozenset({"DispatchError", "UnsupportedOperatorError"})
_ARGUMENTS = "SymbolicValueError"

#: From worst to best: what decides over the operators of one model, and which exporter is the better.
_RANKS: tuple[Verdict, ...] = ("unsupported", "fallback", "unknown", "slow", "supported")


def offline(matrix: Matrix, operator: str, dtype: str, opset: int = NEWEST_OPSET) -> Answer:
    """What ``operator``, of ATen (``aten::add.Tensor``) or ONNX (``ai.onnx::Add``), meets on ``dtype`` when the model
    is exported at ``opset`` and converted by ATC.
    """
    table, facts = _table(matrix), facts_of(matrix, operator, dtype, matrix.torch_release) | {"opset": str(opset)}
    if table is None or not matrix.cann:
        return Answer("offline", dtype, Ruling("unknown", "OPS305", facts))
    if (absent := lacking(matrix, dtype, facts)) is not None:
        return Answer("offline", dtype, absent)
    if is_onnx(table, operator):
        cases = _node(matrix, table, OnnxNode(operator, (dtype,)), opset, facts)
        return Answer("offline", dtype, _all(cases), cases)
    exports = _exports_table(OBSERVED_TORCH, matrix.roots)
    if exports is None or operator not in exports:
        detail = "no call of it was exported on its own"
        return Answer("offline", dtype, Ruling("unknown", "OPS308", facts | {"detail": detail}))
    answers = [_exported(matrix, table, exports, e, opset, facts) for e in get_args(Exporter)]
    seen = [answer for answer in answers if answer.cases]
    best = max(seen or answers, key=lambda answer: _RANKS.index(answer.ruling.verdict))
    if best.ruling.rule == "OPS123" and len(seen) < len(answers):
        detail = f"{best.cases[0].name}; the other exporter was not tried on {dtype}"
        return Answer("offline", dtype, Ruling("unknown", "OPS308", facts | {"detail": detail}), best.cases)
    return best


def onnx_node(matrix: Matrix, operator: str, dtypes: tuple[str, ...], opset: int, facts: dict[str, str]) -> Ruling:
    """What one node of an ONNX model meets, whose domain the model imports at ``opset``. ``dtypes`` are those of its
    inputs, without repeats.
    """
    table = _table(matrix)
    if table is None or not matrix.cann:
        return Ruling("unknown", "OPS305", facts)
    absent = (found for dtype in dtypes if (found := lacking(matrix, dtype, facts)) is not None)
    return next(absent, None) or _all(_node(matrix, table, OnnxNode(operator, dtypes), opset, facts))


def has_offline_route(matrix: Matrix, operator: str) -> bool:
    """Whether the tables know how an operator fares in the offline route."""
    table, exports = _table(matrix), _exports_table(OBSERVED_TORCH, matrix.roots)
    return (table is not None and is_onnx(table, operator)) or (exports is not None and operator in exports)


def is_onnx(table: OnnxTable, operator: str) -> bool:
    """Whether a name is one of ONNX: ``npu::NPUMish`` is, ``npu::npu_mish`` is an operator of torch."""
    known = operator in table.ops or operator in table.later
    return known or operator.startswith(("ai.onnx", "com.microsoft", "mmdeploy"))


def _table(matrix: Matrix) -> OnnxTable | None:
    """The parser of the target's CANN release, else of the nearest one that has a table."""
    releases = (matrix.target.cann, *(table.release for table in matrix.cann))
    return next((t for release in releases if (t := _onnx_table(release, matrix.roots)) is not None), None)


def _exported(
    matrix: Matrix, table: OnnxTable, exports: ExportsTable, exporter: Exporter, opset: int, facts: dict[str, str]
) -> Answer:
    """The answer by one exporter: each way in which calls were exported is a case."""
    dtype = facts["dtypes"]
    facts = facts | {"exporter_torch": exports.release}
    cases: list[Case] = []
    outcomes = exports.exports(facts["operator"], dtype, exporter)
    for export in _telling(outcomes):
        name = f"{exporter}: {' '.join(node.name.removeprefix('ai.onnx::') for node in export.nodes) or 'nothing'}"
        evidence = (Evidence("onnx_exports", exports.release, f"exported by torch.onnx ({exporter})"),)
        if export.refused:
            cases.append(Case(f"{exporter}: refused", _refusal(export, facts, evidence)))
            continue
        parts = tuple(case for node in export.nodes for case in _node(matrix, table, node, opset, facts, evidence))
        cases.append(Case(name, _all(parts) if parts else Ruling("supported", None, facts, (), evidence)))
    if not cases:
        detail = f"it was never exported on {dtype}"
        return Answer("offline", dtype, Ruling("unknown", "OPS308", facts | {"detail": detail}))
    return Answer("offline", dtype, sum_up(tuple(cases), facts), tuple(cases))


def _telling(outcomes: tuple[Export, ...]) -> tuple[Export, ...]:
    """Where some exports succeed, failures of others that are no refusals of a translation tell nothing."""
    if all(export.refused for export in outcomes):
        return outcomes
    return tuple(export for export in outcomes if not export.refused or _refuses(export))


def _refuses(export: Export) -> bool:
    return export.refused in {*_UNTRANSLATED, _ARGUMENTS} or export.refused.startswith("opset ")


def _refusal(export: Export, facts: dict[str, str], evidence: tuple[Evidence, ...]) -> Ruling:
    if export.refused == _ARGUMENTS:
        detail = "the exporter refuses the arguments that were tried"
        return Ruling("unknown", "OPS308", facts | {"detail": detail}, (), evidence)
    if _refuses(export):
        return Ruling("unsupported", "OPS123", facts | {"detail": export.refused}, (), evidence)
    detail = f"its export alone failed with {export.refused}"
    return Ruling("unknown", "OPS308", facts | {"detail": detail}, (), evidence)


def _all(cases: tuple[Case, ...]) -> Ruling:
    """The worst ruling: every operator of a model must be converted."""
    worst = min((case.ruling for case in cases), key=lambda ruling: _RANKS.index(ruling.verdict))
    kernels = tuple(dict.fromkeys(kernel for case in cases for kernel in case.ruling.kernels))
    return Ruling(worst.verdict, worst.rule, worst.facts, kernels, worst.evidence, worst.conflicts)


def _node(
    matrix: Matrix,
    table: OnnxTable,
    node: OnnxNode,
    opset: int,
    facts: dict[str, str],
    evidence: tuple[Evidence, ...] = (),
) -> tuple[Case, ...]:
    """One ONNX operator: whether the parser reads it, then each graph-engine operator that it becomes."""
    parser = table.parser_for(node.name, opset)
    facts = facts | {"api": parser.name}
    if parser.entry is None or parser.status != "accepted":
        return (Case(parser.name, _unread(parser, table, facts, evidence)),)
    source = f"parser plugin of {parser.name}"
    if parser.entry.borrowed:
        source += f", by CANN {parser.entry.borrowed}"
    evidence += (Evidence("onnx", table.release, source, parser.entry.source),)
    main = _main(parser.entry)
    if not main:
        detail = f"which graph-engine operators {parser.name} becomes is not known"
        return (Case(parser.name, Ruling("unknown", "OPS308", facts | {"detail": detail}, (), evidence)),)
    rulings = [_kernel(matrix, ge_op, node.dtypes, parser.entry, facts, evidence) for ge_op in main]
    cases = tuple(Case(f"{parser.name} → {ge}", ruling) for ge, ruling in zip(main, rulings, strict=True))
    return (Case(parser.name, _graph(cases, facts)),) if parser.entry.subgraph else cases


def _graph(cases: tuple[Case, ...], facts: dict[str, str]) -> Ruling:
    """Of the operators that a plugin may put into its graph, which ones it does depends on the call."""
    verdicts = {case.ruling.verdict for case in cases}
    ruling = _all(cases)
    if "unsupported" in verdicts and len(verdicts) > 1:
        said = "; ".join(f"{case.name}: {case.ruling.verdict}" for case in cases)
        return Ruling("unknown", "OPS304", {**facts, "detail": said}, ruling.kernels, ruling.evidence)
    return ruling


def _unread(parser: Parser, table: OnnxTable, facts: dict[str, str], evidence: tuple[Evidence, ...]) -> Ruling:
    opsets = " ".join(map(str, parser.opsets))
    if parser.status == "none":
        evidence += (Evidence("onnx", table.release, "no parser plugin, nor at any later release"),)
        return Ruling("unsupported", "OPS121", facts, (), evidence)
    if parser.status == "opset":
        facts = facts | {"detail": opsets, "opset": str(parser.opset)}
        return Ruling("unsupported", "OPS122", facts, (), evidence)
    detail = f"ATC has a parser plugin for {parser.name} at later releases; nothing tells of CANN {table.release}"
    if parser.entry is not None:
        detail = f"CANN {parser.entry.borrowed} reads {parser.name} at opsets {opsets}; CANN {table.release} may differ"
    return Ruling("unknown", "OPS308", facts | {"detail": detail}, (), evidence)


def _main(entry: OnnxOp) -> tuple[str, ...]:
    """The graph-engine operators that decide: of a graph, those that compute, and not those for volumes."""
    computing = tuple(op for op in entry.ge if op not in _PLUMBING) if entry.subgraph else entry.ge
    images = tuple(op for op in computing if "3D" not in op)
    return images or computing or entry.ge


def _kernel(
    matrix: Matrix,
    ge_op: str,
    dtypes: tuple[str, ...],
    entry: OnnxOp,
    facts: dict[str, str],
    evidence: tuple[Evidence, ...],
) -> Ruling:
    return ge_ruling(matrix, ge_op, lambda table: _accepts(table, ge_op, dtypes, entry), facts, evidence)


def _accepts(table: CannTable, ge_op: str, dtypes: tuple[str, ...], entry: OnnxOp) -> Acceptance:
    """The kernels' answer with what only this route knows: rewriting, casts within a graph, and documents."""
    found = _documented(table, ge_op, dtypes, entry)
    if found.engine in ("ai_core", "local"):
        return found
    other = _REWRITTEN.get(ge_op, f"{ge_op}D")
    again = _documented(table, other, dtypes, entry) if other in table.ge else Acceptance("unknown")
    if again.engine == "ai_core":
        detail = f"the compiler makes it {other} where its sizes are constants"
        return replace(again, engine="", detail=detail)
    if ge_op in _REWRITTEN and (found.status == "unsupported" or found.engine == "ai_cpu"):
        return Acceptance("unknown", "undocumented", detail=f"the compiler rewrites {ge_op}", sources=found.sources)
    if found.status == "unsupported" and found.code == "dtype" and entry.subgraph and "Cast" in entry.ge:
        return Acceptance("unknown", "undocumented", detail="its plugin converts dtypes", sources=found.sources)
    return found


def _documented(table: CannTable, ge_op: str, dtypes: tuple[str, ...], entry: OnnxOp) -> Acceptance:
    """The kernels' answer; where the SoC has an AI Core kernel whose dtypes are open, that of the documents."""
    op = table.ge.get(ge_op)
    found = accepts(op, *dtypes, name=ge_op, narrows=True)
    open_core = op is not None and any(k.engine == "ai_core" and not k.experimental for k in op.kernels)
    listed = set(entry.documented) | ({"float32"} if "float16" in entry.documented else set())
    if found.engine in ("ai_core", "local") or found.status == "unsupported" or not open_core:
        return found
    if dtypes and dtypes[0] in listed and found.engine != "ai_cpu":
        return Acceptance("supported", engine="ai_core", detail="by the documents of the ONNX operator")
    return found
