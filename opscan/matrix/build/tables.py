"""Reading the raw tables of ``support_matrix/sources``."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd

#: The CANN release of which an installed toolkit was read: its lists are exhaustive.
INSTALLED = "8.1.RC1"

#: What the operator repositories held after the newest release; it only ever stands in for what releases leave out.
MASTER = "master"

#: CANN releases with tables, from the oldest to the newest; borrowing and conflicts follow this order.
CANN_RELEASES = (INSTALLED, "8.5.0", "9.0.0", "9.1.0", "9.2.0-beta.1", MASTER)


def read_table(root: Path, name: str) -> pd.DataFrame:
    """A raw table, every cell a string."""
    return pd.read_csv(root / "sources" / f"{name}.csv.gz", dtype=str, keep_default_na=False)


def dispatch_releases(root: Path) -> frozenset[str]:
    """The torch_npu releases whose dispatcher was read."""
    return frozenset(path.name.removesuffix(".json.gz") for path in (root / "sources" / "dispatch").glob("*.json.gz"))


def read_dispatch(root: Path, release: str) -> dict[str, list[str]]:
    """Operator → dispatch keys with an explicit kernel, as read from one torch_npu release."""
    with gzip.open(root / "sources" / "dispatch" / f"{release}.json.gz", "rt", encoding="utf-8") as file:
        dump: dict[str, Any] = json.load(file)
    return dump


def qualified(overload: str) -> str:
    """``aten.add.Tensor`` → ``aten::add.Tensor``; ``aten.addmm.default`` → ``aten::addmm``."""
    namespace, name, variant = overload.split(".", 2)
    return f"{namespace}::{name}" if variant == "default" else f"{namespace}::{name}.{variant}"
