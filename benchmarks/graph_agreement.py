"""The graph route rehearsed against the graph route by tables: which nodes have another verdict, and why.

    LD_LIBRARY_PATH=RUNTIME TORCH_DEVICE_BACKEND_AUTOLOAD=0 TASK_QUEUE_ENABLE=0 OPSCAN_SIMULATED_SOC=Ascend910B3 \\
        python benchmarks/graph_agreement.py [--train] [--only resnet,timm/] [--soc SOC] [--cann RELEASE] [--json FILE]

Needs an environment with torch_npu 2.13.0, its torch, protobuf, torchvision, timm and transformers, and the simulated
runtime that `opscan rehearse` builds in the user's cache. Each model runs in a process of its own. The tables answer
for an operator and one dtype; a rehearsal for the graph-engine operators of one call. That the tables do not know is no
difference, nor that the rehearsal does not; a difference is a yes against a no.
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

#: A spread of families: classifiers, detectors, segmentation, video, encoders, decoders, speech.
CHOSEN = (
    "torchvision/resnet18", "torchvision/mobilenet_v3_small", "torchvision/efficientnet_b0", "torchvision/densenet121",
    "torchvision/vit_b_16", "torchvision/swin_t", "torchvision/convnext_tiny", "torchvision/shufflenet_v2_x0_5",
    "torchvision/inception_v3", "torchvision/fasterrcnn_mobilenet_v3_large_320_fpn",
    "torchvision/retinanet_resnet50_fpn", "torchvision/deeplabv3_resnet50", "torchvision/r3d_18", "timm/",
    "transformers/",
)  # fmt: skip

RUNS = ("supported", "slow")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--only", help="models whose name contains one of these, separated by commas")
    parser.add_argument("--soc", default="ascend910b")
    parser.add_argument("--cann", default="9.1.0")
    parser.add_argument("--json", type=Path, help="keep the answers here, and go on from them")
    arguments = parser.parse_args()
    parts = tuple(arguments.only.split(",")) if arguments.only else CHOSEN
    names = [name for name in agreement_models.names() if any(part in name for part in parts)]
    table: dict[str, Any] = json.loads(arguments.json.read_text()) if arguments.json and arguments.json.exists() else {}
    load()
    for name in names:
        if name not in table or "error" in table[name]:
            table[name] = in_child(partial(compared, name, arguments))
            print(line(name, table[name]), flush=True)
            if arguments.json:
                arguments.json.write_text(json.dumps(table, indent=0))
    report({name: table[name] for name in names})


def load() -> None:
    """What every child needs, once: children are forks."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    import torch
    import torch_npu  # noqa: F401

    from opscan.probing.graph.inert_core import import_torchair

    torch.set_num_threads(1)
    agreement_models.import_libraries()
    import_torchair()


def compared(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    from opscan.assess import judge_calls
    from opscan.matrix import Matrix
    from opscan.probing.graph.tracer import GraphTracer
    from opscan.routes.graph import graph
    from opscan.target import Target
    from opscan.tracing.interface import Recipe, TraceOptions
    from opscan.workload import Workload

    options = TraceOptions(name, frozenset(), frozenset(), "2.13.0", "2.13.0", Workload(arguments.train))
    began = time.monotonic()
    recipe = Recipe(lambda: tuple(agreement_models.build(name, arguments.train)), Path("/nonexistent"))
    inventory = GraphTracer().trace(recipe, options, lambda stage: None)
    seconds = time.monotonic() - began
    matrix = Matrix.load(Target("2.13.0", arguments.cann, arguments.soc, "graph"))
    entries = []
    for judged in judge_calls(inventory, matrix):
        call, ruling = judged.example, judged.ruling
        static = graph(matrix, call.name, call.dtypes[0] if call.dtypes else "").ruling
        entries.append(
            {
                "operator": call.name,
                "dtypes": " ".join(dict.fromkeys(call.dtypes)),
                "nodes": sum(each.count for each in judged.calls),
                "kernels": [kernel.removeprefix("GE ") for kernel in ruling.kernels],
                "rehearsed": [ruling.verdict, ruling.rule, ruling.reason],
                "static": [static.verdict, static.rule, static.reason],
            }
        )
    breaks = [finding.facts["reason"] for finding in inventory.findings if finding.rule == "OPS607"]
    return {"entries": entries, "unseen": list(inventory.trace.unseen), "breaks": breaks, "seconds": round(seconds, 1)}


def line(name: str, answer: dict[str, Any]) -> str:
    if "error" in answer:
        return f"{name}: {answer['error']}"
    entries = answer["entries"]
    nodes, differing = sum(e["nodes"] for e in entries), sum(kind(e) == "contradicts" for e in entries)
    breaks = f", {len(answer['breaks'])} graph breaks" if answer["breaks"] else ""
    return f"{name}: {len(entries)} operators, {nodes} nodes, {differing} contradict{breaks}, {answer['seconds']} s"


def kind(entry: dict[str, Any]) -> str:
    rehearsed, static = entry["rehearsed"][0], entry["static"][0]
    if rehearsed == static:
        return "same"
    if static == "unknown":
        return "only rehearsed"
    if rehearsed == "unknown":
        return "only static"
    return "same" if rehearsed in RUNS and static in RUNS and rehearsed == static else "contradicts"


def report(table: dict[str, Any]) -> None:
    answered = {name: answer for name, answer in table.items() if "error" not in answer}
    entries = [(name, entry) for name, answer in answered.items() for entry in answer["entries"]]
    kinds = Counter(kind(entry) for _, entry in entries)
    nodes = sum(entry["nodes"] for _, entry in entries)
    print(f"\n{len(answered)} models, {len(entries)} operators of models, {nodes} nodes: {dict(kinds)}")
    verdicts = Counter(entry["rehearsed"][0] for _, entry in entries)
    print(f"rehearsed: {dict(verdicts)}; by tables: {dict(Counter(entry['static'][0] for _, entry in entries))}")
    for wanted in ("contradicts", "only static", "only rehearsed"):
        grouped: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for name, e in entries:
            if kind(e) == wanted:
                said = (
                    e["operator"],
                    e["dtypes"],
                    " ".join(e["kernels"]),
                    *(f"{v} {r or ''}" for v, r, _ in (e["rehearsed"], e["static"])),
                )
                grouped[(*said, str(e["rehearsed"][2] or e["static"][2]))].append(name)
        print(f"\n{wanted}: {len(grouped)}")
        for key, names in sorted(grouped.items()):
            operator, dtypes, kernels, rehearsed, static, reason = key
            print(
                f"  {operator} ({dtypes}) → {kernels}: rehearsed {rehearsed}, static {static} [{len(names)}]  {reason}"
            )


if __name__ == "__main__":
    main()
