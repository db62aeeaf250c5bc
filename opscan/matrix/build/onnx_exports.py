"""``onnx_exports/<torch>.json``: what torch's ONNX exporters make of each ATen overload, as observed."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from opscan.matrix.build.tables import read_table
from opscan.matrix.build.writing import render
from opscan.matrix.exports_table import NO_TENSOR
from opscan.matrix.files import SCHEMA, Exported, ExportedOp, ExportsFile, Source

#: The torch release whose exporters were observed, and the opset that they were asked for.
RELEASE, OPSET = "2.13.0", 18

_TABLE = f"onnx_exports_{RELEASE}"
_NAMESPACES = ("aten::", "quantized::", "torchvision::")
_FLOATING = frozenset({"float16", "float32", "bfloat16", "float64"})

#: The TorchScript exporter has no translation of the function that was called. Where the overload has others, it was
#: called by an alias.
_UNTRANSLATED = "UnsupportedOperatorError"

#: (ONNX operators, refusal) → dtypes of the data
_Outcomes = dict[tuple[tuple[str, ...], str], set[str]]


def build(root: Path) -> dict[str, bytes]:
    """Calls that differ in the dtype of their data only are one entry."""
    found: dict[str, dict[str, _Outcomes]] = defaultdict(lambda: defaultdict(lambda: defaultdict(set)))
    table = read_table(root, _TABLE)
    for row in table[table["overload"].str.startswith(_NAMESPACES)].to_dict("records"):
        data = _data(row["dtypes"].split())
        ops = tuple(sorted({_generic(op, data) for op in row["onnx_ops"].split()}))
        refused = row["outcome"].removeprefix("refused: ") if row["outcome"] != "ok" else ""
        if row["opset"] != str(OPSET):
            refused = f"opset {row['opset']}"
        found[row["overload"]][row["exporter"]][ops, refused].add(data)
    entries = {
        name: ExportedOp(_entries(by_exporter["torchscript"]), _entries(by_exporter["dynamo"]))
        for name, by_exporter in found.items()
    }
    file = ExportsFile(SCHEMA, RELEASE, OPSET, (Source(f"{_TABLE}.csv.gz"),), entries)
    return {f"onnx_exports/{RELEASE}.json": render(file, ("ops",))}


def _data(dtypes: list[str]) -> str:
    """The dtype that a call computes in: of its tensors a floating-point one, else one that is no mask."""
    for tier in (_FLOATING, frozenset(dtypes) - {"bool"}, frozenset(dtypes)):
        if found := [dtype for dtype in dtypes if dtype in tier]:
            return found[0]
    return NO_TENSOR


def _generic(op: str, data: str) -> str:
    """``ai.onnx::Where[bool,float32]`` for data of float32 → ``ai.onnx::Where[bool,T]``."""
    return re.sub(rf"(?<=[\[,]){data}(?=[,\]])", "T", op)


def _entries(outcomes: _Outcomes) -> tuple[Exported, ...]:
    translated = any(not refused for _, refused in outcomes)
    entries = [
        Exported(tuple(sorted(dtypes)), *outcome)
        for outcome, dtypes in outcomes.items()
        if not (translated and outcome[1] == _UNTRANSLATED)
    ]
    return tuple(sorted(entries, key=lambda e: (e.refused, e.ops)))
