"""The graph route without torch_npu against the rehearsed one: which operators it sees, and how it judges them.

    python benchmarks/graph_agreement.py --json rehearsed.json                (see there: needs torch_npu)
    python benchmarks/captured_agreement.py rehearsed.json [--train] [--only resnet,timm/] [--json FILE]

Needs torch 2.13.0, torchvision, timm and transformers; torch_npu is kept out of the way. Each model runs in a process
of its own. A pair is a model and an operator: it is in both inventories or in one, with the same number of nodes or
another, and with the same verdicts by dtypes or others.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import agreement_models
from forked import in_child

TARGET = ("2.13.0", "9.1.0", "ascend910b", "graph")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rehearsed", type=Path, help="what graph_agreement.py kept")
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--only", default="", help="models whose name contains one of these, separated by commas")
    parser.add_argument("--json", type=Path, help="keep the answers here, and go on from them")
    arguments = parser.parse_args()
    rehearsed = {name: a for name, a in json.loads(arguments.rehearsed.read_text()).items() if "error" not in a}
    parts = arguments.only.split(",")
    names = [name for name in rehearsed if any(part in name for part in parts)]
    table: dict[str, Any] = json.loads(arguments.json.read_text()) if arguments.json and arguments.json.exists() else {}
    load()
    for name in names:
        if name not in table:
            table[name] = in_child(partial(captured, name, arguments.train))
            print(line(name, table[name], rehearsed[name]), flush=True)
            if arguments.json:
                arguments.json.write_text(json.dumps(table, indent=0))
    report({name: (rehearsed[name], table[name]) for name in names})


def load() -> None:
    """What every child needs, once: children are forks."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    import torch

    from opscan.worker.shield import shield_from_torch_npu

    shield_from_torch_npu(TARGET[0])
    torch.set_num_threads(1)
    agreement_models.import_libraries()


def captured(name: str, train: bool) -> dict[str, Any]:
    from opscan.assess import judge_calls
    from opscan.matrix import Matrix
    from opscan.target import Target
    from opscan.tracing.graph.tracer import CapturedGraphTracer
    from opscan.tracing.interface import Recipe, TraceOptions
    from opscan.workload import Workload

    matrix = Matrix.load(Target(*TARGET))
    registered = [matrix.registered(key) for key in ("PrivateUse1", "AutogradPrivateUse1", "AutocastPrivateUse1")]
    options = TraceOptions(name, *registered[:2], TARGET[0], TARGET[0], Workload(train), registered[2])
    began = time.monotonic()
    recipe = Recipe(lambda: tuple(agreement_models.build(name, train)), Path("/nonexistent"))
    inventory = CapturedGraphTracer().trace(recipe, options, lambda stage: None)
    seconds = time.monotonic() - began
    entries = [
        {
            "operator": judged.example.name,
            "dtypes": " ".join(dict.fromkeys(judged.example.dtypes)),
            "nodes": sum(call.count for call in judged.calls),
            "verdict": [judged.ruling.verdict, judged.ruling.rule, judged.ruling.reason],
        }
        for judged in judge_calls(inventory, matrix)
    ]
    breaks = sum(len(finding.locations) or 1 for finding in inventory.findings if finding.rule == "OPS607")
    attempt = inventory.trace.attempts[-1]
    return {
        "entries": entries,
        "breaks": breaks,
        "stands_in": "" if attempt.ok else attempt.reason,
        "seconds": round(seconds, 1),
    }


def verdicts(entries: list[dict[str, Any]], key: str) -> dict[str, dict[str, set[str]]]:
    """By operator and dtypes."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for entry in entries:
        found[entry["operator"]][entry["dtypes"]].add(entry[key][0])
    return found


def nodes(entries: list[dict[str, Any]]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for entry in entries:
        counted[entry["operator"]] += entry["nodes"]
    return counted


def compare(rehearsed: dict[str, Any], answer: dict[str, Any]) -> dict[str, str]:
    """What each operator of a model came to."""
    there, here = nodes(rehearsed["entries"]), nodes(answer["entries"])
    theirs, ours = verdicts(rehearsed["entries"], "rehearsed"), verdicts(answer["entries"], "verdict")
    found = {}
    for operator in there | here:
        if operator not in here:
            found[operator] = "only rehearsed"
        elif operator not in there:
            found[operator] = "only captured"
        elif theirs[operator] == ours[operator]:
            found[operator] = "equal" if there[operator] == here[operator] else "equal, other counts"
        else:
            both = set().union(*theirs[operator].values()), set().union(*ours[operator].values())
            found[operator] = "equal, other dtypes" if both[0] == both[1] else _judged(*both)
    return found


def _judged(theirs: set[str], ours: set[str]) -> str:
    if "unknown" in ours:
        return "captured unknown"
    return "rehearsed unknown" if "unknown" in theirs else "contradicts"


def line(name: str, answer: dict[str, Any], rehearsed: dict[str, Any]) -> str:
    if "error" in answer:
        return f"{name}: {answer['error']}"
    counted = Counter(compare(rehearsed, answer).values())
    instead = f" [stand-in: {answer['stands_in']}]" if answer["stands_in"] else ""
    return f"{name}: {dict(counted)}, {answer['breaks']} breaks ({len(rehearsed['breaks'])} rehearsed){instead}"


def report(table: dict[str, tuple[dict[str, Any], dict[str, Any]]]) -> None:
    answered = {name: both for name, both in table.items() if "error" not in both[1]}
    for breaks, title in ((False, "without a graph break"), (True, "with graph breaks")):
        some = {name: both for name, both in answered.items() if bool(both[0]["breaks"]) is breaks}
        kinds: Counter[str] = Counter()
        named: dict[tuple[str, str], list[str]] = defaultdict(list)
        for name, (rehearsed, answer) in some.items():
            for operator, kind in compare(rehearsed, answer).items():
                kinds[kind] += 1
                if not kind.startswith("equal"):
                    named[kind, operator].append(name)
        pairs = sum(kinds.values())
        same = sum(count for kind, count in kinds.items() if kind.startswith("equal"))
        print(f"\n{len(some)} models {title}: {same} of {pairs} pairs agree on operator and verdict; {dict(kinds)}")
        for (kind, operator), names in sorted(named.items()):
            print(f"  {kind}: {operator} [{len(names)}] {', '.join(names[:4])}")
    failed = {name: both[1]["error"] for name, both in table.items() if "error" in both[1]}
    print(f"\n{len(failed)} failed {failed or ''}")


if __name__ == "__main__":
    main()
