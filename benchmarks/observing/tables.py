"""Raw tables of observations: gzip CSV whose bytes depend on the rows only."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
from pathlib import Path

HEADER = ["phase", "overload", "tensor_dtypes", "results", "outcome", "kernels", "seen"]

Rows = list[list[str]]


def read(path: Path) -> Rows:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    if header != HEADER:
        raise SystemExit(f"{path}: columns are {', '.join(header)}")
    return rows


def write(rows: Rows, path: Path) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(rows)
    draft = path.with_name(path.name + ".draft")
    with draft.open("wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0, compresslevel=9) as file:
        file.write(text.getvalue().encode())
    os.replace(draft, path)


def united(one: Rows, other: Rows) -> Rows:
    """The rows of both; ``seen`` is the larger number."""
    seen: dict[tuple[str, ...], int] = {}
    for *key, count in (*one, *other):
        seen[tuple(key)] = max(seen.get(tuple(key), 0), int(count))
    reached = {key[1] for key in seen if key[4] == "ok"}
    kept = {key: count for key, count in seen.items() if key[0] != "derived" or key[4] == "ok" or key[1] not in reached}
    return [[*key, str(count)] for key, count in sorted(kept.items())]


def without(rows: Rows, pattern: str) -> Rows:
    """The rows in whose outcome or kernels the regular expression finds nothing."""
    return [row for row in rows if not re.search(pattern, f"{row[4]}\n{row[5]}")]


def launching(rows: Rows, reference: Rows, lacking: frozenset[str]) -> Rows:
    """What a runtime without APIs tells anew: of operators that launch one of them on a complete runtime, and of calls
    that were made on no complete runtime, because other operators stand in for those.
    """
    touched = {row[1] for row in reference if lacking & set(re.findall(r"(aclnn\w+)\[", row[5]))}
    known = {tuple(row[1:4]) for row in reference}
    return [row for row in rows if row[1] in touched or (row[4] == "ok" and tuple(row[1:4]) not in known)]
