"""Marking operator calls in the log of the simulated runtime, and reading the log back as rows."""

from __future__ import annotations

import collections
import os
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch_npu  # noqa: F401  (registers the device)
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

#: aclDataType (CANN's ``acl_base.h``) by number.
ACL_DTYPES = {
    0: "float32",
    1: "float16",
    2: "int8",
    3: "int32",
    4: "uint8",
    6: "int16",
    7: "uint16",
    8: "uint32",
    9: "int64",
    10: "uint64",
    11: "float64",
    12: "bool",
    16: "complex64",
    17: "complex128",
    27: "bfloat16",
    33: "complex32",
    35: "float8_e5m2",
    36: "float8_e4m3fn",
}

_SECONDS = 60


@dataclass(frozen=True)
class Case:
    """Something to run in a child of its own; it calls ``attempt`` for each call whose operators are to be marked."""

    name: str
    run: Callable[[Attempt], None]


Attempt = Callable[[str, Callable[[], Any]], Any]


def run(cases: list[Case], path: Path) -> None:
    """Run every case in a child process; a crash ends that case only."""
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for case in cases:
        child = os.fork()
        if child == 0:
            signal.alarm(_SECONDS)
            torch.manual_seed(0)
            case.run(_attempt(log))
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if status:
            _mark(log, "crashed", "", f"signal {status & 127} in {case.name}")
    os.close(log)


def _mark(log: int, *words: str) -> None:
    os.write(log, ("# " + "|".join(words) + "\n").encode())


def _attempt(log: int) -> Attempt:
    def attempt(phase: str, call: Callable[[], Any]) -> Any:
        """The call's value, None where it raised: the operator that raised is a row."""
        try:
            with _Marks(log, phase):
                return call()
        except Exception:
            return None

    return attempt


class _Marks(TorchDispatchMode):
    def __init__(self, log: int, phase: str) -> None:
        super().__init__()
        self.log, self.phase = log, phase

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        onto = str(kwargs.get("device") or "")
        if not onto.startswith("npu") and not any(t.device.type == "npu" for t in tensors):
            return func(*args, **kwargs)
        _mark(self.log, "call", self.phase, str(func), _dtypes(tensors))
        try:
            out = func(*args, **kwargs)
        except Exception as error:
            _mark(self.log, "raised", _requested(kwargs), str(error).split("\n")[0][:120].replace("|", "/"))
            raise
        _mark(self.log, "end", _dtypes([leaf for leaf in tree_leaves(out) if isinstance(leaf, torch.Tensor)]))
        return out


def _requested(kwargs: dict[str, Any]) -> str:
    """The result dtype that a call asked for by name; a call that raised has no other result."""
    return str(kwargs["dtype"]).removeprefix("torch.") if kwargs.get("dtype") is not None else ""


def _dtypes(tensors: list[torch.Tensor]) -> str:
    return " ".join(str(tensor.dtype).removeprefix("torch.") for tensor in tensors)


def read(path: Path) -> list[list[str]]:
    """The rows of a log, sorted, with how often each was seen."""
    rows: collections.Counter[tuple[str, ...]] = collections.Counter()
    call: list[str] | None = None
    kernels: list[str] = []
    pending: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# call|"):
            call, kernels = line.split("|")[1:], []
        elif line.startswith("# ") and call:
            what, _, rest = line[2:].partition("|")
            results, _, message = rest.partition("|")
            outcome = "ok" if what == "end" else f"{what}: {message}"
            rows[(*call, results, outcome, " ; ".join(kernels))] += 1
            call = None
        elif line.startswith("A "):
            kernel, _, arguments = line[2:].partition(" ")
            pending[kernel] = arguments
        elif line.startswith("aclnn"):
            kernels.append(f"{line}[{_named(pending.pop(line, '?'))}]")
        elif line.startswith("GE "):
            op_type, _, rest = line[3:].partition(" in")
            into, _, out = rest.partition(" out")
            kernels.append(f"GE {op_type}[{_plain(into.strip())} > {_plain(out.strip())}]")
        elif line in ("H2D", "D2H", "copy"):
            kernels.append(line)
    return [[*key, str(count)] for key, count in sorted(rows.items())]


def _named(arguments: str) -> str:
    """``T:0 S:9 v`` → ``T:float32 S:int64 v``."""
    words = (word.partition(":") for word in arguments.split())
    return " ".join(f"{kind}:{_plain(numbers)}" if numbers else kind for kind, _, numbers in words)


def _plain(numbers: str) -> str:
    names = numbers.replace("-1", "null")  # an optional input that is left out
    return re.sub(r"(?<![\w.])\d+", lambda match: ACL_DTYPES.get(int(match[0]), match[0]), names)
