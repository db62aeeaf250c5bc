"""``observed/<torch_npu>/<soc>.json``: which kernels each operator launches, by the dtypes of its tensors."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd
from msgspec.structs import replace

from opscan.matrix.build.cann import documented
from opscan.matrix.build.tables import OBSERVED_COMPLETE, OBSERVED_WITHOUT, qualified, read_table
from opscan.matrix.build.writing import render
from opscan.matrix.files import SCHEMA, ObservedFile, ObservedOp, Row, Source
from opscan.matrix.launches import COPY_WORDS, parse_launch, split_events

RELEASE, SOC = "2.13.0", "ascend910b"

#: Refusals of the adapter that are about dtypes. Others (shapes, in-place promotion that stock torch refuses as well,
#: sparse layouts) come from unfit sample inputs and say nothing.
_ABOUT_DTYPES = re.compile(
    r"should not be|only supported|supported only|only support |not implemented for|not support|surpported"
    r"|must be half|DispatchStub|expected dtype"
)

#: ``v`` is a value, ``0`` null or zero: both fit any parameter, so they need not be told apart.
_NULL = re.compile(r"(?<=[\[ ])0(?=[ \]])")

Rows = dict[tuple[object, ...], Row]


def build(root: Path) -> dict[str, bytes]:
    """The observed rows of every raw table, merged; phases, repetitions and the order of launches are dropped."""
    ops: dict[str, Rows] = defaultdict(dict)
    for table in OBSERVED_COMPLETE:
        for name, row in _rows(read_table(root, table)):
            ops[name].setdefault(_key(row), row)
    for cann, table in OBSERVED_WITHOUT.items():
        missing = _missing(ops, documented(root, cann, SOC))
        for name, row in _rows(read_table(root, table), cann):
            if name in missing or name not in ops:
                ops[name].setdefault(_key(row), row)
    entries = {name: ObservedOp(_settled(rows.values())) for name, rows in ops.items()}
    sources = tuple(Source(f"{name}.csv.gz") for name in (*OBSERVED_COMPLETE, *OBSERVED_WITHOUT.values()))
    file = ObservedFile(SCHEMA, RELEASE, SOC, sources, entries)
    return {f"observed/{RELEASE}/{SOC}.json": render(file, ("ops",))}


def _rows(table: pd.DataFrame, *cann: str) -> Iterator[tuple[str, Row]]:
    for record in table.to_dict("records"):
        row = _row(record["tensor_dtypes"], record.get("results", ""), record["outcome"], record["kernels"])
        if row is not None:
            yield qualified(record["overload"]), replace(row, cann=cann)


def _row(dtypes: str, results: str, outcome: str, kernels: str) -> Row | None:
    """One raw row; None for failures that say nothing about dtypes."""
    if outcome == "ok":
        events = split_events(_NULL.sub("v", kernels).replace("-float16", "null"))
        launches = tuple(dict.fromkeys(event for event in events if event not in COPY_WORDS | {"H2D", "D2D"}))
        return Row(dtypes, results, launches, sum(event in COPY_WORDS for event in events))
    message = outcome.partition(": ")[2]
    if outcome.startswith("raised") and _ABOUT_DTYPES.search(message):
        return Row(dtypes, results, refused=message.strip())
    return None


def _key(row: Row) -> tuple[object, ...]:
    return row.dtypes, row.results, frozenset(row.kernels), row.copies, row.refused, row.cann


def _missing(ops: dict[str, Rows], documented: frozenset[str]) -> frozenset[str]:
    """Operators that were seen to launch an API which a CANN release does not document."""
    return frozenset(
        name
        for name, rows in ops.items()
        for row in rows.values()
        for text in row.kernels
        if (launch := parse_launch(text)) and launch.api.startswith("aclnn") and launch.api not in documented
    )


def _settled(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Sorted, without rows of the table that records no results where another row repeats them with results."""
    rows = tuple(rows)
    known = {_key(replace(row, results="")) for row in rows if row.results}
    kept = [row for row in rows if row.results or _key(row) not in known]
    return tuple(sorted(kept, key=lambda r: (r.cann, r.dtypes, r.results, r.kernels, r.copies, r.refused)))
