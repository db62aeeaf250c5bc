"""Scans of models, one after the other in a worker that is replaced where one takes too long or dies."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from opscan.assessment import Assessment
from opscan.errors import OpscanError
from opscan.loading.inputs import Input, InputSpec
from opscan.scan import ScanRequest, scan_with
from opscan.worker.host import Engine, Worker
from sweeping.records import Model, Record

_TICKS = os.sysconf("SC_CLK_TCK")

#: On a machine that does other things as well, a process gets this share of a processor at least.
_LEAST_SHARE = 0.2


@dataclass
class Runner:
    """``seconds`` of the processor's time are a model's limit, and five times as many by the clock."""

    interpreter: str
    seconds: float
    plain: bool
    folder: Path
    _worker: Worker | None = field(default=None, init=False)

    def close(self) -> None:
        if self._worker is not None:
            self._worker.__exit__(None, None, None)
            self._worker = None

    def run(self, model: Model) -> Record:
        record = self._scan(model)
        if self.plain and not record.has_inventory:
            record = msgspec.structs.replace(record, plain=self._plainly(model))
        return record

    def _scan(self, model: Model) -> Record:
        if self._worker is None:
            self._worker = Worker(Engine(interpreter=self.interpreter)).__enter__()
        process = self._worker._process
        assert process is not None
        before = _processor_time(process.pid)
        inputs: tuple[Input, ...] = (InputSpec(None, model.shape, "float32"),) if model.shape else ()
        request = ScanRequest(model.reference, inputs, engine="virtual")
        with _Watch(process.pid, self.seconds) as watch:
            try:
                record = _of(model, scan_with(self._worker, request, lambda stage: None))
            except OpscanError as error:
                record = Record(model.section, model.name, "error", type(error).__name__, self._in_short(error.message))
                if "before it answered" in error.message:
                    outcome = "time" if watch.ended else "crash"
                    record = msgspec.structs.replace(record, outcome=outcome, kind="")
            except Exception as error:  # of opscan's own: what no user should see
                reason = self._in_short(f"{type(error).__name__}: {error}")
                record = Record(model.section, model.name, "crash", type(error).__name__, reason)
            took = _processor_time(process.pid) - before
        if record.outcome in ("time", "crash"):
            self.close()
            took = watch.used - before
        return msgspec.structs.replace(record, seconds=round(max(took, 0.0), 1), release=model.release)

    def _in_short(self, text: str) -> str:
        """In one line, without the paths of the machine that it ran on."""
        text = re.sub(r"[^\s'\"]*/site-packages/", "", text.replace(f"{self.folder}{os.sep}", ""))
        return " ".join(text.split())[:300]

    def _plainly(self, model: Model) -> str:
        script = Path(__file__).with_name("plain.py")
        try:
            done = subprocess.run(
                [self.interpreter, str(script), msgspec.json.encode(model).decode()],
                capture_output=True,
                text=True,
                timeout=self.seconds / _LEAST_SHARE,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return "time"
        lines = done.stdout.split("\n")
        return self._in_short(lines[-2]) if len(lines) > 1 else f"ended with exit code {done.returncode}"


def _of(model: Model, assessment: Assessment) -> Record:
    trace = assessment.trace
    ended = next((attempt.reason for attempt in trace.attempts if not attempt.ok), None)
    reason = ended or next(iter(trace.unseen), "")
    return Record(
        model.section,
        model.name,
        "part" if ended else ("whole" if trace.complete else "assumed"),
        reason=" ".join(reason.split())[:300],
        calls=sum(op.count for op in assessment.ops),
        operators=len({op.name for op in assessment.ops}),
    )


def _processor_time(pid: int) -> float:
    """Seconds that a process has run so far; 0 where it is gone."""
    with suppress(OSError, ValueError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS
    return 0.0


class _Watch:
    """Kills a process that takes more than its time. ``used``: seconds of the processor's when last looked."""

    def __init__(self, pid: int, seconds: float) -> None:
        self.ended = False
        self.used = _processor_time(pid)
        self._pid = pid
        self._limit = self.used + seconds
        self._until = time.monotonic() + seconds / _LEAST_SHARE
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.25):
            self.used = _processor_time(self._pid) or self.used
            if self.used > self._limit or time.monotonic() > self._until:
                self.ended = True
                with suppress(ProcessLookupError):
                    os.kill(self._pid, signal.SIGKILL)
                return


def side_by_side(work: Callable[[], None], jobs: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
