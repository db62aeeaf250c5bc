"""Which aclnn APIs a CANN release does not have yet."""

from __future__ import annotations

from pathlib import Path

from opscan.matrix.data import find_table
from opscan.matrix.releases import cann_key
from opscan.matrix.tables import open_cann


def apis_of_later_releases(roots: tuple[Path, ...], cann: str, soc: str) -> frozenset[str]:
    """APIs whose documents begin with a later release than ``cann``: torch_npu looks for an API when it runs, and takes
    another way where CANN has none. Empty for a release without a table, of which nothing is known.
    """
    if find_table(roots, f"cann/{cann}/{soc}.json") is None:
        return frozenset()
    before: set[str] = set()
    later: set[str] = set()
    for path in {p.parent.name: p for root in roots for p in (root / "cann").glob(f"*/{soc}.json")}.values():
        table = open_cann(path)
        (later if cann_key(table.release) > cann_key(cann) else before).update(table.apis)
    return frozenset(later - before)
