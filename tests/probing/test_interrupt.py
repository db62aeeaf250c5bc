"""Signals become a flag, and an exception only for those who insist."""

from __future__ import annotations

import os
import signal
from threading import Thread

import pytest

from opscan.probing.interrupt import interruption


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_sets_the_flag_and_the_second_raises(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with interruption() as interrupt:
        assert not interrupt.is_set()
        os.kill(os.getpid(), number)
        assert interrupt.is_set()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


def test_in_another_thread_nothing_changes() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def look() -> None:
        with interruption() as interrupt:
            seen.extend([signal.getsignal(signal.SIGINT), interrupt.is_set()])

    thread = Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [before, False]
