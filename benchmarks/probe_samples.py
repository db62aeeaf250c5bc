"""For how many operator calls the probe can make arguments that the CPU takes.

    python benchmarks/probe_samples.py [--models [--train]] [--signatures FILE] [--list N] [--json FILE]

Signatures are what torch's operator and module databases dispatch to on the CPU, forward, in place and backward, in
float32, bfloat16, complex64, int64 and bool; or, with ``--models`` (``--train``), those of the inventories of the
models that agreement is measured on, as opscan traces them for torch_npu 2.13.0. ``--signatures`` keeps them in a file,
or reads them from it where it exists.

A signature passes where arguments could be drawn, the CPU kernel took them, and no result holds NaN. Each runs in a
child process, so that a crash of a kernel costs one signature. The share is given over signatures, over overloads, and
over those overloads that the matrix's observed tables list.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from opscan.inventory import OpCall
from opscan.matrix.data import support_matrix_dir
from opscan.probing.signature import signature_of

SECONDS = 20

OPTIMIZERS = ("Adam", "AdamW", "SGD", "Adagrad", "RMSprop", "NAdam", "RAdam", "Adadelta", "Rprop", "Adamax")


def record() -> list[OpCall]:
    """Every distinct call below the operator and module databases."""
    import torch
    from torch.testing._internal.common_methods_invocations import (
        foreach_binary_op_db,
        foreach_other_op_db,
        foreach_pointwise_op_db,
        foreach_reduce_op_db,
        foreach_unary_op_db,
        op_db,
    )
    from torch.testing._internal.common_modules import module_db
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves, tree_map

    from opscan.tracing.signature import arguments, qualified, specs

    seen: dict[tuple[Any, ...], OpCall] = {}

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            tensors = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
            inputs, (parameters, attributes) = specs(tensors), arguments(func, args, kwargs)
            result = func(*args, **kwargs)  # what the CPU refuses with the database's own arguments does not count
            if all(t.layout is torch.strided for t in tensors):
                key = (qualified(func), inputs, parameters, attributes)
                seen.setdefault(key, OpCall(key[0], "forward", inputs, (), attributes, parameters=parameters))
            return result

    def run(function: Any) -> Any:
        try:
            with Record():
                return function()
        except Exception:  # a database holds samples that this build refuses
            return None

    def backward(outputs: Any) -> None:
        outs = [t for t in tree_leaves(outputs) if isinstance(t, torch.Tensor) and t.requires_grad]
        if outs:
            run(lambda: torch.autograd.backward(outs, [torch.ones_like(o) for o in outs]))

    databases = (op_db, foreach_unary_op_db, foreach_binary_op_db, foreach_pointwise_op_db, foreach_reduce_op_db)
    dtypes = (torch.float32, torch.bfloat16, torch.complex64, torch.int64, torch.bool)
    for op in chain(*databases, foreach_other_op_db):
        for dtype in dtypes:
            if dtype not in op.dtypes:
                continue
            grad = op.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
            try:
                samples = [s for s, _ in zip(op.sample_inputs("cpu", dtype, requires_grad=grad), range(6))]
            except Exception:
                continue
            for s in samples:
                backward(run(lambda s=s, op=op: op(s.input, *s.args, **s.kwargs)))
                if op.inplace_variant:
                    own = tree_map(lambda t: t.detach().clone() if isinstance(t, torch.Tensor) else t, s.input)
                    run(lambda s=s, own=own, op=op: op.inplace_variant(own, *s.args, **s.kwargs))
    for info in module_db:
        for training in (False, True):
            try:
                samples = info.module_inputs_func(info, "cpu", torch.float32, True, training)
            except Exception:
                continue
            for s in samples[:4]:
                args, kwargs = s.constructor_input.args, s.constructor_input.kwargs
                forward = s.forward_input
                if forward is not None:
                    module = info.module_cls(*args, **kwargs).train(training)
                    backward(run(lambda f=forward, m=module: m(*f.args, **f.kwargs)))
    for optimizer in OPTIMIZERS:
        run(lambda name=optimizer: _optimizer_step(name))
    return list(seen.values())


def _optimizer_step(name: str) -> None:
    import torch

    parameter = torch.nn.Parameter(torch.randn(4, 3))
    given = {"fused": True} if name in ("Adam", "AdamW", "SGD", "Adagrad") else {}
    optimizer = getattr(torch.optim, name)([parameter], lr=0.1, **given)
    parameter.grad = torch.randn(4, 3)
    optimizer.step()


def record_models(train: bool) -> list[OpCall]:
    """Every distinct call of the models, each traced in a process of its own."""
    from opscan.worker.shield import shield_from_torch_npu

    shield_from_torch_npu("2.13.0")  # an installed one fails without CANN
    import agreement_models

    agreement_models.import_libraries()
    seen: dict[str, OpCall] = {}
    failed = []
    for name in agreement_models.names():
        calls = _in_child(lambda name=name: _inventory(name, train))
        if calls is None:
            failed.append(name)
        for call in calls or ():
            seen.setdefault(signature_of(call).key, call)
    traced = len(agreement_models.names()) - len(failed)
    print(f"{traced} models, {len(seen)} signatures; not traced: {' '.join(failed) or 'none'}")
    return list(seen.values())


def _in_child(work: Callable[[], list[OpCall]]) -> list[OpCall] | None:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            with os.fdopen(write, "wb") as pipe:
                pipe.write(msgspec.json.encode(work()))
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return msgspec.json.decode(text, type=list[OpCall]) if text else None


def _inventory(name: str, train: bool) -> list[OpCall]:
    import agreement_models

    from opscan.matrix.query import Matrix
    from opscan.target import Target
    from opscan.tracing.dispatch import DispatchTracer
    from opscan.tracing.interface import Recipe, TraceOptions
    from opscan.workload import Workload

    matrix = Matrix.load(Target("2.13.0", "9.1.0", "ascend910b"))
    options = TraceOptions(
        name, matrix.registered(), matrix.registered("AutogradPrivateUse1"), "2.13.0", "2.13.0", Workload(train)
    )
    recipe = Recipe(lambda: agreement_models.build(name, train), Path(os.devnull).parent)
    return list(DispatchTracer().trace(recipe, options, lambda stage: None).calls)


def child() -> None:
    """Read calls, a line each; write what became of each."""
    import torch

    from opscan.probing.samples.trial import try_on_cpu

    torch.set_num_threads(1)
    for line in sys.stdin:
        print(json.dumps(try_on_cpu(msgspec.json.decode(line, type=OpCall))), flush=True)


def outcomes(calls: list[OpCall]) -> Iterator[str]:
    """``ok``, or why not, for each call in order."""
    import selectors

    process: subprocess.Popen[bytes] | None = None
    for call in calls:
        if process is None:
            command = [sys.executable, __file__, "--child"]
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(msgspec.json.encode(call) + b"\n")
        process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            line = process.stdout.readline() if selector.select(SECONDS) else b""
        if line:
            yield json.loads(line)
            continue
        process.kill()
        yield f"the process ended with {process.wait()}"
        process = None
    if process is not None:
        process.kill()
        process.wait()


def few(calls: list[OpCall], each: int) -> list[OpCall]:
    """Up to ``each`` signatures of an overload and its first dtype."""
    groups: dict[tuple[str, tuple[str, ...]], list[OpCall]] = collections.defaultdict(list)
    for call in calls:
        groups[call.name, call.dtypes[:1]].append(call)
    return [call for group in groups.values() for call in group[:each]]


def observed_names() -> set[str]:
    folder = support_matrix_dir() / "observed" / "2.13.0"
    return {name for path in folder.glob("ascend910b.json") for name in json.loads(path.read_text())["ops"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", action="store_true")
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--signatures", type=Path)
    parser.add_argument("--list", type=int, default=0, metavar="N", help="show up to N reasons of failures")
    parser.add_argument("--only", default="", help="overloads whose name holds this")
    parser.add_argument("--each", type=int, default=0, metavar="N", help="at most N signatures an overload and dtype")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child()
    if options.signatures and options.signatures.exists():
        calls = msgspec.json.decode(options.signatures.read_bytes(), type=list[OpCall])
    else:
        calls = record_models(options.train) if options.models else record()
        if options.signatures:
            options.signatures.write_bytes(msgspec.json.encode(calls))
    calls = [c for c in calls if options.only in c.name]
    if options.each:
        calls = few(calls, options.each)
    found = list(zip(calls, outcomes(calls), strict=True))
    report(found, options.list)
    if options.json:
        rows = [[c.name, o, msgspec.to_builtins(c)] for c, o in found]
        options.json.write_text(json.dumps(rows, indent=0))


def report(found: list[tuple[OpCall, str]], shown: int) -> None:
    by_name: dict[str, list[str]] = collections.defaultdict(list)
    for call, outcome in found:
        by_name[call.name].append(outcome)
    passed = sum(o == "ok" for _, o in found)
    whole = {name for name, os in by_name.items() if all(o == "ok" for o in os)}
    some = {name for name, os in by_name.items() if any(o == "ok" for o in os)}
    print(f"signatures: {passed} of {len(found)} pass ({passed / max(len(found), 1):.1%})")
    print(f"overloads: {len(whole)} of {len(by_name)} pass with every signature, {len(some)} with one at least")
    listed = observed_names() & by_name.keys()
    print(f"of {len(listed)} in the observed table: {len(listed & whole)} with every, {len(listed & some)} with one")
    reasons = collections.Counter((c.name, o) for c, o in found if o != "ok")
    for (name, outcome), count in reasons.most_common(shown):
        print(f"  {count:4} {name}: {outcome[:160]}")


if __name__ == "__main__":
    main()
