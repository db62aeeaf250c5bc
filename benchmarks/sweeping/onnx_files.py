"""The ONNX half: what ``onnx_zoo.py`` finds, as records. An inventory is whole where every node is listed; what else
was not seen, as the model at an older opset, is its reason.
"""

from __future__ import annotations

import importlib.metadata
import tempfile
from collections.abc import Iterator
from pathlib import Path

from onnx_zoo import Outcome, node_cases, onnx_files, outcome_of

from opscan.matrix.query import Matrix
from opscan.matrix.releases import resolve_target
from sweeping.records import Record, Section


def sweep(section: Section, given: list[Path]) -> Iterator[Record]:
    """Node cases of onnx itself, or the files that are given, in folders or wheels."""
    matrix = Matrix.load(resolve_target(None, None, None, "offline")[0])
    with tempfile.TemporaryDirectory() as folder:
        if section == "onnx-cases":
            named = ((path, path.stem) for path in node_cases(Path(folder)))
        else:
            named = ((path, path.name) for paths in given for path in onnx_files(paths, Path(folder)))
        for path, name in named:
            yield _record(section, outcome_of(path, name, matrix))


def _record(section: Section, found: Outcome) -> Record:
    return Record(
        section,
        found.name,
        "error" if found.error else "whole",
        kind=found.kind,
        reason=" ".join((found.error or next(iter(found.unseen), "").partition(":")[0]).split())[:300],
        seconds=round(found.seconds, 1),
        calls=found.calls,
        operators=found.operators,
        release=f"onnx {importlib.metadata.version('onnx')}",
    )
