"""What torch's ONNX exporters make of an ATen overload."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from opscan.matrix.data import find_table, matrix_roots
from opscan.matrix.files import Exported, ExportedOp, load
from opscan.matrix.tables import Entries

#: ``torchscript`` is ``torch.onnx.export(…, dynamo=False)``.
Exporter = Literal["dynamo", "torchscript"]

#: What the table lists calls without tensors under.
NO_TENSOR = "none"

#: The torch release whose exporters were observed; answers for other releases are by it.
OBSERVED_TORCH = "2.13.0"


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """One ONNX operator of an exported call, with the dtypes of its inputs without repeats (empty: not known)."""

    name: str
    dtypes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Export:
    """One outcome of exporting a call. No nodes: constants or the inputs themselves are left."""

    nodes: tuple[OnnxNode, ...]
    refused: str = ""


@dataclass(frozen=True, slots=True)
class ExportsTable:
    """The exporters of one torch release."""

    release: str
    opset: int
    ops: Entries[ExportedOp]

    @classmethod
    def load(cls, torch: str = OBSERVED_TORCH, roots: tuple[Path, ...] | None = None) -> ExportsTable | None:
        """The table of a torch release, the user's own before the built-in one; None where there is none.

        Raises MatrixError for a damaged file.
        """
        path = find_table(matrix_roots() if roots is None else roots, f"onnx_exports/{torch}.json")
        if path is None:
            return None
        file = load(path, _Exports)
        return cls(file.release, file.opset, Entries(path, "ops", ExportedOp, file.ops))

    def __contains__(self, overload: str) -> bool:
        return overload in self.ops or _out_of_place(overload) in self.ops

    def exports(self, overload: str, dtype: str, exporter: Exporter) -> tuple[Export, ...]:
        """The distinct outcomes for calls whose data is of ``dtype``; empty where none was observed.

        A call in place is exported as the one that it stands for: ``aten::add_.Tensor`` as ``aten::add.Tensor``. Where
        some calls leave operators, those that leave none (sums over no dimension, say) tell nothing. Calls without
        tensors count for every dtype.
        """
        for name in dict.fromkeys((overload, _out_of_place(overload))):
            entry = self.ops.get(name)
            rows: tuple[Exported, ...] = getattr(entry, exporter) if entry else ()
            told = [row for row in rows if {dtype, NO_TENSOR} & set(row.dtypes)]
            found = [Export(tuple(_node(op, dtype) for op in row.ops), row.refused) for row in told]
            if found:
                return tuple(e for e in found if e.nodes or e.refused) or tuple(found)
        return ()


def _node(text: str, dtype: str) -> OnnxNode:
    """``ai.onnx::Where[bool,T]`` for data of ``dtype``."""
    name, _, listed = text.removesuffix("]").partition("[")
    dtypes = tuple(dtype if word == "T" else word for word in listed.split(",") if word not in ("", "?"))
    return OnnxNode(name, dtypes)


def _out_of_place(overload: str) -> str:
    base, dot, variant = overload.partition(".")
    return base.removesuffix("_") + dot + variant


class _Exports(msgspec.Struct, frozen=True):
    release: str
    opset: int
    ops: dict[str, msgspec.Raw]
