"""The parent's end of one worker: started, asked, watched by the clock, and ended with all that it started."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from opscan.probing.protocol import (
    Compare,
    Compared,
    Done,
    Failed,
    Hello,
    Outcome,
    Progress,
    Reply,
    Request,
    Run,
    Stage,
    Unable,
)

#: Bytes of what a worker printed that are kept for one operator: the last ones.
_PRINTED = 64 * 1024
#: Bytes of one reply; a longer one is no reply.
_LINE = 16 * 1024 * 1024
#: Seconds between two looks at the clock, the process and the order to stop.
_TICK = 0.1

#: Seconds that a killed process may take to be gone.
_DIES = 10.0

#: For every worker, before torch loads: torch_npu is imported by the worker itself, and kernels are launched by the
#: thread that asked for them, so that an error belongs to its operator.
_ENVIRONMENT = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "TASK_QUEUE_ENABLE": "0"}

Backend = Literal["npu", "fake"]

#: What the fake device calls itself unless told otherwise.
FAKE_SOC = "fake"


@dataclass(frozen=True, slots=True)
class Start:
    """How workers are started. ``environment`` is added to the parent's own."""

    interpreter: Path
    backend: Backend
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class StageLimits:
    """Seconds that a stage may take: on the device, and on the host."""

    device: float
    host: float

    def of(self, stage: Stage | None) -> float:
        return self.device if stage in ("device", "timing") else self.host


