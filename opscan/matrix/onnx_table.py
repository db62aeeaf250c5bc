"""Asking which ONNX operators the parser of a CANN release accepts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from opscan.matrix.data import find_table, matrix_roots
from opscan.matrix.files import OnnxFile, OnnxOp, load

#: The newest opset of the standard domain that any release registers plugins for (two of Ascend's own go further).
NEWEST_OPSET = 18

#: The domain of the standard operators, which a model may also leave empty.
STANDARD = "ai.onnx"


@dataclass(frozen=True, slots=True)
class Parser:
    """Whether ATC reads an operator at an opset.

    ``accepted``: a plugin is registered for it. ``opset``: plugins are registered, for ``opsets`` only.
    ``doubtful``: the same, but the list is another release's. ``none``: there is no plugin, at this release or a later
    one. ``unknown``: later releases have one, and nothing tells of this one.
    """

    status: Literal["accepted", "opset", "doubtful", "none", "unknown"]
    name: str
    opset: int
    entry: OnnxOp | None = None

    @property
    def opsets(self) -> tuple[int, ...]:
        """The opsets that plugins are registered for."""
        return self.entry.opsets if self.entry else ()


@dataclass(frozen=True, slots=True)
class OnnxTable:
    """The parser of one CANN release."""

    release: str
    ops: dict[str, OnnxOp]
    later: frozenset[str] = frozenset()

    @classmethod
    def load(cls, cann: str, roots: tuple[Path, ...] | None = None) -> OnnxTable | None:
        """The table of a CANN release, the user's own before the built-in one; None where there is none.

        Raises MatrixError for a damaged file.
        """
        path = find_table(matrix_roots() if roots is None else roots, f"onnx/{cann}.json")
        if path is None:
            return None
        file = load(path, OnnxFile)
        return cls(file.release, file.ops, frozenset(file.later))

    def parser_for(self, name: str, opset: int = NEWEST_OPSET) -> Parser:
        """Whether the parser accepts ``domain::op`` in a model that imports ``opset`` of the operator's domain.

        ``opset`` counts for the standard domain; another domain has versions of its own, registered as 1.
        """
        name = canonical(name)
        domain = name.partition("::")[0]
        entry = self.ops.get(name)
        version = opset if domain == STANDARD else 1
        if entry is None:
            return Parser("unknown" if name in self.later else "none", name, version)
        if version in entry.opsets:
            return Parser("accepted", name, version, entry)
        return Parser("doubtful" if entry.borrowed and version <= NEWEST_OPSET else "opset", name, version, entry)


def canonical(name: str) -> str:
    """``Resize`` and ``::Resize`` → ``ai.onnx::Resize``: an empty domain is the standard one."""
    domain, _, op = name.rpartition("::")
    return f"{domain or STANDARD}::{op}"
