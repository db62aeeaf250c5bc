"""``observed/<torch_npu>/<soc>.json``: which kernels each operator launches, by the dtypes of its tensors."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pandas as pd
from msgspec.structs import replace

from opscan.matrix.build.cann import documented
from opscan.matrix.build.tables import qualified, read_table
from opscan.matrix.build.writing import render
from opscan.matrix.files import SCHEMA, ObservedFile, ObservedOp, Row, Source
from opscan.matrix.launches import COPY_WORDS, parse_launch, split_events

_NAME = re.compile(r"observed_(?:without_(?P<without>[^_]+)|[a-z]+)_(?P<release>\d[^_]*)_(?P<soc>Ascend\w+)")

#: One name that the runtime gives for two chips.
_SHARED = {"Ascend950": ("ascend950dt", "ascend950pr")}

#: A chip that launches what another one does (99.9 % of 22,052 calls, ``benchmarks/observed_inheritance.py --socs``):
#: what the other one launches on runtimes without APIs is taken for it as well.
_ALIKE = {"Ascend910_9392": "Ascend910B3"}

#: Calls whose arguments were not made for them: what they launch counts, that they raise does not.
_DERIVED = "derived"

#: Refusals of the adapter that are about dtypes. Others (shapes, in-place promotion that stock torch refuses as well,
#: sparse layouts) come from unfit sample inputs and say nothing.
_ABOUT_DTYPES = re.compile(
    r"should not be|only supported|supported only|only supports? |not implemented for|not support|surpported"
    r"|must be half|DispatchStub|expected dtype|the type of \w+ must be|should be torch\."
)

#: Such a message may be about sizes all the same: "only support D=1 && H=1".
_ABOUT_SIZES = re.compile(r"\b[A-Z]=\d")

#: ``v`` is a value, ``0`` null or zero: both fit any parameter, so they need not be told apart.
_NULL = re.compile(r"(?<=[\[ ])0(?=[ \]])")

#: On Ascend950 the first random operator of a process makes this call too, without tensors: a setting, no kernel.
_SETTING = "aclnnSetPytorchRandom["

Rows = dict[tuple[object, ...], Row]


@dataclass(frozen=True, slots=True)
class ObservedTable:
    """A raw table ``observed_<cases>_<torch_npu release>_<SoC>``; ``soc`` is what torch_npu calls it.

    ``without``: the CANN release whose undocumented APIs the runtime lacked; empty for a complete runtime.
    """

    name: str
    release: str
    soc: str
    without: str


def observed_tables(root: Path) -> tuple[ObservedTable, ...]:
    """Every raw table of observations below ``sources``, by release, then SoC, complete runtimes first."""
    names = [path.name.removesuffix(".csv.gz") for path in (root / "sources").glob("observed_*.csv.gz")]
    found = [ObservedTable(n, m["release"], m["soc"], m["without"] or "") for n in names if (m := _NAME.fullmatch(n))]
    return tuple(sorted(found, key=lambda t: (t.release, t.soc, t.without, t.name)))


def build(root: Path) -> dict[str, bytes]:
    """One file a release and SoC: the rows of its raw tables, merged; repetitions and the order of launches go."""
    files, tables = {}, observed_tables(root)
    for (release, name), own in groupby(tables, key=lambda t: (t.release, t.soc)):
        alike = (t for t in tables if t.without and (t.release, t.soc) == (release, _ALIKE.get(name)))
        given = (*own, *alike)
        for soc in soc_names(root, name):
            file = ObservedFile(
                SCHEMA, release, soc, tuple(Source(f"{t.name}.csv.gz") for t in given), _merged(root, given, soc)
            )
            files[f"observed/{release}/{soc}.json"] = render(file, ("ops",))
    return files


def soc_names(root: Path, name: str) -> tuple[str, ...]:
    """The SoCs of the matrix that torch_npu's name of a SoC stands for."""
    table = pd.read_csv(root / "sources" / "socs.csv", dtype=str, keep_default_na=False)
    return _SHARED.get(name) or tuple(table[(table["name"] == name) & (table["kind"] == "soc_name")]["soc"])


def _merged(root: Path, tables: tuple[ObservedTable, ...], soc: str) -> dict[str, ObservedOp]:
    """Rows of a runtime that lacks APIs tell of its CANN release only for operators that launch one of those."""
    ops: dict[str, Rows] = defaultdict(dict)
    for table in tables:
        if not table.without:
            for name, row in rows_of(read_table(root, table.name)):
                ops[name].setdefault(_key(row), row)
    lacking = {t.without: _missing(ops, documented(root, t.without, soc)) for t in tables if t.without}
    for table in tables:
        if table.without:
            for name, row in rows_of(read_table(root, table.name)):
                if name in lacking[table.without]:
                    row = replace(row, cann=(table.without,))
                elif table.soc != tables[0].soc:
                    continue  # another chip stands in for what this one was not seen to do, no more
                ops[name].setdefault(_key(row), row)
    return {name: ObservedOp(_settled(rows.values())) for name, rows in ops.items()}


def rows_of(table: pd.DataFrame) -> Iterator[tuple[str, Row]]:
    """Qualified overload and row, for everything in a raw table that tells something."""
    for record in table.to_dict("records"):
        if record["phase"] == _DERIVED and record["outcome"] != "ok":
            continue
        row = _row(record["tensor_dtypes"], record.get("results", ""), record["outcome"], record["kernels"])
        if row is not None:
            yield qualified(record["overload"]), row


def _row(dtypes: str, results: str, outcome: str, kernels: str) -> Row | None:
    """One raw row; None for failures that say nothing about dtypes."""
    if outcome == "ok":
        events = split_events(_NULL.sub("v", kernels).replace("-float16", "null"))
        kept = (e for e in events if e not in COPY_WORDS | {"H2D", "D2D"} and not e.startswith(_SETTING))
        launches = tuple(dict.fromkeys(kept))
        return Row(dtypes, results, launches, sum(event in COPY_WORDS for event in events))
    message = outcome.partition(": ")[2]
    if outcome.startswith("raised") and _ABOUT_DTYPES.search(message) and not _ABOUT_SIZES.search(message):
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
