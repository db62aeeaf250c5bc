"""``socs.json``: the SoCs of CANN's tables and the names under which people know them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from opscan.matrix.build.writing import render
from opscan.matrix.files import SCHEMA, Soc, SocsFile, Source


def build(root: Path) -> dict[str, bytes]:
    table = pd.read_csv(root / "sources" / "socs.csv", dtype=str, keep_default_na=False)
    socs = {}
    for soc, rows in table.groupby("soc"):
        plain = rows[(rows["kind"] != "title") & (rows["warning"] == "")]["name"]
        warned = rows[rows["warning"] != ""]
        socs[str(soc)] = Soc(
            rows[rows["kind"] == "title"]["name"].item(),
            tuple(sorted(plain)),
            dict(zip(warned["name"], warned["warning"], strict=True)),
            dict(zip(warned["name"], warned["warning_zh"], strict=True)),
        )
    return {"socs.json": render(SocsFile(SCHEMA, (Source("socs.csv"),), socs), ("socs",))}
