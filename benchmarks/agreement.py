"""How well a scan predicts what the real torch_npu does: the inventory of the virtual device against a rehearsal's.

    python benchmarks/agreement.py [--train] [--optimizer sgd:momentum=0.9] [--amp fp16|bf16]
                                   [--only resnet,timm/] [--json FILE] [--again]
                                   [--torch-npu 2.13.0] [--cann 9.1.0] [--soc ascend910b]

Needs an environment with the torch_npu release, its torch, torchvision, timm and transformers. Each model runs twice,
each time in a process of its own: as opscan traces it on the virtual device, and on the real adapter over the simulated
runtime, with values. Counted are pairs (model, overload): in agreement where both sides have the overload, and
where it has the same verdict, too, at every combination of dtypes. Everything else is listed.

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

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import agreement_models
from agreement_sides import SIDES, Asked, Side

from opscan.engine import choose
from opscan.target import Target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--optimizer", help="as of a scan; implies --train")
    parser.add_argument("--amp", default="off", help="as of a scan")
    parser.add_argument("--modules", action="store_true", help="single modules of torch in place of the models")
    parser.add_argument("--only", help="models whose name contains one of these, separated by commas")
    parser.add_argument("--json", type=Path, help="keep the results here, and go on from them")
    parser.add_argument("--again", action="store_true", help="run models anew that the file has results of")
    parser.add_argument("--torch-npu", default="2.13.0")
    parser.add_argument("--cann", default="9.1.0")
    parser.add_argument("--soc", default="ascend910b")
    arguments = parser.parse_args()
    arguments.train = arguments.train or arguments.optimizer is not None
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
    target = Target(arguments.torch_npu, arguments.cann, arguments.soc)
    engine = choose("rehearse", target, lambda stage: None).engine
    if Path(engine.interpreter) != Path(sys.executable):
        sys.exit(f"Run this in an environment that has torch_npu {target.torch_npu} and its torch.")
    variables = engine.environment
    workload = Asked(arguments.train, arguments.optimizer, arguments.amp)
    sides = [Side(which, v, target, workload) for which, v in zip(SIDES, (variables, {}), strict=True)]
    try:
        for name in names:
            yield name, row_of(*(side.run(name) for side in sides))
    finally:
        for side in sides:
            side.close()


def row_of(rehearsal: dict[str, Any], scan: dict[str, Any]) -> dict[str, Any]:
    errors = [f"{which}: {a['error']}" for which, a in zip(SIDES, (rehearsal, scan), strict=True) if "error" in a]
    if errors:
        return {"error": "; ".join(errors)}
    real, virtual = rehearsal["ops"], scan["ops"]
    both = sorted(real.keys() & virtual.keys())
    verdicts = {
        name: [real[name]["verdicts"], virtual[name]["verdicts"]]
        for name in both
        if real[name]["verdicts"] != virtual[name]["verdicts"]
    }
    counts = {n: [real[n]["count"], virtual[n]["count"]] for n in both if real[n]["count"] != virtual[n]["count"]}
    return {
        "common": len(both),
        "missing": sorted(real.keys() - virtual.keys()),
        "extra": sorted(virtual.keys() - real.keys()),
        "verdicts differ": verdicts,
        "counts differ": counts,
        "values": rehearsal["values"] + (f" ({rehearsal['note']})" if rehearsal["note"] else ""),
    }


def line(name: str, row: dict[str, Any]) -> str:
    if "error" in row:
        return f"{name:44} {row['error'][:300]}"
    either = row["common"] + len(row["missing"]) + len(row["extra"])
    told = "".join(f" -{n}" for n in row["missing"]) + "".join(f" +{n}" for n in row["extra"])
    verdicts = "".join(f"\n    {n}: rehearsal {a}, scan {b}" for n, (a, b) in row["verdicts differ"].items())
    counts = "".join(f" {n} {a}/{b}" for n, (a, b) in row["counts differ"].items())
    values = f"  values {row['values']}" if row["values"] != "computed" else ""
    return f"{name:44} {row['common']}/{either}{told}{'  counts:' if counts else ''}{counts}{values}{verdicts}"


def report(table: dict[str, Any], train: bool) -> None:
    compared = [row for row in table.values() if "common" in row]
    common = sum(row["common"] for row in compared)
    either = common + sum(len(row["missing"]) + len(row["extra"]) for row in compared)
    verdicts = common - sum(len(row["verdicts differ"]) for row in compared)
    counts = common - sum(len(row["counts differ"]) for row in compared)
    kinds = collections.Counter(
        f"{sign}{name}"
        for row in compared
        for sign, key in (("-", "missing"), ("+", "extra"), ("verdict of ", "verdicts differ"))
        for name in row[key]
    )
    phase = "training" if train else "inference"
    print(f"{phase}: {len(compared)} of {len(table)} models compared")
    for what, number in (("overloads", common), ("overloads and verdicts", verdicts), ("overloads and counts", counts)):
        print(f"agreement of {what} over (model, overload): {number}/{either} = {number / max(1, either):.4f}")
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
