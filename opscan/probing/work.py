"""The signatures that are still to be tried, shared by the threads of a pool."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from threading import Condition

from opscan.probing.signature import Signature


@dataclass(slots=True)
class Task:
    """``losses``: how many workers it took down. ``compare``: whether a reference is still computed."""

    index: int
    signature: Signature
    losses: int = 0
    compare: bool = True


class Work:
    """A queue whose end is known only when nobody holds a task any more: a task may be put back."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._pending = deque(tasks)
        self._held = 0
        self._closed = False
        self._changed = Condition()

    def take(self) -> Task | None:
        """The next task; None where there is none, nor will be. Waits while another thread may put one back."""
        with self._changed:
            while not self._pending and self._held and not self._closed:
                self._changed.wait(0.2)
            if not self._pending or self._closed:
                return None
            self._held += 1
            return self._pending.popleft()

    def done(self) -> None:
        """A task that was taken has its outcome."""
        with self._changed:
            self._held -= 1
            self._changed.notify_all()

    def put_back(self, task: Task) -> None:
        """A task that was taken is to be tried again, after the others."""
        with self._changed:
            self._pending.append(task)
            self._held -= 1
            self._changed.notify_all()

    def close(self) -> None:
        """Nobody gets a task any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
