"""The parent's end: starts the child early, so that torch loads while the parent reads the matrix, and speaks to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal

import msgspec

from opscan import errors
from opscan.errors import OpscanError, UsageError
from opscan.worker.adapter_messages import AdapterMessages
from opscan.worker.protocol import Check, Checked, Failed, Progress, Reply, Request, Scan, Scanned, ScanOnnx

#: Set for the child before torch loads: torch must not load an installed torch_npu by itself (it fails without CANN),
#: and scripted or compiled functions run as plain Python, so that their operators and lines are seen.
_ENVIRONMENT = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "PYTORCH_JIT": "0", "TORCHDYNAMO_DISABLE": "1"}


EngineName = Literal["virtual", "rehearse"]


@dataclass(frozen=True, slots=True)
class Engine:
    """What runs the model: the engine's name, the interpreter it needs, environment variables besides, and those of the
    user's that it must not see (``without``).

    ``tracer``: ``dispatch``, or ``export``, ``fx`` and ``jit``, which capture the model before they run it; ``graph``
    for what ``torch.compile`` with torchair makes of the model, ``captured-graph`` for the same without torch_npu;
    ``onnx`` what torch's ONNX exporters make of it; ``onnx-file`` lists ONNX files and needs no torch.
    """

    name: EngineName = "virtual"
    interpreter: str = sys.executable
    environment: dict[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    tracer: Literal["dispatch", "export", "fx", "jit", "graph", "captured-graph", "onnx", "onnx-file"] = "dispatch"


class WorkerDied(OpscanError):
    """The child ended before it answered. ``signal`` is what killed it; None where it ended by itself, as a model may
    make it. ``timed_out``: it was given no more time.
    """

    def __init__(self, message: str, hint: str = "", signal: int | None = None, timed_out: bool = False) -> None:
        super().__init__(message, hint)
        self.signal = signal
        self.timed_out = timed_out


class Worker:
    """A child process; a context manager that leaves no process behind."""

    def __init__(self, engine: Engine | None = None) -> None:
        self.engine = engine or Engine()
        self._process: subprocess.Popen[bytes] | None = None
        self._messages: AdapterMessages | None = None
        self._decoder = msgspec.json.Decoder(Reply)
        self._encoder = msgspec.json.Encoder()

    def __enter__(self) -> Worker:
        self._process = subprocess.Popen(
            [self.engine.interpreter, str(Path(__file__).with_name("child.py")), self.engine.name, self.engine.tracer],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._environment(),
            stderr=subprocess.PIPE if self.engine.name == "rehearse" else None,
            start_new_session=True,
        )
        if self._process.stderr is not None:
            self._messages = AdapterMessages(self._process.stderr)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        if process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        process.wait()
        if self._messages is not None:
            self._messages.finish()

    def _environment(self) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if name not in self.engine.without}
        return {**own, **_ENVIRONMENT, **self.engine.environment}

    def scan(
        self, request: Scan | ScanOnnx, progress: Callable[[str], None], time_limit: float | None = None
    ) -> Scanned:
        """Trace a model. Raises the OpscanError that the child met, WorkerDied where it ended, or was ended after
        ``time_limit`` seconds.
        """
        with _ended_after(self._process, time_limit) as is_over:
            try:
                reply = self._ask(request, progress)
            except WorkerDied as error:
                if not is_over():
                    raise
                raise WorkerDied(
                    f"It did not end within {time_limit:g} seconds.", error.hint, error.signal, timed_out=True
                ) from None
        assert isinstance(reply, Scanned)
        return reply

    def check(self, request: Check) -> Checked:
        reply = self._ask(request, lambda stage: None)
        assert isinstance(reply, Checked)
        return reply

    def _ask(self, request: Request, progress: Callable[[str], None]) -> Scanned | Checked:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(self._line(request))
            process.stdin.flush()
        except BrokenPipeError:
            raise self._died() from None
        while True:
            line = process.stdout.readline()
            if not line:
                raise self._died()
            reply = self._decoder.decode(line)
            if isinstance(reply, Progress):
                progress(reply.stage)
            elif isinstance(reply, Failed):
                raise _as_error(reply)
            else:
                return reply

    def _line(self, request: Request) -> bytes:
        try:
            return self._encoder.encode(request) + b"\n"
        except UnicodeEncodeError as error:
            raise UsageError(
                f"The model's name, or an argument, holds bytes that are no text: {error.object!a}.",
                "Rename the file or folder: names in UTF-8 can be scanned.",
            ) from None

    def _died(self) -> WorkerDied:
        assert self._process is not None
        code = self._process.wait()
        if self._messages is not None:
            self._messages.finish()
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return WorkerDied(
            f"The process that runs the model {how} before it answered.",
            "What it printed is above. If the model file ends the process itself (sys.exit, os._exit), remove that; "
            "if memory ran out, scan a smaller configuration.",
            -code if code < 0 else None,
        )


@contextmanager
def _ended_after(process: subprocess.Popen[bytes] | None, seconds: float | None) -> Iterator[Callable[[], bool]]:
    """Kill the process if what is done in here takes longer; what is yielded tells whether it did."""
    over = threading.Event()

    def end() -> None:
        over.set()
        if process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(seconds, end) if seconds is not None else None
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        yield over.is_set
    finally:
        if timer is not None:
            timer.cancel()


class ChildTraceback(Exception):
    """The traceback of the other process, as text: the cause of an error that came from there."""


def _as_error(reply: Failed) -> OpscanError:
    kind = getattr(errors, reply.kind, OpscanError)
    error: OpscanError = kind(reply.message, reply.hint)
    error.__cause__ = ChildTraceback(reply.trace)
    return error
