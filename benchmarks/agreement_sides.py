"""The two sides of the comparison, each a process that forks one child a model, so that libraries load once.

python benchmarks/agreement_sides.py real|virtual [--train]      (model names on stdin, one JSON answer a line)
"""

from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any, TextIO

import agreement_models

Counts = dict[str, int]

SIDES = ("real", "virtual")

_SEED = 5


class Side:
    """One of ``SIDES``: a process that answers model after model."""

    def __init__(self, which: str, runtime: str, train: bool) -> None:
        self.which = which
        environment = {
            **os.environ,
            "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
            "TASK_QUEUE_ENABLE": "0",
            "SIM_SOC": "Ascend910B3",
            "HF_HUB_OFFLINE": "1",
        }
        if which == "real":
            environment["LD_LIBRARY_PATH"] = runtime
        else:  # as opscan's own child has it
            environment |= {"PYTORCH_JIT": "0", "TORCHDYNAMO_DISABLE": "1"}
        command = [sys.executable, __file__, which, *(["--train"] if train else [])]
        self._process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            stderr=subprocess.DEVNULL,
        )

    def run(self, name: str) -> dict[str, Any]:
        """``counts`` by overload, what is ``refused``, or ``error``."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline() or '{"error": "the side ended"}')
        return answer

    def close(self) -> None:
        self._process.communicate()


def serve(which: str, train: bool) -> None:
    """Answer the models on stdin. What models print goes nowhere."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if which == "virtual":
        sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
        from opscan.worker.shield import shield_from_torch_npu

        shield_from_torch_npu("2.13.0")
    import torch

    if which == "real":
        import torch_npu  # noqa: F401
    torch.set_num_threads(1)
    agreement_models.import_libraries()
    for line in sys.stdin:
        answer_in_child(which, line.strip(), train, answers)


def answer_in_child(which: str, name: str, train: bool, answers: TextIO) -> None:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        answer: dict[str, Any]
        try:
            answer = {"real": run_real, "virtual": run_virtual}[which](name, train)
        except BaseException as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            answer = {"error": f"{type(error).__name__}: {error} ({Path(at.filename).name}:{at.lineno})"}
        os.write(write, json.dumps(answer).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    answers.write((text or json.dumps({"error": "the process died"})) + "\n")
    answers.flush()


class Refused(Exception):
    """An operator that the real adapter raises for."""


def run_real(name: str, train: bool) -> dict[str, Any]:
    """``counts`` of the overloads that the real adapter's dispatcher shows on npu:0, or the one that it ``refused``."""
    try:
        return {"counts": count_real(name, train)}
    except Refused as refused:
        return {"refused": str(refused)}


def count_real(name: str, train: bool) -> Counts:
    import torch
    from agreement_shadow import shadow_composites, shadowed
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves, tree_map_only

    counts: collections.Counter[str] = collections.Counter()

    class Count(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            try:
                out = shadowed(func, args, kwargs or {})
            except RuntimeError as error:
                if "feature not supported" in str(error):
                    raise Refused(func._schema.name) from error
                raise
            if func.namespace != "prim" and any(
                isinstance(t, torch.Tensor) and t.device.type == "npu" for t in tree_leaves((args, kwargs, out))
            ):
                schema = func._schema
                counts[schema.name + (f".{schema.overload_name}" if schema.overload_name else "")] += 1
            return out

    shadow_composites()
    torch.manual_seed(_SEED)
    model, args, kwargs = agreement_models.build(name, train)
    model = model.npu()
    args, kwargs = tree_map_only(
        torch.Tensor, lambda t: t.detach().npu().requires_grad_(t.requires_grad), (args, kwargs)
    )
    mode = Count()
    if not train:
        with mode, torch.no_grad():
            model(*args, **kwargs)
        return dict(counts)
    with mode:
        result = model(*args, **kwargs)
    out = [t for t in tree_leaves(result) if isinstance(t, torch.Tensor) and t.requires_grad]
    gradients = [torch.ones_like(t) for t in out]
    with mode:
        torch.autograd.backward(out, gradients)
        trained = [p for p in model.parameters() if p.grad is not None]
        if trained:
            torch.optim.AdamW(trained).step()
    return dict(counts)


def run_virtual(name: str, train: bool) -> dict[str, Any]:
    """``counts`` of the overloads in opscan's inventory for torch_npu 2.13.0, and which of them it says are
    ``refused``.
    """
    import torch

    from opscan.matrix.query import Matrix
    from opscan.target import Target
    from opscan.tracing.dispatch import DispatchTracer
    from opscan.tracing.interface import Recipe, TraceOptions
    from opscan.verdict import refused_memory_format

    torch.manual_seed(_SEED)
    matrix = Matrix.load(Target("2.13.0", "9.2.0-beta.1", "ascend910b"))  # the simulated runtime lacks no API
    options = TraceOptions(
        name, matrix.registered(), matrix.registered("AutogradPrivateUse1"), "2.13.0", "2.13.0", train
    )
    recipe = Recipe(lambda: agreement_models.build(name, train), Path("/nonexistent"))
    inventory = DispatchTracer().trace(recipe, options, lambda stage: None)
    if not all(a.ok for a in inventory.trace.attempts):
        raise RuntimeError(inventory.trace.unseen[0])
    counts: collections.Counter[str] = collections.Counter()
    for call in inventory.calls:
        counts[call.name] += call.count
    refused = sorted({call.name for call in inventory.calls if refused_memory_format(call)})
    return {"counts": dict(counts), "refused": refused}


if __name__ == "__main__":
    serve(sys.argv[1], "--train" in sys.argv[2:])
