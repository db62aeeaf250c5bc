"""How well the trace on the virtual npu agrees with the real torch_npu: |common| / |union| of (model, overload).

    python benchmarks/agreement.py --runtime DIR [--train] [--only resnet,timm/] [--json FILE] [--again]

Needs an environment with torch_npu 2.13.0, its torch, torchvision, timm and transformers, and in DIR the stub CANN
libraries of a simulated runtime. Each model runs twice, each time in a process of its own: on ``npu:0`` of the real
adapter under a dispatch mode, and as opscan traces it. Overloads that only one of them shows are listed, and those
that both show with other counts. On the real side each operator also runs on the CPU, and its result is written to the
device, so that a model which branches on values takes the path that it takes on an NPU.

With ``--json`` results are kept as they come, and a second run goes on where the first ended; ``--again`` runs the
models of ``--only`` anew.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agreement_models
from agreement_sides import SIDES, Counts, Side


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", required=True, help="folder of the simulated runtime's libraries")
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--modules", action="store_true", help="single modules of torch in place of the models")
    parser.add_argument("--only", help="models whose name contains one of these, separated by commas")
    parser.add_argument("--json", type=Path, help="keep the results here, and go on from them")
    parser.add_argument("--again", action="store_true", help="run models anew that the file has results of")
    arguments = parser.parse_args()
    parts = arguments.only.split(",") if arguments.only else [""]
    names = agreement_models.modules() if arguments.modules else agreement_models.names()
    chosen = [name for name in names if any(part in name for part in parts)]
    compare(chosen, arguments)


def compare(names: list[str], arguments: argparse.Namespace) -> None:
    table: dict[str, Any] = {}
    if arguments.json and arguments.json.exists():
        table = json.loads(arguments.json.read_text(encoding="utf-8"))
    to_run = [name for name in names if arguments.again or name not in table or "error" in table[name]]
    for name, row in rows(to_run, arguments):
        table[name] = row
        print(line(name, row), flush=True)
        if arguments.json:
            write(arguments.json, table)
    report({name: table[name] for name in names}, arguments.train)


def rows(names: list[str], arguments: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    """Run both sides of each model, one after the other: a machine has other things to do."""
    sides = [Side(which, arguments.runtime, arguments.train) for which in SIDES]
    try:
        for name in names:
            yield name, row_of(*(side.run(name) for side in sides))
    finally:
        for side in sides:
            side.close()


def row_of(real: dict[str, Any], virtual: dict[str, Any]) -> dict[str, Any]:
    errors = [f"{which}: {a['error']}" for which, a in zip(SIDES, (real, virtual), strict=True) if "error" in a]
    if errors:
        return {"error": "; ".join(errors)}
    if "refused" in real:
        return {"refused": real["refused"], "foreseen": real["refused"] in virtual["refused"]}
    return differences(real["counts"], virtual["counts"])


def differences(real: Counts, virtual: Counts) -> dict[str, Any]:
    """Overloads of one side only, and those that both show, with other counts."""
    return {
        "common": len(real.keys() & virtual.keys()),
        "missing": sorted(real.keys() - virtual.keys()),
        "extra": sorted(virtual.keys() - real.keys()),
        "counts differ": {
            k: [real[k], virtual[k]] for k in sorted(real.keys() & virtual.keys()) if real[k] != virtual[k]
        },
    }


def line(name: str, row: dict[str, Any]) -> str:
    if "error" in row:
        return f"{name:44} {row['error'][:300]}"
    if "refused" in row:
        return f"{name:44} the adapter refuses {row['refused']}: {'' if row['foreseen'] else 'not '}foreseen"
    either = row["common"] + len(row["missing"]) + len(row["extra"])
    told = "".join(f" -{n}" for n in row["missing"]) + "".join(f" +{n}" for n in row["extra"])
    counts = "".join(f" {n} {a}/{b}" for n, (a, b) in row["counts differ"].items())
    return f"{name:44} {row['common']}/{either}{told}{'  counts:' if counts else ''}{counts}"


def report(table: dict[str, Any], train: bool) -> None:
    compared = [row for row in table.values() if "common" in row]
    common = sum(row["common"] for row in compared)
    either = common + sum(len(row["missing"]) + len(row["extra"]) for row in compared)
    same = sum(row["common"] - len(row["counts differ"]) for row in compared)
    kinds = collections.Counter(
        f"{sign}{name}" for row in compared for sign, key in (("-", "missing"), ("+", "extra")) for name in row[key]
    )
    phase = "training" if train else "inference"
    print(f"{phase}: {len(compared)} of {len(table)} models compared")
    print(f"agreement over (model, overload): {common}/{either} = {common / max(1, either):.4f}")
    print(f"with equal counts: {same}/{either} = {same / max(1, either):.4f}")
    for name, times in kinds.most_common():
        print(f"  {name} in {times}")
    for name, row in table.items():
        if "common" not in row:
            print(f"  not compared: {line(name, row)}")


def write(path: Path, table: dict[str, Any]) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    os.replace(part, path)


if __name__ == "__main__":
    sys.exit(main())
