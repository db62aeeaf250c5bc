"""Ctrl-C that ends a probe in good order: a flag instead of an exception in the middle of something."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interruption() -> Iterator[Event]:
    """Meanwhile the first SIGINT, SIGTERM or SIGHUP sets the event; a second raises KeyboardInterrupt, for those who
    will not wait."""
    event = Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        event.set()

    if current_thread() is not main_thread():  # Python delivers signals to the main thread alone
        yield event
        return
    before = {number: signal.signal(number, interrupt) for number in _SIGNALS}
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
