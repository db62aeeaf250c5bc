"""The user's own ``releases.json``: a CANN release that the packaged one does not know, and the tables of each."""

from __future__ import annotations

from pathlib import Path

from opscan.matrix.build.writing import render
from opscan.matrix.files import SCHEMA, CannRelease, ReleasesFile, Source, load
from opscan.matrix.releases import cann_key


def with_cann_release(destination: Path, packaged: Path, release: str, socs: frozenset[str], source: str) -> bytes:
    """``releases.json`` of the user's folder, with tables of ``socs`` at a CANN release added to what it holds.

    Its entry of a release replaces the packaged one, so it repeats what that says. For other SoCs of a new release the
    tables of the releases around it answer.
    """
    known, path = load(packaged / "releases.json", ReleasesFile), destination / "releases.json"
    own = load(path, ReleasesFile) if path.is_file() else ReleasesFile(SCHEMA, (), (), (), {}, {})
    before = own.cann.get(release) or known.cann.get(release) or CannRelease(nearest=_around(known, release))
    entry = CannRelease(tuple(sorted({*before.socs, *socs})), before.nearest)
    file = ReleasesFile(
        SCHEMA,
        tuple(dict.fromkeys((*own.sources, Source(source)))),
        own.torch_npu_order,
        tuple(sorted({*own.cann_order, release}, key=cann_key)),
        own.torch_npu,
        {**own.cann, release: entry},
    )
    return render(file, ("cann", "torch_npu"))


def _around(known: ReleasesFile, release: str) -> tuple[str, ...]:
    """The packaged releases with tables just before and just after."""
    tables = sorted((r for r, entry in known.cann.items() if entry.socs), key=cann_key)
    before = [r for r in tables if cann_key(r) < cann_key(release)][-1:]
    after = [r for r in tables if cann_key(r) > cann_key(release)][:1]
    return (*before, *after)
