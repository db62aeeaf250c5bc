"""A line on stderr that says what a scan is doing; nothing where stderr is no terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status


class Spinner:
    def __init__(self) -> None:
        self._status: Status | None = None

    def __enter__(self) -> Spinner:
        if sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status("starting")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def update(self, stage: str) -> None:
        if self._status is not None:
            from rich.markup import escape

            self._status.update(escape(stage))
