"""Tables from a source tree: a checkout or bare snapshot of CANN's operator repositories.

API pages (``docs/aclnn….md``) with the notes below their parameter tables, operator definitions, and ONNX parser
plugins, in the layouts of every release from 8.5.0 on. What has a form that is not understood is counted and left out.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from opscan.errors import UsageError
from opscan.matrix.build.cann_home.releases import with_cann_release
from opscan.matrix.build.source_tree.rows import SourceRows, read_source
from opscan.matrix.build.source_tree.tables import cann_files, onnx_table
from opscan.matrix.build.writing import render, write
from opscan.matrix.data import support_matrix_dir

__all__ = ["SourceRows", "build_source", "read_source"]


def build_source(
    directory: Path, release: str, destination: Path, progress: Callable[[str], None], packaged: Path | None = None
) -> list[Path]:
    """Write ``cann/<release>/<soc>.json`` and ``onnx/<release>.json`` of a source tree below ``destination``, and the
    release into ``releases.json`` there.

    ``packaged``: the folder of the packaged tables, which answer for what the tree lacks. Returns the files, sorted;
    what was read and what was not is told to ``progress``. Raises UsageError where ``directory`` holds no operator
    repository or one without anything to read, before anything is written.
    """
    root = packaged or support_matrix_dir()
    progress(f"reading {directory}")
    rows = read_source(directory, release)
    for name, commit in rows.trees:
        progress(f"{name} at {commit[:12] or 'no commit'}")
    for line in rows.summary.lines():
        progress(line)
    tables = cann_files(rows, release, root)
    if not tables:
        raise UsageError(
            f"{directory}: neither an API page nor an operator definition of a known SoC",
            "Give a checkout of ops-math, ops-nn, ops-cv or ops-transformer at tag v8.5.0 or later.",
        )
    files = {f"cann/{release}/{table.soc}.json": render(table, ("apis", "ge")) for table in tables}
    if rows.onnx:
        files[f"onnx/{release}.json"] = render(onnx_table(rows, release, root), ("ops",))
    names = ", ".join(f"{name} @{commit[:12]}" if commit else name for name, commit in rows.trees)
    socs = frozenset(table.soc for table in tables)
    files["releases.json"] = with_cann_release(destination, root, release, socs, f"source tree: {names}")
    for name, content in files.items():
        write(destination / name, content)
    return sorted(destination / name for name in files)