@dataclass(frozen=True, slots=True)
class Finished:
    """The worker answered. ``printed`` is what it wrote to its standard descriptors meanwhile."""

    outcome: Outcome
    healthy: bool
    printed: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The worker is gone, during ``stage`` of an operator. ``code`` is the name of the signal that killed it, if one
    did; ``so_far`` what it had found out."""

    how: Literal["crashed", "timeout", "garbage", "stopped"]
    reason: str
    code: str
    stage: Stage | None
    so_far: Outcome | None
    printed: str


class StartFailed(Exception):
    """``for_good``: another attempt would end the same way."""

    def __init__(self, reason: str, for_good: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.for_good = for_good


class _Gone(Exception):
    """The conversation ended without the reply that was waited for."""

    def __init__(self, how: Literal["crashed", "timeout", "garbage", "stopped"], reason: str, code: str = "") -> None:
        super().__init__(reason)
        self.how = how
        self.reason = reason
        self.code = code


class WorkerProcess:
    """One process on one device. ``stopped`` is asked several times a second whether to give up waiting.

    It must be made, used and ended in one thread: the process dies with the thread that started it.
    """

    def __init__(self, start: Start, device: int, stopped: Callable[[], bool]) -> None:
        program = str(Path(__file__).with_name("npu_worker.py"))
        self._process = subprocess.Popen(
            [str(start.interpreter), program, start.backend, str(device), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, **_ENVIRONMENT, **start.environment},
            start_new_session=True,
        )
        self._stopped = stopped
        self._ended = False
        #: It was killed and is still there: a driver that hangs holds its processes.
        self.lingers = False
        self._decoder = msgspec.json.Decoder(Reply)
        self._encoder = msgspec.json.Encoder()
        self._replies = b""
        self._printed = b""
        self._selector = selectors.DefaultSelector()
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream.fileno(), selectors.EVENT_READ)

    def greeted(self, limit: float) -> Hello:
        """The worker's greeting. Raises StartFailed, the process ended, where none comes within ``limit`` seconds."""
        try:
            reply = self._reply(time.monotonic() + limit)
        except _Gone as gone:
            self.end()
            raise StartFailed(f"the worker {gone.reason} before it was ready{self._last_words()}") from gone
        if isinstance(reply, Hello):
            return reply
        self.end()
        if isinstance(reply, Unable):
            raise StartFailed(reply.reason, reply.for_good)
        raise StartFailed("the worker did not greet")

    def ask(self, run: Run, limits: StageLimits) -> Finished | Lost:
        """Try one signature. After a loss the process is ended."""
        self._drain()
        self._printed = b""
        stage: Stage | None = None
        so_far: Outcome | None = None
        seen: set[Stage] = set()
        try:
            self._send(run, time.monotonic() + limits.of(stage))
            while True:
                reply = self._reply(time.monotonic() + limits.of(stage))
                if not isinstance(reply, Progress | Done) or reply.ticket != run.ticket:
                    raise _Gone("garbage", "sent a reply to nothing that was asked")
                if isinstance(reply, Done):
                    self._drain()
                    return Finished(reply.outcome, reply.healthy, self._text())
                if reply.stage in seen:
                    raise _Gone("garbage", "began the same stage twice")
                seen.add(reply.stage)
                stage, so_far = reply.stage, reply.so_far or so_far
        except _Gone as gone:
            self.end()
            return Lost(gone.how, gone.reason + self._last_words(), gone.code, stage, so_far, self._text())

    def compare(self, request: Compare, limit: float) -> Compared | Failed | Lost:
        """Run a whole model for at most ``limit`` seconds. After a loss the process is ended."""
        self._printed = b""
        deadline = time.monotonic() + limit
        try:
            self._send(request, deadline)
            reply = self._reply(deadline)
            if not isinstance(reply, Compared | Failed) or reply.ticket != request.ticket:
                raise _Gone("garbage", "sent a reply to nothing that was asked")
        except _Gone as gone:
            self.end()
            return Lost(gone.how, gone.reason + self._last_words(), gone.code, None, None, self._text())
        return reply

    def end(self) -> None:
        """Kill the process and all of its session's group, and wait until it is gone. Only the first call counts."""
        if self._ended:
            return
        self._ended = True
        self._kill()
        self._drain()
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    # --- one reply ------------------------------------------------------------------------------------------------

    def _send(self, request: Request, deadline: float) -> None:
        """A request may be longer than the pipe holds, and the worker may have stopped reading."""
        assert self._process.stdin is not None
        rest = memoryview(self._encoder.encode(request) + b"\n")
        while rest:
            if self._stopped():
                raise _Gone("stopped", "was stopped")
            if time.monotonic() > deadline:
                raise _Gone("timeout", "did not read in time")
            try:
                rest = rest[os.write(self._process.stdin.fileno(), rest) :]
            except BlockingIOError:
                self._read(_TICK)
            except OSError:
                raise self._died() from None

    def _reply(self, deadline: float) -> Reply:
        while b"\n" not in self._replies:
            if self._stopped():
                raise _Gone("stopped", "was stopped")
            if time.monotonic() > deadline:
                raise _Gone("timeout", "did not answer in time")
            if len(self._replies) > _LINE:
                raise _Gone("garbage", "sent a reply without an end")
            gone = self._has_exited()  # asked before reading, so that its last words are read
            if not self._read(min(_TICK, max(0.0, deadline - time.monotonic()))) and gone:
                raise self._died()
        line, _, self._replies = self._replies.partition(b"\n")
        try:
            reply: Reply = self._decoder.decode(line)
        except msgspec.DecodeError:
            raise _Gone("garbage", f"sent something that is no reply: {line[:80]!r}") from None
        return reply

    def _read(self, wait: float) -> bool:
        """Take what there is on both descriptors; whether there was anything."""
        assert self._process.stdout is not None
        replies = self._process.stdout.fileno()
        some = False
        for key, _ in self._selector.select(wait):
            try:
                data = os.read(key.fd, _PRINTED)
            except BlockingIOError:
                continue
            if not data:
                self._selector.unregister(key.fd)
            elif key.fd == replies:
                self._replies += data
            else:
                self._printed = (self._printed + data)[-_PRINTED:]
            some = some or bool(data)
        return some

    def _drain(self) -> None:
        """What was printed before a reply is in the pipe when the reply is; a flood is cut off."""
        for _ in range(64):
            if not self._selector.get_map() or not self._read(0.0):
                return

    def _has_exited(self) -> bool:
        """Without reaping it: its number must stay its own until its group is killed. A child of its own may hold the
        pipes open."""
        found = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return found is not None

    def _died(self) -> _Gone:
        code = self._kill()
        if code is None:
            return _Gone("crashed", "stopped reading, and cannot be killed")
        if code >= 0:
            return _Gone("crashed", f"ended with exit code {code}")
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return _Gone("crashed", f"was killed by {name}", name)

    def _kill(self) -> int | None:
        """The exit code; None where the process lingers."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        try:
            return self._process.wait(_DIES)
        except subprocess.TimeoutExpired:
            self.lingers = True
            return None

    def _text(self) -> str:
        return self._printed.decode("utf-8", "replace")

    def _last_words(self) -> str:
        lines = [line for line in self._text().splitlines() if line.strip()]
        return f"; it printed: {' | '.join(lines[-3:])[-600:]}" if lines else ""
