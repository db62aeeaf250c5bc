"""Tries signatures on devices: one worker process a device, restarted where an operator takes it down.

A crash, a hang or garbage costs one operator. A device that stays dead is given up, and its operators go to the
others; where none is left, the rest is not run, and the report says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from threading import Event, Thread

from msgspec.structs import replace as altered

from opscan.probing.protocol import Hello, Limits, Outcome, Run, Status, Versions
from opscan.probing.refusals import fallbacks_in, judged
from opscan.probing.signature import Signature
from opscan.probing.work import Task, Work
from opscan.probing.worker_process import Finished, Lost, StageLimits, Start, StartFailed, WorkerProcess


@dataclass(frozen=True, slots=True)
class Options:
    """Times are in seconds.

    ``time_limit``: an operator on the device; ``first_extra``: added for the first of a process, which loads and
    compiles kernels. ``host_limit``: making arguments, the reference on the CPU, the comparison. ``start_limit``: until
    a worker greets. ``start_attempts``: starts that fail in a row until the device is given up; ``start_pause`` grows
    with each. ``losses``: different operators in a row that lose the device until it is given up. ``retries``: how
    often an operator that took a worker down is tried again; one that hung is not.
    """

    time_limit: float = 60.0
    first_extra: float = 120.0
    host_limit: float = 300.0
    start_limit: float = 180.0
    start_attempts: int = 3
    start_pause: float = 1.0
    losses: int = 5
    retries: int = 1
    seed: int = 0
    timing: Limits = field(default_factory=Limits)


@dataclass(slots=True)
class DeviceState:
    """What became of one device. ``starts`` counts the processes that greeted; ``given_up`` is the reason, empty where
    it was used to the end."""

    index: int
    versions: Versions | None = None
    starts: int = 0
    given_up: str = ""
    for_good: bool = False


@dataclass(frozen=True, slots=True)
class PoolReport:
    """``complete``: every signature was tried. An outcome for each was given to the listener in any case."""

    devices: tuple[DeviceState, ...]
    complete: bool
    interrupted: bool


#: Told of the outcome of a signature, by its position. Called in the thread that runs the pool.
Listener = Callable[[int, Outcome], None]


@dataclass(frozen=True, slots=True)
class _Answer:
    task: Task
    outcome: Outcome


def run_pool(
    start: Start,
    devices: Sequence[int],
    signatures: Sequence[Signature],
    options: Options,
    listener: Listener,
    interrupt: Event,
) -> PoolReport:
    """Try every signature once, in any order; the listener is given exactly one outcome for each.

    When ``interrupt`` is set the workers are ended within half a second or so; the rest are ``not_run``, and the report
    says so.
    """
    states = tuple(DeviceState(index) for index in devices)
    if not signatures:
        return PoolReport(states, True, interrupt.is_set())
    pool = _Pool(start, states, options, listener, interrupt)
    tasks = [Task(index, signature) for index, signature in enumerate(signatures)]
    crowded: list[_Answer] = []
    left = pool.together(tasks, states, crowded)
    alive = next((state for state in states if not state.given_up), None)
    if crowded and alive is not None and not interrupt.is_set():
        # What ran out of memory is tried once more with the machine to itself, in a process of its own.
        again = pool.together([answer.task for answer in crowded], (alive,), None)
        crowded = [answer for answer in crowded if answer.task in again]
    for answer in crowded:
        listener(answer.task.index, answer.outcome)
    for task in left:
        listener(task.index, pool.reason_not_run())
    return PoolReport(states, not left, interrupt.is_set())


@dataclass(slots=True)
class _Pool:
    start: Start
    states: tuple[DeviceState, ...]
    options: Options
    listener: Listener
    interrupt: Event
    _stop: Event = field(default_factory=Event)

    def together(
        self, tasks: Sequence[Task], states: Sequence[DeviceState], crowded: list[_Answer] | None
    ) -> list[Task]:
        """Run tasks on all these devices; those that none was left for. Outcomes out of memory go to ``crowded``."""
        work = Work(tasks)
        answers: SimpleQueue[_Answer] = SimpleQueue()
        usable = [state for state in states if not state.given_up]
        threads = [Thread(target=_Runner(self, state, work, answers).run, daemon=True) for state in usable]
        answered: set[int] = set()

        def pass_on(answer: _Answer) -> None:
            answered.add(answer.task.index)
            if answer.outcome.status == "out_of_memory" and crowded is not None:
                crowded.append(answer)
            else:
                self.listener(answer.task.index, answer.outcome)

        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                _take_all(answers, pass_on, 0.1)
        finally:  # an error, or a second interrupt: no thread and no process may outlive this
            self._stop.set()
            work.close()
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
            self._stop.clear()
        _take_all(answers, pass_on, 0.0)
        return [task for task in tasks if task.index not in answered]

    @property
    def stopped(self) -> bool:
        return self._stop.is_set() or self.interrupt.is_set()

    def reason_not_run(self) -> Outcome:
        if self.interrupt.is_set():
            return Outcome("not_run", "the probe was interrupted before its turn")
        reasons = "; ".join(f"device {state.index}: {state.given_up}" for state in self.states if state.given_up)
        return Outcome("not_run", f"no device was left: {reasons}")


def _take_all(answers: SimpleQueue[_Answer], pass_on: Callable[[_Answer], None], wait: float) -> None:
    while True:
        try:
            pass_on(answers.get(timeout=wait) if wait else answers.get_nowait())
        except Empty:
            return


@dataclass(slots=True)
class _Runner:
    """One device and its worker, in a thread of their own."""

    pool: _Pool
    state: DeviceState
    work: Work
    answers: SimpleQueue[_Answer]
    _worker: WorkerProcess | None = None
    _fresh: bool = True
    _lost_in_a_row: set[str] = field(default_factory=set)

    def run(self) -> None:
        try:
            while not self.pool.stopped and self._ready() and (task := self.work.take()) is not None:
                try:
                    self._try(task)
                except Exception as error:
                    # No task may stay in the hands of a thread that is gone: the others would wait for it.
                    self.work.put_back(task)
                    self.state.given_up = f"internal error: {type(error).__name__}: {error}"
                if self.state.given_up:
                    break
        finally:
            self._end_worker()

    # --- the worker -----------------------------------------------------------------------------------------------

    def _ready(self) -> bool:
        """Whether there is a worker; one is started where there is none, several times if need be."""
        options = self.pool.options
        for attempt in range(options.start_attempts):
            if self._worker is not None:
                return True
            if attempt:
                self._pause(options.start_pause * attempt)
            if self.pool.stopped:
                return False
            try:
                self._start()
            except StartFailed as error:
                self.state.given_up, self.state.for_good = error.reason, error.for_good
                if error.for_good or self.pool.stopped:
                    break
            except OSError as error:  # no such interpreter
                self.state.given_up, self.state.for_good = f"{self.pool.start.interpreter}: {error.strerror}", True
                break
            else:
                self.state.given_up = ""
        return self._worker is not None

    def _start(self) -> None:
        worker = WorkerProcess(self.pool.start, self.state.index, lambda: self.pool.stopped)
        try:
            hello: Hello = worker.greeted(self.pool.options.start_limit)
        except BaseException:
            worker.end()
            raise
        self._worker, self._fresh = worker, True
        self.state.versions = hello.versions
        self.state.starts += 1

    def _pause(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and not self.pool.stopped:
            time.sleep(min(0.1, seconds))

    def _end_worker(self) -> None:
        if self._worker is not None:
            self._worker.end()
            if self._worker.lingers:
                self.state.given_up = "its process was killed and does not end: the driver seems to hang"
        self._worker = None

    # --- one signature --------------------------------------------------------------------------------------------

    def _try(self, task: Task) -> None:
        assert self._worker is not None
        options = self.pool.options
        extra = options.first_extra if self._fresh else 0.0
        self._fresh = False
        request = Run(task.index, task.signature, options.seed, options.timing, task.compare)
        answer = self._worker.ask(request, StageLimits(options.time_limit + extra, options.host_limit))
        if isinstance(answer, Finished):
            self._finished(task, answer)
        else:
            self._end_worker()
            self._lost(task, answer)

    def _finished(self, task: Task, answer: Finished) -> None:
        outcome = judged(_with_fallbacks(answer.outcome, answer.printed), answer.healthy)
        if answer.healthy:
            self._lost_in_a_row.clear()
        else:
            self._end_worker()
            self._lost_in_a_row.add(task.signature.operator)
        if outcome.status in ("device_lost", "crashed") and task.losses < self.pool.options.retries:
            self._again(replace(task, losses=task.losses + 1))
        else:
            self._answer(task, outcome)
        if len(self._lost_in_a_row) >= self.pool.options.losses:
            names = ", ".join(sorted(self._lost_in_a_row))
            self.state.given_up = f"it was lost by each of {names}; the last said: {outcome.message[:200]}"

    def _lost(self, task: Task, lost: Lost) -> None:
        if lost.how == "stopped":
            self.work.put_back(task)
        elif lost.stage in ("comparison", "timing") and lost.so_far is not None:
            outcome = _with_fallbacks(lost.so_far, lost.printed)
            doing = "compared" if lost.stage == "comparison" else "timed"
            self._answer(task, altered(outcome, note=_joined(outcome.note, f"not {doing}: the worker {lost.reason}")))
        elif lost.stage == "device":
            self._lost_on_the_device(task, lost)
        elif lost.stage == "reference" and task.compare:
            self._again(replace(task, compare=False))
        else:
            self._lost_on_the_host(task, lost)

    def _lost_on_the_device(self, task: Task, lost: Lost) -> None:
        if lost.how == "timeout":
            message = f"it did not end within {self.pool.options.time_limit:g} seconds: the worker {lost.reason}"
            self._answer(task, self._outcome("timeout", message, ""))
        elif task.losses < self.pool.options.retries:
            self._again(replace(task, losses=task.losses + 1))
        else:
            self._answer(task, self._outcome("crashed", f"the worker {lost.reason}", lost.code))

    def _lost_on_the_host(self, task: Task, lost: Lost) -> None:
        """Before the operator reached the device: once more, for a worker may die between two operators too."""
        if task.losses < self.pool.options.retries and lost.how != "timeout":
            self._again(replace(task, losses=task.losses + 1))
            return
        doing = lost.stage or "beginning"
        self._answer(task, self._outcome("not_run", f"the worker {lost.reason} ({doing})", lost.code))

    def _outcome(self, status: Status, message: str, code: str) -> Outcome:
        return Outcome(status, message, code, versions=self.state.versions)

    def _again(self, task: Task) -> None:
        self.work.put_back(task)

    def _answer(self, task: Task, outcome: Outcome) -> None:
        self.answers.put(_Answer(task, outcome))
        self.work.done()


def _with_fallbacks(outcome: Outcome, printed: str) -> Outcome:
    """torch_npu's own warning names the overload; a profile alone knows the operator's name."""
    warned = fallbacks_in(printed)
    if not warned:
        return outcome
    status = "fallback" if outcome.status == "native" else outcome.status
    return altered(outcome, status=status, operators=warned)


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
