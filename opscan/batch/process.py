"""One scan in a process of its own, as ``opscan scan`` runs it, with a bounded memory of what it says."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import IO

#: Bytes kept of the end of what a scan prints; its error message is the last of it.
_KEPT = 64 << 10

#: Seconds to end in good order before it is killed.
_GRACE = 3.0


class ScanProcess:
    """A running scan. It has a session of its own, so that Ctrl-C reaches the batch alone, which then ends it."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.started = time.monotonic()
        #: Bytes of memory that it and its children took at most, once it has ended.
        self.peak = 0
        self._interrupted: float | None = None
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stderr is not None
        self._tail = _Tail(self._process.stderr)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def poll(self) -> int | None:
        """The exit code once it has ended, negative for a signal."""
        process = self._process
        if process.returncode is None:
            with suppress(ChildProcessError):
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    process.returncode = os.waitstatus_to_exitcode(status)
                    self.peak = usage.ru_maxrss * 1024
        return process.returncode

    def interrupt(self) -> None:
        """Ask it to end, and its own children with it."""
        if self.poll() is None and self._interrupted is None:
            self._interrupted = time.monotonic()
            self._signal(signal.SIGINT)

    def end(self) -> None:
        """Interrupt it, and kill it where it does not heed that."""
        self.interrupt()
        while self.poll() is None and time.monotonic() < (self._interrupted or 0) + _GRACE:
            time.sleep(0.02)
        self._signal(signal.SIGKILL)  # the group, though its leader may be gone
        while self.poll() is None:
            time.sleep(0.02)

    def said(self) -> str:
        """The end of what it printed on stderr; call it when it has ended."""
        return self._tail.text()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


class _Tail:
    """Reads a stream to its end and keeps the last of it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self) -> str:
        self._thread.join(timeout=2)  # a process that outlives the scan may hold the pipe
        return b"".join(self._chunks)[-_KEPT:].decode("utf-8", "replace")

    def _read(self) -> None:
        with suppress(OSError, ValueError):
            while chunk := os.read(self._stream.fileno(), 1 << 16):
                self._chunks.append(chunk)
                self._size += len(chunk)
                while self._size - len(self._chunks[0]) > _KEPT:
                    self._size -= len(self._chunks.popleft())
        self._stream.close()
