"""Marking operator calls in the log of the simulated runtime, and reading the log back as rows."""

from __future__ import annotations

import collections
import os
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch_npu  # noqa: F401  (registers the device)
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from observing.relatives import relatives
from opscan.inventory import KernelArgument, KernelLaunch
from opscan.probing.simulator.events import LEGACY, Copy, decode

#: Calls whose arguments were not made for them: what they launch counts, that they raise does not.
DERIVED = "derived"

#: Relatives are called for these dtypes only; the rest would be many rows for few models.
LIKELY = frozenset(
    ("float32", "float16", "bfloat16", "float64", "int64", "int32", "uint8", "bool", "complex64")
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Something to run in a child of its own; it calls ``attempt`` for each call whose operators are to be marked.

    ``seconds``: of processor time, after which the child is stopped; some CPU kernels never end on zeros.
    ``related``: whether relatives of the operators are called too.
    """

    name: str
    run: Callable[[Attempt], None]
    seconds: int = 20
    related: bool = True


class Attempt:
    """Runs calls and marks them in the log. ``attempt(phase, call)`` is the call's value, None where it raised."""

    def __init__(self, log: int, *, related: bool) -> None:
        self._log, self._related = log, related
        self._called: set[tuple[str, str]] = set()

    def __call__(self, phase: str, call: Callable[[], Any]) -> Any:
        """Marks every operator that reaches the dispatcher's Python key, and tries each one's relatives."""
        try:
            with _Marks(self, phase):
                return call()
        except Exception:
            return None

    def direct(self, phase: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Call one overload, marked as a whole with all that it launches; returns whether it came back."""
        try:
            with torch.no_grad():
                self.marked(phase, func, args, kwargs)
        except Exception:
            return False
        return True

    def marked(self, phase: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value of ``func``; between the two marks the log holds what it launches."""
        _mark(self._log, "call", phase, str(func), " ".join(_dtypes_of((args, kwargs))))
        try:
            out = func(*args, **kwargs)
        except Exception as error:
            _mark(self._log, "raised", _requested(kwargs), str(error).split("\n")[0][:120].replace("|", "/"))
            raise
        _mark(self._log, "end", " ".join(_dtypes_of(out)))
        return out

    def related(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> None:
        """Call every relative of an observed call, once for each sequence of dtypes that models are likely to use."""
        if not self._related or not LIKELY.issuperset(_dtypes_of((args, kwargs))):
            return
        with torch.no_grad():
            for relative, given, options in relatives(func, args, kwargs, out):
                key = str(relative), " ".join(_dtypes_of((given, options)))
                if key not in self._called:
                    self._called.add(key)
                    self.direct(DERIVED, relative, given, options)


def run(cases: list[Case], path: Path) -> None:
    """Run every case in a child process; a crash ends that case only."""
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for case in cases:
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (case.seconds, case.seconds))
            signal.alarm(10 * case.seconds)
            _run_and_exit(case, log)
        status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status):
            _mark(log, "crashed", "", f"signal {os.WTERMSIG(status)} in {case.name}")
    os.close(log)


def _run_and_exit(case: Case, log: int) -> None:
    """In the child, without the exit handlers of torch_npu, which wait for a device."""
    try:
        torch.manual_seed(0)
        case.run(Attempt(log, related=case.related))
    except Exception as error:  # what a case does between its calls may fail on a SoC: a dtype that it lacks
        _mark(log, "note", "", f"{case.name}: {str(error).splitlines()[0][:120]}")
        os._exit(1)
    os._exit(0)


def note(path: Path, overload: str, outcome: str) -> None:
    """A row for an overload that was not called."""
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    _mark(log, "call", DERIVED, overload, "")
    what, _, why = outcome.partition(": ")
    _mark(log, what, "", why)
    os.close(log)


def _mark(log: int, *words: str) -> None:
    os.write(log, ("# " + "|".join(words) + "\n").encode())


class _Marks(TorchDispatchMode):
    def __init__(self, attempt: Attempt, phase: str) -> None:
        super().__init__()
        self.attempt, self.phase = attempt, phase

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        onto = str(kwargs.get("device") or "")
        if not onto.startswith("npu") and not any(t.device.type == "npu" for t in tensors):
            return func(*args, **kwargs)
        out = self.attempt.marked(self.phase, func, args, kwargs)
        self.attempt.related(func, args, kwargs, out)
        return out


def _requested(kwargs: dict[str, Any]) -> str:
    """The result dtype that a call asked for by name; a call that raised has no other result."""
    return str(kwargs["dtype"]).removeprefix("torch.") if kwargs.get("dtype") is not None else ""


def _dtypes_of(value: Any) -> list[str]:
    """dtypes of the tensors in ``value``, in order."""
    leaves = tree_leaves(value)
    return [str(leaf.dtype).removeprefix("torch.") for leaf in leaves if isinstance(leaf, torch.Tensor)]


def read(path: Path) -> list[list[str]]:
    """The rows of a log, sorted, with how often each was seen."""
    rows: collections.Counter[tuple[str, ...]] = collections.Counter()
    call: list[str] | None = None
    kernels: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# call|"):
            call, kernels = line.split("|")[1:], []
        elif line.startswith("# ") and call:
            what, _, rest = line[2:].partition("|")
            results, _, message = rest.partition("|")
            outcome = "ok" if what == "end" else f"{what}: {message}"
            rows[(*call, results, outcome, " ; ".join(kernels))] += 1
            call = None
        elif not line.startswith("#"):
            (event,) = decode(line.encode())
            if isinstance(event, KernelLaunch):
                kernels.append(_launch(event))
            elif isinstance(event, Copy) and event.word in ("H2D", "D2H", "copy"):
                kernels.append(event.word)
    return [[*key, str(count)] for key, count in sorted(_telling(rows).items())]


def _telling(rows: collections.Counter[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
    """Of derived calls that failed only the commonest a overload, and that where nothing else is known of it."""
    reached = {row[1] for row in rows if row[4] == "ok"}
    kept = {row: count for row, count in rows.items() if row[0] != DERIVED or row[4] == "ok"}
    known = reached | {row[1] for row in kept}
    failed = [(row, count) for row, count in rows.items() if row[0] == DERIVED and row[1] not in known]
    reasons: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for row, count in failed:
        reasons[row[1]][row[4]] += count
    for name, outcomes in reasons.items():
        outcome, count = min(outcomes.items(), key=lambda item: (-item[1], item[0]))
        kept[DERIVED, name, "", "", outcome, ""] = count
    return kept


def _launch(launch: KernelLaunch) -> str:
    """``aclnnAdds[T:float32 S:int64 v]``, or ``GE Cast[int64 > float32]`` on the legacy path."""
    if not launch.api.startswith(LEGACY):
        return f"{launch.api}[{' '.join(map(_argument, launch.arguments))}]"
    into = (argument.tensors[0].dtype if argument.tensors else "null" for argument in launch.arguments)
    return f"{launch.api}[{' '.join(into)} > {' '.join(spec.dtype for spec in launch.results)}]"


def _argument(argument: KernelArgument) -> str:
    if argument.kind in "IBFZ":
        return f"{argument.kind}:-"
    dtypes = ",".join(spec.dtype for spec in argument.tensors)
    return f"{argument.kind}:{dtypes}" if dtypes else argument.kind
