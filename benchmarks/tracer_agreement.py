"""How far the tracers that capture a model agree with the one that runs it: operators of a forward pass, by overload.

    python benchmarks/tracer_agreement.py [--train] [--every 3] [--only resnet,timm/] [--torch-npu 2.13.0]

Needs torch, torchvision, timm and transformers; no torch_npu. Each model is traced by ``dispatch``, ``export``, ``fx``
and ``jit`` in a process of its own, which is given five minutes. An overload is equal where both inventories call it
equally often. Told are, by tracer, how many of the models it captures, the share of overloads that are equal among
those, and every difference and refusal.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.update(TORCH_DEVICE_BACKEND_AUTOLOAD="0", PYTORCH_JIT="0", TORCHDYNAMO_DISABLE="1", HF_HUB_OFFLINE="1")

import agreement_models

from opscan.errors import CaptureError
from opscan.matrix.query import Matrix
from opscan.target import Target
from opscan.worker.shield import shield_from_torch_npu

#: Seconds a model.
_PATIENCE = 300

CAPTURING = ("export", "fx", "jit")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--every", type=int, default=3, help="of the models, every third")
    parser.add_argument("--only", help="models whose name contains one of these, separated by commas")
    parser.add_argument("--torch-npu", default="2.13.0")
    arguments = parser.parse_args()
    parts = arguments.only.split(",") if arguments.only else [""]
    names = [n for n in agreement_models.names() if any(part in n for part in parts)][:: arguments.every]
    matrix = Matrix.load(Target(arguments.torch_npu, "9.1.0", "ascend910b"))
    shield_from_torch_npu(arguments.torch_npu)
    agreement_models.import_libraries()
    tell([(name, apart(name, matrix, arguments.train)) for name in names])


def apart(name: str, matrix: Matrix, train: bool) -> dict[str, Any]:
    """By tracer: its operators with their counts, or why it has none. In a process of its own."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        signal.alarm(_PATIENCE)
        with os.fdopen(writing, "w") as stream:
            for tracer, found in traced(name, matrix, train):
                print(json.dumps([tracer, found]), file=stream, flush=True)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        found = dict(json.loads(line) for line in stream)
    os.waitpid(process, 0)
    for tracer in ("dispatch", *CAPTURING):
        found.setdefault(tracer, {"error": "the process ended"})
    shown = [f"{tracer} {found[tracer].get('seconds', '-')}" for tracer in ("dispatch", *CAPTURING)]
    print(name, *shown, file=sys.stderr, flush=True)
    return found


def traced(name: str, matrix: Matrix, train: bool) -> Any:
    from opscan.tracing.dispatch import DispatchTracer
    from opscan.tracing.interface import Recipe, TraceOptions
    from opscan.tracing.programs.export import ExportTracer
    from opscan.tracing.programs.fx import FxTracer
    from opscan.tracing.programs.jit import JitTracer
    from opscan.workload import Workload

    options = TraceOptions(
        name,
        matrix.registered(),
        matrix.registered("AutogradPrivateUse1"),
        matrix.torch_release,
        matrix.target.torch_npu,
        Workload(train),
        matrix.registered("AutocastPrivateUse1"),
    )
    recipe = Recipe(lambda: agreement_models.build(name, train), Path(os.devnull).parent)
    dispatch = DispatchTracer()
    for tracer in (dispatch, ExportTracer(dispatch), FxTracer(dispatch), JitTracer(dispatch)):
        start = time.perf_counter()
        found: dict[str, Any]
        try:
            inventory = tracer.trace(recipe, options, lambda stage: None)
        except CaptureError as error:
            found = {"refused": str(error)}
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"}
        else:
            counts: collections.Counter[str] = collections.Counter()
            for call in inventory.calls:
                counts[call.name] += call.count
            located = sum(call.location is not None and call.location.line > 0 for call in inventory.calls)
            found = {"ops": counts, "located": located, "calls": len(inventory.calls), "unseen": inventory.trace.unseen}
            found["findings"] = sorted({finding.rule for finding in inventory.findings})
        yield tracer.name, {**found, "seconds": round(time.perf_counter() - start, 1)}


def tell(results: list[tuple[str, dict[str, Any]]]) -> None:
    """A line of Markdown a tracer, and the differences behind."""
    bases = [(name, found) for name, found in results if "ops" in found["dispatch"]]
    print(f"{len(results)} models, of which dispatch traces {len(bases)}\n")
    print("| tracer | captures | overloads equal | models equal in all | seconds beside dispatch's |")
    print("|---|---|---|---|---|")
    for tracer in CAPTURING:
        captured = [(found["dispatch"], found[tracer]) for _, found in bases if "ops" in found[tracer]]
        pairs = [differences(base["ops"], own["ops"]) for base, own in captured]
        overloads = sum(len(set(base["ops"]) | set(own["ops"])) for base, own in captured)
        equal = overloads - sum(map(len, pairs))
        share = f"{equal} of {overloads} ({100 * equal / max(overloads, 1):.1f} %)"
        times = f"{sum(own['seconds'] for _, own in captured):.0f} / {sum(b['seconds'] for b, _ in captured):.0f}"
        print(f"| `{tracer}` | {len(captured)} of {len(bases)} | {share} | {sum(not p for p in pairs)} | {times} |")
    for tracer in CAPTURING:
        print(f"\n## {tracer}\n")
        for name, found in results:
            own, base = found[tracer], found["dispatch"]
            if "ops" not in own:
                print(f"- {name}: {own.get('refused') or own['error']}".splitlines()[0])
            elif "ops" in base and (different := differences(base["ops"], own["ops"])):
                print(f"- {name}: " + ", ".join(f"{op} {a}→{b}" for op, (a, b) in sorted(different.items())))


def differences(base: dict[str, int], own: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Overloads that are called not equally often: (by dispatch, by the other)."""
    names = set(base) | set(own)
    return {n: (base.get(n, 0), own.get(n, 0)) for n in names if base.get(n, 0) != own.get(n, 0)}


if __name__ == "__main__":
    main()
