#!/usr/bin/env python3
"""How many registered overloads the raw tables of observations tell of, by namespace and kind.

    python benchmarks/observed_coverage.py [--torch-npu 2.13.0] [--soc Ascend910B3] [--list]
    python benchmarks/observed_coverage.py --lacking 9.1.0 [--torch-npu …] [--soc …]

``rows``: some call came back, or the adapter refused dtypes. ``reason``: none did, and a raw table says why (the
adapter's complaint about arguments, a crash, no schema, several devices needed). ``--list`` names those without rows.
``--lacking`` lists the aclnn APIs that were launched and that a CANN release does not have, as far as is known.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from opscan.matrix.build.cann import documented
from opscan.matrix.build.observed import observed_tables, rows_of, soc_names
from opscan.matrix.build.tables import qualified, read_dispatch, read_table
from opscan.matrix.data import support_matrix_dir

_OUT = re.compile(
    r"\.(\w*out(_mode)?|grad_input|values(_stable)?|output|[XU]|dim_m(ax|in)|dim_values|Out\w+|correction_out)$"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch-npu", default="2.13.0", metavar="RELEASE")
    parser.add_argument("--soc", default="Ascend910B3", help="torch_npu's name, as in the names of raw tables")
    parser.add_argument("--list", action="store_true", help="overloads without rows, and why")
    parser.add_argument("--lacking", metavar="CANN", help="APIs that a CANN release lacks")
    options = parser.parse_args()
    root = support_matrix_dir()
    found = [t for t in observed_tables(root) if (t.release, t.soc) == (options.torch_npu, options.soc)]
    tables = [t.name for t in found if not t.without]
    if options.lacking:
        print(*_lacking(root, tables, options.lacking, options.soc), sep="\n")
        return
    dispatch = read_dispatch(root, options.torch_npu)
    registered = sorted(name for name, keys in dispatch.items() if "PrivateUse1" in keys)
    observed, reasons = _observed(root, tables), _reasons(root, tables)
    counts: dict[tuple[str, str], Counter[str]] = {}
    for name in registered:
        how = "rows" if name in observed else "reason" if name in reasons else "nothing"
        counts.setdefault((name.partition("::")[0], kind(name)), Counter())[how] += 1
        if options.list and how != "rows":
            print(f"{name:60} {reasons.get(name, '')}")
    _print(counts)
    print(len(observed), "overloads with rows, registered or not")


def _observed(root: Path, tables: list[str]) -> set[str]:
    return {name for table in tables for name, _ in rows_of(read_table(root, table))}


def _lacking(root: Path, tables: list[str], cann: str, soc: str) -> list[str]:
    launched = {
        api
        for table in tables
        for kernels in read_table(root, table)["kernels"]
        for api in re.findall(r"(aclnn\w+)\[", kernels)
    }
    known = [documented(root, cann, name) for name in soc_names(root, soc)]
    return sorted(launched.difference(*known))


def _reasons(root: Path, tables: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for table in tables:
        for record in read_table(root, table).to_dict("records"):
            if record["outcome"] != "ok":
                found[qualified(record["overload"])] = record["outcome"]
    return found


def kind(name: str) -> str:
    """What sort of overload a qualified name is."""
    base = name.partition("::")[2].partition(".")[0]
    if re.match(r"_(foreach|fused|amp_foreach)", base):
        return "foreach, fused"
    if _OUT.search(name):
        return "out"
    if (base.endswith("_") and not base.endswith("__")) or re.match(r"__i\w+__$", base):
        return "in place"
    return "backward" if "backward" in base else "functional"


def _print(counts: dict[tuple[str, str], Counter[str]]) -> None:
    columns = ("rows", "reason", "nothing")
    print(f"{'namespace':18}{'kind':16}", *(f"{c:>8}" for c in ("registered", *columns)))
    total: Counter[str] = Counter()
    for (namespace, sort), counter in sorted(counts.items()):
        print(f"{namespace:18}{sort:16}{counter.total():>11}", *(f"{counter[c]:>8}" for c in columns))
        total += counter
    print(f"{'all':34}{total.total():>11}", *(f"{total[c]:>8}" for c in columns))
    told = total["rows"] + total["reason"]
    print(f"rows {total['rows'] / total.total():.1%}, rows or a reason {told / total.total():.1%}")


if __name__ == "__main__":
    main()
