"""``observed/<torch_npu>/<soc>.json``: which kernels each operator launches, by the dtypes of its tensors."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from opscan.matrix.build.tables import qualified, read_table
from opscan.matrix.build.writing import render
from opscan.matrix.files import SCHEMA, ObservedFile, ObservedOp, Row, Source
from opscan.matrix.launches import COPY_WORDS, split_events

RELEASE, SOC = "2.13.0", "ascend910b"
TABLES = ("observed_kernels_2.13.0_Ascend910B3", "observed_models_2.13.0_Ascend910B3")

#: Refusals of the adapter that are about dtypes. Others (shapes, in-place promotion that stock torch refuses as well,
#: sparse layouts) come from unfit sample inputs and say nothing.
_ABOUT_DTYPES = re.compile(r"should not be|only supported|not implemented for|not support|DispatchStub|expected dtype")

#: ``v`` is a value, ``0`` null or zero: both fit any parameter, so they need not be told apart.
_NULL = re.compile(r"(?<=[\[ ])0(?=[ \]])")


def build(root: Path) -> dict[str, bytes]:
    """The observed rows of every raw table, merged; phases, repetitions and the order of launches are dropped."""
    present = [name for name in TABLES if (root / "sources" / f"{name}.csv.gz").exists()]
    table = pd.concat([read_table(root, name) for name in present]).fillna("")
    ops: dict[str, dict[tuple[object, ...], Row]] = {}
    for record in table.to_dict("records"):
        row = _row(record["tensor_dtypes"], record.get("results", ""), record["outcome"], record["kernels"])
        if row is not None:
            key = (row.dtypes, row.results, frozenset(row.kernels), row.copies, row.refused)
            ops.setdefault(qualified(record["overload"]), {}).setdefault(key, row)
    entries = {name: ObservedOp(_settled(rows.values())) for name, rows in ops.items()}
    file = ObservedFile(SCHEMA, RELEASE, SOC, tuple(Source(f"{name}.csv.gz") for name in present), entries)
    return {f"observed/{RELEASE}/{SOC}.json": render(file, ("ops",))}


def _row(dtypes: str, results: str, outcome: str, kernels: str) -> Row | None:
    """One raw row; None for failures that say nothing about dtypes."""
    if outcome == "ok":
        events = split_events(_NULL.sub("v", kernels))
        launches = tuple(dict.fromkeys(event for event in events if event not in COPY_WORDS | {"H2D", "D2D"}))
        return Row(dtypes, results, launches, sum(event in COPY_WORDS for event in events))
    message = outcome.partition(": ")[2]
    if outcome.startswith("raised") and _ABOUT_DTYPES.search(message):
        return Row(dtypes, refused=message)
    return None


def _settled(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Sorted, without rows of the table that records no results where another row repeats them with results."""
    known = {(row.dtypes, frozenset(row.kernels), row.copies, row.refused) for row in rows if row.results}
    kept = [r for r in rows if r.results or (r.dtypes, frozenset(r.kernels), r.copies, r.refused) not in known]
    return tuple(sorted(kept, key=lambda r: (r.dtypes, r.results, r.kernels, r.copies, r.refused)))
