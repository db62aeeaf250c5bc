"""What a batch is doing, on stderr: a line for each model that is done, and the names of those that run. Nothing where
stderr is no terminal.
"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

from opscan.batch.entries import Entry
from opscan.rendering.inert import inert, shorten
from opscan.rollup import ModelResult

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

_STYLES = {"passed": "green", "failed": "bold red", "incomplete": "yellow"}


class BatchProgress:
    """Implements ``opscan.batch.batch.Watch``."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._running: list[str] = []
        self._console: Console | None = None
        self._status: Status | None = None

    def __enter__(self) -> BatchProgress:
        if sys.stderr.isatty():
            from rich.console import Console

            self._console = Console(stderr=True, highlight=False)
            self._status = self._console.status("reading what is there")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def reused(self, count: int) -> None:
        """``count`` models have their result already."""
        self._done += count
        self._show()

    def started(self, entry: Entry) -> None:
        self._running.append(entry.name)
        self._show()

    def ended(self, result: ModelResult) -> None:
        self._done += 1
        if result.name in self._running:
            self._running.remove(result.name)
        if self._console is not None:
            from rich.text import Text

            style = _STYLES.get(result.status, "bold red")
            status = result.status.replace("_", " ")
            self._console.print(Text.assemble((f"{status:11}", style), f"{_name(result.name)}  {result.seconds:.0f} s"))
        self._show()

    def _show(self) -> None:
        if self._status is not None:
            from rich.markup import escape

            names = ", ".join(map(_name, self._running))
            self._status.update(escape(f"{self._done} of {self._total} done: {shorten(names, 60)}"))


def _name(name: str) -> str:
    return shorten(inert(name), 60)
