"""The chain: which tracers are asked for a model's inventory, in which order, and which of their inventories is kept.

Each tracer runs in a process of its own, so that a crash or a hang of one leaves the others alone.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from opscan.engine import EngineChoice, choose, virtual_engine
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

#: The same for a rehearsal in a cross-check: it may compute what the model computes.
REHEARSAL_LIMIT = 900.0

#: How a trace tells that it ended where the model needs what a CUDA extension returns, which nothing here can compute:
#: ``opscan.tracing.cuda.extensions.calls``.
_AT_EXTENSION = "CudaExtensionError"

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

    @property
    def name(self) -> str:
        """The tracer's, or ``rehearse``, which is the dispatch tracer on the real adapter."""
        return "rehearse" if self.is_rehearsal else self.engine.tracer


@dataclass(frozen=True, slots=True)
class Plan:
    """Tracers in the order in which they are asked. ``before``: attempts that came to nothing on the way here."""

    links: tuple[Link, ...]
    before: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True)
class Tried:
    """What one tracer came to: an inventory, which may end early, or the error that it ended with."""

    link: Link
    scanned: Scanned | None
    error: OpscanError | None = None


@dataclass(frozen=True, slots=True)
class Followed:
    """The inventory that is kept, whose trace knows of all attempts; the last of them is its own. ``worker`` made it
    and still runs; None where it has ended. ``tried``: all that were asked, in order."""

    scanned: Scanned
    link: Link
    worker: Worker | None
    tried: tuple[Tried, ...] = ()


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


def check(tracer: TracerChoice, route: Route, engine: EngineChoice, cross_check: bool = False) -> None:
    """Raises UsageError where a tracer does not go with a route or an engine, or a cross-check with a route."""
    if cross_check and route != "eager":
        raise UsageError(
            f"--cross-check does not go with the {route} route, which has one tracer.",
            "Leave --cross-check away, or scan with --route eager.",
        )
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
    before = (Attempt(first.engine.tracer, False, f"rehearse: {chosen.refused}"),) if chosen.refused else ()
    links = [first]
    if first.is_rehearsal and engine == "auto":
        links.append(Link(virtual_engine(target.route)))
    if tracer == "auto" and engine != "rehearse" and target.route == "eager":
        links += [Link(Engine(tracer=name), FALLBACK_LIMIT) for name in FALLBACKS]
    return Plan(tuple(links), before)


def follow(plan: Plan, ask: Ask, progress: Progress, stack: ExitStack) -> Followed:
    """Ask one tracer after the other until one reaches the model's end, and keep the most complete inventory.

    The worker of the last one stays with ``stack``. Raises the error of the first tracer where none has an inventory,
    and at once what is the model's own.
    """
    tried: list[Tried] = []
    kept: Tried | None = None
    kept_worker: Worker | None = None
    for link in plan.links:
        with ExitStack() as own:
            new, worker = try_link(link, ask, progress, own)
            if kept is None and new.error is not None and _is_final(new.error, link):
                raise new.error
            tried.append(new)
            kept = _better(kept, new)
            if kept is not None and _is_the_end(kept):
                if kept is new:
                    kept_worker = worker
                    stack.push(own.pop_all())
                break
    if kept is None:
        raise _all_failed(tried)
    assert kept.scanned is not None
    attempts = [attempt for one in tried if one is not kept for attempt in _attempts(one, kept)]
    scanned = _with_attempts(kept.scanned, (*plan.before, *attempts))
    return Followed(scanned, kept.link, kept_worker, tuple(tried))


def ask_all(followed: Followed, engine: EngineChoice, target: Target, ask: Ask, progress: Progress) -> list[Tried]:
    """What every tracer of the eager route comes to, the rehearsal first where an environment for it is at hand and
    ``engine`` does not rule it out. Those that were asked before are not asked again.
    """
    links = [Link(Engine(), FALLBACK_LIMIT), *(Link(Engine(tracer=name), FALLBACK_LIMIT) for name in FALLBACKS)]
    chosen = choose(engine, target, progress).engine
    if chosen.name == "rehearse":
        links.insert(0, Link(chosen, REHEARSAL_LIMIT))
    before = {tried.link.name: tried for tried in followed.tried}
    found = []
    for link in links:
        if link.name in before:
            found.append(before[link.name])
            continue
        with ExitStack() as own:
            found.append(try_link(link, ask, lambda stage: progress(f"cross-check: {stage}"), own)[0])
    return found


