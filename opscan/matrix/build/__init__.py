"""Building the files of the matrix from its raw tables, byte for byte the same every time.

One builder per source of evidence; each maps paths below ``support_matrix/`` to the bytes of the file.
"""

from __future__ import annotations

from pathlib import Path

from opscan.matrix.build import cann, observed, onnx, onnx_exports, releases, socs, torch_npu, torchair
from opscan.matrix.build.writing import write

BUILDERS = (
    torch_npu.build,
    torchair.build,
    observed.build,
    cann.build,
    onnx.build,
    onnx_exports.build,
    releases.build,
    socs.build,
)

#: Folders whose every file is generated; ``overrides``, ``schema`` and ``sources`` are written by people.
_GENERATED = ("torch_npu", "torchair", "observed", "cann", "onnx", "onnx_exports")


def build_all(root: Path) -> list[Path]:
    """Write every generated file below ``root`` (the folder ``support_matrix/``); returns their paths."""
    files = _render_all(root)
    for path, content in files.items():
        write(path, content)
    return sorted(files)


def check(root: Path) -> list[Path]:
    """The files that ``build_all`` would change, add, or that no builder makes any more."""
    files = _render_all(root)
    changed = {path for path, content in files.items() if not path.exists() or path.read_bytes() != content}
    stray = {path for folder in _GENERATED for path in (root / folder).rglob("*.json") if path not in files}
    return sorted(changed | stray)


def _render_all(root: Path) -> dict[Path, bytes]:
    return {root / name: content for builder in BUILDERS for name, content in builder(root).items()}
