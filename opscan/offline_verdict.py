"""One node of an ONNX model, judged for the offline route: whether ATC's parser reads it at the model's opset, then the
graph-engine operators that it becomes, each against the target's CANN release and SoC.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from opscan.assessment import Evidence
from opscan.cuda_packages import LIBRARY
from opscan.inventory import OpCall
from opscan.matrix.errors_file import ErrorCodes
from opscan.matrix.exports_table import NO_TENSOR
from opscan.matrix.onnx_table import NEWEST_OPSET
from opscan.matrix.query import Matrix
from opscan.routes.offline import offline, onnx_node
from opscan.verdict import Ruling, facts_of

#: The code with which ATC stops, by the rule that says why.
_CODES = {"OPS104": "EZ3002", "OPS105": "EZ3003", "OPS107": "EZ3002", "OPS121": "E19010", "OPS122": "E16002"}

_error_codes = cache(ErrorCodes.load)


@dataclass(frozen=True, slots=True)
class OfflineJudge:
    """Judges the calls of one inventory of ONNX nodes. ``host_torch`` is the torch that exported it, if any did."""

    matrix: Matrix
    host_torch: str

    def call(self, call: OpCall) -> Ruling:
        """The ruling on one node, by the opset that its attributes name; on an operator of ATen, by how torch's
        exporters were seen to write it.
        """
        opset = _opset(call)
        dtypes = tuple(dict.fromkeys(call.dtypes))
        facts = facts_of(self.matrix, call.name, ", ".join(dtypes), self.host_torch) | {"opset": str(opset)}
        attributes = dict(call.attributes)
        if "onnx_export" in attributes:
            facts |= {"exporter_torch": self.host_torch, "detail": attributes["onnx_export"]}
            evidence = Evidence("onnx_exports", self.host_torch, "the export of this model failed at it")
            return Ruling("unsupported", "OPS123", facts, (), (evidence,))
        if call.name.startswith(LIBRARY):
            facts |= {"exporter_torch": self.host_torch, "detail": "a CUDA extension is no operator of torch"}
            evidence = Evidence("override", "", "ONNX has no operator for it")
            return Ruling("unsupported", "OPS123", facts, (), (evidence,))
        if "opset" not in attributes:
            return self._with_code(offline(self.matrix, call.name, dtypes[0] if dtypes else NO_TENSOR).ruling)
        ruling = onnx_node(self.matrix, call.name, dtypes, opset, facts)
        return self._with_code(ruling)

    def _with_code(self, ruling: Ruling) -> Ruling:
        """What ATC reports when it stops there: the code, and what it means."""
        code = _CODES.get(ruling.rule or "") if ruling.verdict == "unsupported" else None
        found = _error_codes().look_up(code) if code else None
        if code is None or found is None or found.entry is None:
            return ruling
        evidence = Evidence("atc", self.matrix.target.cann, f"the conversion stops with {code}: {found.entry.title.en}")
        return replace(ruling, facts=ruling.facts | {"code": code}, evidence=(*ruling.evidence, evidence))


def _opset(call: OpCall) -> int:
    told = dict(call.attributes).get("opset", "")
    return int(told) if told.isdigit() else NEWEST_OPSET
