"""The two sides of the comparison, each a process that forks one child a model, so that libraries load once.

python benchmarks/agreement_sides.py rehearsal|scan RELEASE CANN SOC TRAIN OPTIMIZER AMP
(model names on stdin, one JSON answer a line)
"""

from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any, NamedTuple, TextIO

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import agreement_models

from opscan.target import Target

SIDES = ("rehearsal", "scan")

_SEED = 5


class Asked(NamedTuple):
    """What of a model is run, as the options of a scan say it."""

    train: bool = False
    optimizer: str | None = None
    amp: str = "off"

    def words(self) -> list[str]:
        return ["train" if self.train else "", self.optimizer or "", self.amp]


class Side:
    """One of ``SIDES``: a process that answers model after model. ``environment``: what its engine needs."""

    def __init__(self, which: str, environment: dict[str, str], target: Target, asked: Asked) -> None:
        self.which = which
        common = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "PYTORCH_JIT": "0", "TORCHDYNAMO_DISABLE": "1"}
        command = [sys.executable, __file__, which, target.torch_npu, target.cann, target.soc]
        self._process = subprocess.Popen(
            [*command, *asked.words()],
            env={**os.environ, **common, "HF_HUB_OFFLINE": "1", **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            stderr=subprocess.DEVNULL,
        )

    def run(self, name: str) -> dict[str, Any]:
        """``ops``: by overload its ``count`` and its ``verdicts`` by dtypes; or ``error``."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline() or '{"error": "the side ended"}')
        return answer

    def close(self) -> None:
        self._process.communicate()


def serve(which: str, target: Target, asked: Asked) -> None:
    """Answer the models on stdin. What models print goes nowhere."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    import torch

    torch.set_num_threads(1)
    if which == "scan":
        from opscan.worker.shield import shield_from_torch_npu

        shield_from_torch_npu(target.torch_npu)
    else:
        import torch_npu  # noqa: F401
    agreement_models.import_libraries()
    for line in sys.stdin:
        answer_in_child(which, line.strip(), target, asked, answers)


def answer_in_child(which: str, name: str, target: Target, asked: Asked, answers: TextIO) -> None:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        answer: dict[str, Any]
        try:
            answer = run(which, name, target, asked)
        except BaseException as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            answer = {"error": f"{type(error).__name__}: {error} ({Path(at.filename).name}:{at.lineno})"}
        with os.fdopen(write, "wb") as pipe:
            pipe.write(json.dumps(answer).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    answers.write((text or json.dumps({"error": "the process died"})) + "\n")
    answers.flush()


def run(which: str, name: str, target: Target, asked: Asked) -> dict[str, Any]:
    import torch

    from opscan.assess import judge_calls
    from opscan.cli.workload_options import parse_workload
    from opscan.matrix.query import Matrix
    from opscan.tracing.interface import Recipe, TraceOptions

    matrix = Matrix.load(target)
    options = TraceOptions(
        name,
        matrix.registered(),
        matrix.registered("AutogradPrivateUse1"),
        matrix.torch_release,
        target.torch_npu,
        parse_workload(asked.train, asked.optimizer, asked.amp),
        matrix.registered("AutocastPrivateUse1"),
        foreach=target.takes_foreach,
        bfloat16=target.autocasts_bfloat16,
    )
    torch.manual_seed(_SEED)
    recipe = Recipe(lambda: agreement_models.build(name, asked.train), Path("/nonexistent"))
    inventory = _tracer(which).trace(recipe, options, lambda stage: None)
    if not all(attempt.ok for attempt in inventory.trace.attempts):
        return {"error": inventory.trace.unseen[0]}
    ops: dict[str, dict[str, Any]] = collections.defaultdict(lambda: {"count": 0, "verdicts": {}})
    for judged in judge_calls(inventory, matrix):
        op = ops[judged.example.name]
        op["count"] += sum(call.count for call in judged.calls)
        verdicts = op["verdicts"].setdefault(" ".join(dict.fromkeys(judged.example.dtypes)), [])
        ruling = judged.ruling
        said = ruling.verdict + (f" {ruling.rule}" if ruling.rule else "")
        if said not in verdicts:
            verdicts.append(said)
            verdicts.sort()
    return {"ops": ops, "values": inventory.trace.values, "note": inventory.trace.values_note}


def _tracer(which: str) -> Any:
    if which == "scan":
        from opscan.tracing.dispatch import DispatchTracer

        return DispatchTracer()
    from opscan.probing.rehearsal.tracer import RehearsalTracer

    return RehearsalTracer()


if __name__ == "__main__":
    train, optimizer, amp = sys.argv[5:]
    serve(sys.argv[1], Target(*sys.argv[2:5]), Asked(bool(train), optimizer or None, amp))
