"""Tables of CANN's profiler: one row a task (``op_summary_*.csv`` of msprof, ``kernel_details.csv`` of torch_npu), or
one row a type of operator (``op_statistic_*.csv``).

Columns are found by name, since every release and option adds some. msprof: ``Op Name``, ``OP Type``, ``Task Type``,
``Task Duration(us)``, ``Input Shapes``, ``Input Data Types``
(https://www.hiascend.com/document/detail/en/mindstudio/700/TITools/Profiling/atlasprofiling_16_0067.html). torch_npu
calls them ``Name``, ``Type``, ``Accelerator Core`` and ``Duration(us)``. op_statistic: ``OP Type``, ``Core Type``,
``Count``, ``Total Time(us)``. The name of a task is ``aclnnSort_SortAiCore_Sort`` where an aclnn API launched it, else
the user's name of a node, which is left out.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opscan.importing import vocabulary
from opscan.importing.collector import Collector
from opscan.importing.observations import FileKind, Key

AI_CPU = "AI_CPU"

#: Of a task whose unit the profiler did not find.
_IN_NAME = re.compile(r"_\w*?Ai(Core|Cpu|CPU)_")

#: Units that compute nothing: communication, copies between memories, events.
_COMPUTES = re.compile(r"AI_|MIX_|DSA|DVPP")


@dataclass(frozen=True, slots=True)
class Columns:
    """Where the columns of one table are; None where it has none of that name."""

    kind: FileKind
    type: int
    unit: int | None
    microseconds: int | None
    name: int | None = None
    shapes: int | None = None
    dtypes: int | None = None
    count: int | None = None


def columns_of(header: str) -> Columns | None:
    """The columns of a table of the profiler, by its first line; None for any other line."""
    if "," not in header or len(header) > 10_000:
        return None
    try:
        names = [name.strip().lower() for name in next(csv.reader([header]))]
    except (csv.Error, StopIteration):
        return None

    def at(*wanted: str) -> int | None:
        return next((names.index(name) for name in wanted if name in names), None)

    statistic, summary = at("op type"), at("op type", "type")
    if statistic is not None and at("core type") is not None and at("count") is not None:
        return Columns("op_statistic", statistic, at("core type"), at("total time(us)"), count=at("count"))
    unit, name = at("task type", "accelerator core"), at("op name", "name")
    if summary is None or unit is None or name is None:
        return None
    spent = at("task duration(us)", "duration(us)")
    return Columns("op_summary", summary, unit, spent, name, at("input shapes"), at("input data types"))


def read_table(lines: Iterator[str], columns: Columns, into: Collector) -> tuple[int, int]:
    """Count the rows below the header. Returns how many there are, and how many could not be read."""
    rows, damaged = 0, 0
    reader = csv.reader(lines)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return rows, damaged
        except csv.Error:
            rows, damaged = rows + 1, damaged + 1
            continue
        rows += 1
        if not _read_row(row, columns, into):
            damaged += 1


def _read_row(row: Sequence[str], columns: Columns, into: Collector) -> bool:
    def cell(index: int | None) -> str:
        return row[index].strip() if index is not None and index < len(row) else ""

    name, operator = cell(columns.name), vocabulary.task_type(cell(columns.type))
    kernel = vocabulary.kernel(name)
    if len(row) <= columns.type or not (operator or kernel):
        return cell(columns.type) in ("N/A", "") and len(row) > 1
    unit = vocabulary.unit(cell(columns.unit)) or _unit_in(name)
    if not _COMPUTES.match(unit):
        return True
    count = _number(cell(columns.count)) if columns.count is not None else 1.0
    into.add(
        Key(
            "ai_cpu" if unit == AI_CPU else "ran",
            operator,
            kernel,
            vocabulary.dtypes(cell(columns.dtypes)),
            unit,
        ),
        max(int(count or 1), 1),
        _number(cell(columns.microseconds)),
        vocabulary.shapes(cell(columns.shapes)),
    )
    return True


def _unit_in(name: str) -> str:
    match = _IN_NAME.search(name[:300]) if vocabulary.kernel(name) else None
    return {"Core": "AI_CORE", "Cpu": AI_CPU, "CPU": AI_CPU}[match[1]] if match else ""


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value < 1e15 else None
