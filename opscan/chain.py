"""The chain: which tracers are asked for a model's inventory, in which order, and which of their inventories is kept.

Each tracer runs in a process of its own, so that a crash or a hang of one leaves the others alone.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from opscan.engine import EngineChoice, choose
from opscan.errors import LoadError, MatrixError, ModelError, OpscanError, UsageError
from opscan.inventory import Attempt, Inventory
from opscan.target import Route, Target
from opscan.worker.host import Engine, Worker, WorkerDied
from opscan.worker.protocol import Check, Checked, Scanned

TracerChoice = Literal["auto", "dispatch", "export", "fx", "jit", "onnx"]
Progress = Callable[[str], None]

#: What ``auto`` turns to behind the dispatch tracer: the one that knows most of operators and sizes first.
FALLBACKS: tuple[Literal["export", "jit", "fx"], ...] = ("export", "jit", "fx")

#: Seconds for a tracer that another one's failure called for.
FALLBACK_LIMIT = 300.0

#: Errors that no other tracer would be spared.
_FINAL = (LoadError, ModelError, MatrixError, UsageError)


class Ask(Protocol):
    """Trace the model in a worker. ``time_limit`` in seconds; None for as long as it takes."""

    def __call__(self, worker: Worker, progress: Progress, time_limit: float | None) -> Scanned: ...


@dataclass(frozen=True, slots=True)
class Link:
    """One tracer on one engine. ``time_limit`` in seconds."""

    engine: Engine
    time_limit: float | None = None

    @property
    def is_rehearsal(self) -> bool:
        return self.engine.name == "rehearse"


@dataclass(frozen=True, slots=True)
class Plan:
    """Tracers in the order in which they are asked. ``before``: attempts that came to nothing on the way here."""

    links: tuple[Link, ...]
    before: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True)
class Followed:
    """The inventory that is kept, whose trace knows of all attempts; the last of them is its own. ``worker`` made it
    and still runs; None where it has ended."""

    scanned: Scanned
    link: Link
    worker: Worker | None


class Checks:
    """Where replacements are checked: in the worker that made the inventory if it runs models as they are, else in one
    of its own, which starts with the first check."""

    def __init__(self, worker: Worker | None) -> None:
        self._stack = ExitStack()
        usable = worker is not None and worker.engine.tracer not in FALLBACKS
        self._worker = worker if usable else None

    def __enter__(self) -> Checks:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def check(self, request: Check) -> Checked:
        """Raises OpscanError."""
        if self._worker is None:
            self._worker = self._stack.enter_context(Worker())
        return self._worker.check(request)


def check(tracer: TracerChoice, route: Route, engine: EngineChoice) -> None:
    """Raises UsageError where a tracer does not go with a route or an engine."""
    if tracer == "auto":
        return
    if route == "offline" and tracer != "onnx":
        raise UsageError(
            f"--tracer {tracer} does not go with --route offline, which judges the nodes of the exported ONNX model.",
            "Leave --tracer away, or write --tracer onnx.",
        )
    if route == "graph":
        raise UsageError(
            f"--tracer {tracer} does not go with --route graph, which has a tracer of its own.", "Leave --tracer away."
        )
    if tracer == "onnx" and route != "offline":
        raise UsageError(
            "--tracer onnx lists nodes of an ONNX model: they are judged for the offline route.",
            "Write --tracer onnx --route offline, or leave --route away.",
        )
    if engine == "rehearse" and tracer != "dispatch":
        raise UsageError(
            f"--tracer {tracer} does not go with a rehearsal, which follows the model operator by operator.",
            "Leave --rehearse and --engine away, or write --tracer dispatch.",
        )


def plan(tracer: TracerChoice, engine: EngineChoice, target: Target, progress: Progress) -> Plan:
    """The tracers for a target. Raises UsageError for what does not go together, and where an engine is asked for that
    is not at hand.
    """
    check(tracer, target.route, engine)
    if tracer in FALLBACKS:
        return Plan((Link(Engine(tracer=tracer)),))
    chosen = choose(engine, target, progress)
    first = Link(chosen.engine)
    before = (Attempt("dispatch", False, f"rehearse: {chosen.refused}"),) if chosen.refused else ()
    if target.route != "eager":
        return Plan((first,), before)
    links = [first]
    if first.is_rehearsal and engine == "auto":
        links.append(Link(Engine()))
    if tracer == "auto" and engine != "rehearse":
        links += [Link(Engine(tracer=name), FALLBACK_LIMIT) for name in FALLBACKS]
    return Plan(tuple(links), before)


def follow(plan: Plan, ask: Ask, progress: Progress, stack: ExitStack) -> Followed:
    """Ask one tracer after the other until one reaches the model's end, and keep the most complete inventory.

    The worker of the last one stays with ``stack``. Raises the error of the first tracer where none has an inventory,
    and at once what is the model's own.
    """
    kept: Followed | None = None
    failed: list[Attempt] = []
    errors: list[OpscanError] = []
    for link in plan.links:
        with ExitStack() as own:
            try:
                worker = own.enter_context(Worker(link.engine))
                progress(_starting(link))
                scanned = ask(worker, _named(link, progress), link.time_limit)
            except OpscanError as error:
                if kept is None and _is_final(error, link):
                    raise
                failed.append(Attempt(link.engine.tracer, False, _told(link, error)))
                errors.append(error)
                continue
            before, kept = kept, _better(kept, Followed(scanned, link, None))
            if before is not None:
                failed += _passed_over(before if kept.link is link else Followed(scanned, link, None), kept)
            if not ended_early(kept.scanned.inventory) or _is_of_the_device(kept):
                if kept.link is link:
                    kept = replace(kept, worker=worker)
                    stack.push(own.pop_all())
                break
    if kept is None:
        raise _all_failed(plan, failed, errors)
    return _with_attempts(kept, (*plan.before, *failed))


def ended_early(inventory: Inventory) -> bool:
    """Whether the tracer gave up before the model's end."""
    attempts = inventory.trace.attempts
    return bool(attempts) and not attempts[-1].ok


