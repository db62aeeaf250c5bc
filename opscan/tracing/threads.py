"""Threads that a model starts: a dispatch mode belongs to one thread, and what others call would not be seen."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from opscan.tracing.patches import Patches


@contextmanager
def threads_followed(*modes: AbstractContextManager[Any]) -> Iterator[None]:
    """Every thread that starts in here runs under the same modes, the last of them innermost."""
    start = threading.Thread.start

    def followed(self: threading.Thread) -> None:
        run = self.run

        def under_the_modes() -> None:
            with ExitStack() as stack:
                for mode in modes:
                    stack.enter_context(mode)
                run()

        self.run = under_the_modes  # type: ignore[method-assign]
        start(self)

    patches = Patches()
    patches.set(threading.Thread, "start", followed)
    try:
        yield
    finally:
        patches.undo()
