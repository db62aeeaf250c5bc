"""Runs scans side by side: as many as asked for and as memory allows, each within its time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from opscan.batch.process import ScanProcess

#: Bytes that a scan is expected to take before one has shown how much it is.
_FIRST_GUESS = 1 << 30

#: Seconds in which a scan has not yet taken what it will take.
_GROWING = 20.0

_PAUSE = 0.05

#: How a scan says that the kernel's memory killer, mostly, took its worker.
_KILLED = "was killed by SIGKILL"


@dataclass(frozen=True, slots=True)
class Job:
    """One scan: a number to know it by, its command line, and the folder that it runs in."""

    number: int
    command: list[str]
    folder: Path


@dataclass(frozen=True, slots=True)
class Started:
    number: int


@dataclass(frozen=True, slots=True)
class Ended:
    """``exit_code`` is negative for a signal, and None where the time was over. ``said``: the end of its stderr."""

    number: int
    exit_code: int | None
    seconds: float
    said: str


@dataclass(frozen=True, slots=True)
class Limits:
    """``jobs``: scans at a time. ``seconds``: for one scan. ``memory``: bytes that are available now, if known."""

    jobs: int
    seconds: float
    memory: Callable[[], int | None]


def run(jobs: list[Job], limits: Limits, stop: Event) -> Iterator[Started | Ended]:
    """Run all, in order; events as they come. Ends early where ``stop`` is set. Whoever leaves the iteration early
    leaves no process behind.

    A scan that was killed while others ran, which is what a kernel does when memory is short, is tried once more when
    it is alone.
    """
    schedule = _Schedule(limits, deque(jobs))
    try:
        while schedule.unfinished and not stop.is_set():
            yield from schedule.start()
            yield from schedule.collect()
            stop.wait(_PAUSE)
    finally:
        schedule.end()


class _Schedule:
    def __init__(self, limits: Limits, waiting: deque[Job]) -> None:
        self._limits = limits
        self._waiting = waiting
        self._again: deque[Job] = deque()
        self._alone: set[int] = set()
        self._running: dict[int, tuple[Job, ScanProcess]] = {}
        self._shared: set[int] = set()
        self._most = 0

    @property
    def unfinished(self) -> bool:
        return bool(self._waiting or self._again or self._running)

    def start(self) -> Iterator[Started]:
        while self._waiting and len(self._running) < self._limits.jobs and self._memory_for_another():
            yield self._start(self._waiting.popleft())
        if not self._waiting and not self._running and self._again:
            job = self._again.popleft()
            self._alone.add(job.number)
            yield self._start(job)

    def collect(self) -> Iterator[Ended]:
        for number, (job, process) in list(self._running.items()):
            code = process.poll()
            overdue = code is None and process.seconds > self._limits.seconds
            if code is None and not overdue:
                continue
            if overdue:
                process.end()
            del self._running[number]
            said = process.said()
            self._most = max(self._most, process.peak)
            killed = code == -9 or (code == 2 and _KILLED in said)
            if killed and number in self._shared and number not in self._alone:
                self._again.append(job)
            else:
                yield Ended(number, None if overdue else code, process.seconds, said)

    def end(self) -> None:
        """All at once: each is given the same few seconds."""
        processes = [process for _, process in self._running.values()]
        for process in processes:
            process.interrupt()
        for process in processes:
            process.end()
        self._running.clear()

    def _start(self, job: Job) -> Started:
        self._running[job.number] = (job, ScanProcess(job.command, job.folder))
        if len(self._running) > 1:
            self._shared.update(self._running)
        return Started(job.number)

    def _memory_for_another(self) -> bool:
        """The first always runs. For a further one there must be room for it and for those that still grow."""
        free = self._limits.memory()
        if not self._running or free is None:
            return True
        growing = sum(process.seconds < _GROWING for _, process in self._running.values())
        return free >= (self._most or _FIRST_GUESS) * (growing + 1)