def distinct(inventory: Inventory) -> int:
    """Operators that a report would list: different names, phases or dtypes."""
    return len({(call.name, call.phase, call.dtypes) for call in inventory.calls})


def _better(kept: Followed | None, new: Followed) -> Followed:
    """A complete inventory beats an incomplete one; of two incomplete ones that with more distinct operators stays, and
    of equals the first."""
    if kept is None:
        return new
    return max((kept, new), key=lambda followed: _completeness(followed.scanned.inventory))


def _completeness(inventory: Inventory) -> tuple[bool, int]:
    return inventory.trace.complete and not ended_early(inventory), distinct(inventory)


def _is_of_the_device(followed: Followed) -> bool:
    """A rehearsal that computed all values and ended has met what an NPU would: no other tracer may hide that."""
    trace = followed.scanned.inventory.trace
    return trace.engine == "rehearse" and trace.values == "computed"


def _is_final(error: OpscanError, link: Link) -> bool:
    """Whether the model or the request is to blame, as far as the dispatch tracer can tell: it runs the model as it is.
    A child that ended by itself, or for want of memory, would do so under any tracer.
    """
    if link.engine.tracer not in FALLBACKS and isinstance(error, _FINAL):
        return True
    if link.is_rehearsal or not isinstance(error, WorkerDied) or error.timed_out:
        return False
    return error.signal in (None, signal.SIGKILL)


def _passed_over(lost: Followed, kept: Followed) -> tuple[Attempt, ...]:
    """The attempts of an inventory that is not shown, with the reason."""
    own = lost.scanned.inventory.trace.attempts
    if not own or not own[-1].ok:
        return own
    less = f"It saw {distinct(lost.scanned.inventory)} distinct operators, {kept.link.engine.tracer} saw "
    return (*own[:-1], replace(own[-1], reason=f"{less}{distinct(kept.scanned.inventory)}."))


def _with_attempts(followed: Followed, before: tuple[Attempt, ...]) -> Followed:
    scanned = followed.scanned
    trace = scanned.inventory.trace
    inventory = replace(scanned.inventory, trace=replace(trace, attempts=(*before, *trace.attempts)))
    return replace(followed, scanned=Scanned(inventory, scanned.notes))


def _all_failed(plan: Plan, failed: list[Attempt], errors: list[OpscanError]) -> OpscanError:
    """The first error, and below it what the other tracers met."""
    first = errors[0]
    others = [attempt for attempt in failed[1:] if attempt.reason]
    if not others:
        return first
    told = "".join(f"\n  {attempt.tracer}: {attempt.reason}" for attempt in others)
    error = OpscanError(f"{first.message}\nOther tracers came to nothing either:{told}", first.hint)
    error.__cause__ = first.__cause__
    return error


def _told(link: Link, error: OpscanError) -> str:
    return f"rehearse: {error.message}" if link.is_rehearsal else error.message


def _starting(link: Link) -> str:
    if link.engine.tracer in FALLBACKS:
        return f"{link.engine.tracer}: starting torch"
    return "starting torch_npu" if link.is_rehearsal else "starting torch"


def _named(link: Link, progress: Progress) -> Progress:
    """Progress that says which tracer runs, where it is not the usual one."""
    name = link.engine.tracer
    if name not in FALLBACKS:
        return progress
    return lambda stage: progress(stage if stage.startswith(f"{name}:") else f"{name}: {stage}")
