"""Which dtypes an aclnn API computes on the AI CPU: on the device, but slowly.

CANN's operator sources hold, for each API, the operators that it launches and on which conditions each of them runs on
the AI Core. A dtype counts where every way through these conditions that a tensor of it can take ends on the AI CPU;
where shapes or modes decide it does not, since slowness is then not sure.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from opscan.matrix.build.tables import CANN_RELEASES, INSTALLED, read_table

#: APIs that convert between dtypes.
CONVERTERS = ("aclnnCast", "aclnnInplaceCopy")


def ai_cpu_dtypes(root: Path, release: str, soc: str) -> dict[str, frozenset[str]]:
    """API → dtypes that only the AI CPU computes at a CANN release on a SoC. What is not in it is fast or not known."""
    own = _own(read_table(root, "aclnn_engines"), release, soc)
    lists = zip(own["aclnn_api"], own["ai_cpu"], strict=True)
    return {api: frozenset(dtypes.split("|")) for api, dtypes in lists if dtypes}


def ai_core_casts(root: Path, release: str, soc: str) -> tuple[tuple[str, str], ...]:
    """(from, to) pairs that the AI Core converts at a CANN release on a SoC; empty where no list is known."""
    own = _own(read_table(root, "aicore_casts"), release, soc)
    return tuple(sorted(zip(own["from"], own["to"], strict=True)))


def _own(table: pd.DataFrame, release: str, soc: str) -> pd.DataFrame:
    """The rows of a release and SoC; the sources do not tell the two Ascend 950 chips apart.

    The installed release came before the sources: what is left to the AI CPU after it was so then.
    """
    chip = "ascend950" if soc.startswith("ascend950") else soc
    read = CANN_RELEASES[CANN_RELEASES.index(INSTALLED) + 1] if release == INSTALLED else release
    return table[(table["cann_release"] == read) & (table["soc"] == chip)]
