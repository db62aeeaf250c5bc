"""Graph-engine operators that the adapter launches by the legacy path, with the inputs of their AI Core op-info."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from opscan.matrix.build.tables import OBSERVED, read_table
from opscan.matrix.files import Api, Parameter
from opscan.matrix.launches import LEGACY

#: Releases with op-info, from the oldest to the newest. Those after 8.1.RC1 are incomplete.
_RELEASES = ("8.1.RC1", "8.5.0", "9.0.0", "9.1.0")


def legacy_apis(root: Path, release: str, soc: str) -> dict[str, Api]:
    """``GE X`` → its entry, for every operator X seen in a launch: from this release, else the newest earlier one.

    Op-info that writes ``?`` for a dtype does not tell, and is passed over.
    """
    table = read_table(root, "ge_ops_ascend910b")
    table = table[(table["soc"] == soc) & (table["engine"] == "AICore")]
    found = {}
    for name in sorted(_seen(root)):
        for known in reversed(_RELEASES[: _RELEASES.index(release) + 1]):
            rows = table[(table["ge_op"] == name) & (table["cann_release"] == known)]
            if len(rows) and "=?" not in rows["dtypes"].iloc[0]:
                found[LEGACY + name] = _entry(rows.iloc[0], "" if known == release else known)
                break
    return found


def _seen(root: Path) -> set[str]:
    names: set[str] = set()
    for table in OBSERVED:
        for kernels in read_table(root, table)["kernels"]:
            names |= set(re.findall(LEGACY + r"(\w+)\[", kernels))
    return names


def _entry(row: pd.Series[str], borrowed: str) -> Api:
    inputs = [part.removeprefix("in ").partition("=") for part in row["dtypes"].split(";") if part.startswith("in ")]
    params = {name: Parameter("in", _dtypes(listed), borrowed) for name, _, listed in inputs}
    signature = tuple(("T", name) for name, _, _ in inputs)
    source = f"{row['repo']} {row['source']} @{row['commit'][:12]}"
    return Api(True, (signature,), params, borrowed=borrowed, source=source)


def _dtypes(listed: str) -> tuple[str, ...]:
    names = listed.partition(":")[0].split("|")
    return tuple(sorted({"float64" if name == "double" else name for name in names}))
