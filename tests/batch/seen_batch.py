"""What a batch tells of its steps."""

from __future__ import annotations

from threading import Event

from opscan.batch.entries import Entry
from opscan.rollup import ModelResult


class Seen:
    """Implements ``opscan.batch.batch.Watch``, and can stop the batch when a scan starts."""

    def __init__(self, stop_at: str | None = None) -> None:
        self.stop, self._stop_at = Event(), stop_at
        self.begun: list[str] = []
        self.done: list[str] = []
        self.kept = 0

    def reused(self, count: int) -> None:
        self.kept = count

    def started(self, entry: Entry) -> None:
        self.begun.append(entry.name)
        if entry.name == self._stop_at:
            self.stop.set()

    def ended(self, result: ModelResult) -> None:
        self.done.append(result.name)