def try_link(link: Link, ask: Ask, progress: Progress, stack: ExitStack) -> tuple[Tried, Worker]:
    """Ask one tracer, in a worker that ends with ``stack``."""
    worker = stack.enter_context(Worker(link.engine))
    progress(_starting(link))
    try:
        return Tried(link, ask(worker, _named(link, progress), link.time_limit)), worker
    except OpscanError as error:
        return Tried(link, None, error), worker


def ended_early(inventory: Inventory) -> bool:
    """Whether the tracer gave up before the model's end."""
    attempts = inventory.trace.attempts
    return bool(attempts) and not attempts[-1].ok


def distinct(inventory: Inventory) -> int:
    """Operators that a report would list: different names, phases or dtypes."""
    return len({(call.name, call.phase, call.dtypes) for call in inventory.calls})


def _better(kept: Tried | None, new: Tried) -> Tried | None:
    """A complete inventory beats an incomplete one; of two incomplete ones that with more distinct operators stays, and
    of equals the first."""
    if kept is None or new.scanned is None:
        return kept if new.scanned is None else new
    return max((kept, new), key=_completeness)


def _completeness(tried: Tried) -> tuple[bool, int]:
    assert tried.scanned is not None
    inventory = tried.scanned.inventory
    return inventory.trace.complete and not ended_early(inventory), distinct(inventory)


def _is_the_end(kept: Tried) -> bool:
    """Whether no other tracer is asked: the inventory reaches the model's end, or that of what can be followed here; or
    it is that of a rehearsal that computed all values, or of one that compiled: what these met an NPU would, and no
    other tracer may hide it."""
    assert kept.scanned is not None
    trace = kept.scanned.inventory.trace
    if kept.link.engine.tracer == "graph" or any(_AT_EXTENSION in (each.reason or "") for each in trace.attempts[-1:]):
        return True
    return not ended_early(kept.scanned.inventory) or (trace.engine == "rehearse" and trace.values == "computed")


def _is_final(error: OpscanError, link: Link) -> bool:
    """Whether the model or the request is to blame, as far as the dispatch tracer can tell: it runs the model as it is.
    A child that ended by itself, or for want of memory, would do so under any tracer.
    """
    if link.engine.tracer not in FALLBACKS and isinstance(error, _FINAL):
        return True
    if link.is_rehearsal or not isinstance(error, WorkerDied) or error.timed_out:
        return False
    return error.signal in (None, signal.SIGKILL)


def _attempts(tried: Tried, kept: Tried) -> tuple[Attempt, ...]:
    """The attempts of a tracer whose inventory is not shown, with the reason."""
    tracer = tried.link.engine.tracer
    if tried.scanned is None or kept.scanned is None:
        where = "rehearse: " if tried.link.is_rehearsal else ""
        message = " ".join(tried.error.message.split()) if tried.error else ""
        return (Attempt(tracer, False, f"{where}{message}"),)
    own = tried.scanned.inventory.trace.attempts
    if not ended_early(tried.scanned.inventory):
        less = f"It saw {distinct(tried.scanned.inventory)} distinct operators"
        more = f"{kept.link.engine.tracer} saw {distinct(kept.scanned.inventory)}"
        return (*own[:-1], Attempt(tracer, True, f"{less}; {more}."))
    return own


def _with_attempts(scanned: Scanned, before: tuple[Attempt, ...]) -> Scanned:
    trace = scanned.inventory.trace
    inventory = replace(scanned.inventory, trace=replace(trace, attempts=(*before, *trace.attempts)))
    return Scanned(inventory, scanned.notes)


def _all_failed(tried: list[Tried]) -> OpscanError:
    """The first error, and below it what the other tracers met."""
    first, *others = [one for one in tried if one.error is not None]
    assert first.error is not None
    if not others:
        return first.error
    told = "".join(f"\n  {one.link.engine.tracer}: {one.error.message}" for one in others if one.error is not None)
    error = OpscanError(f"{first.error.message}\nOther tracers came to nothing either:{told}", first.error.hint)
    error.__cause__ = first.error.__cause__
    return error


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
