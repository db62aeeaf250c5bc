"""What earlier probes found, kept in the user's cache: one file for each torch_npu, CANN and SoC, one outcome a line.

Several probes may write at once: a lock is held for the time of a line. A process that dies in the middle of one
leaves a line that no longer reads; the next writer begins a new one, and readers pass over it and count it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

import msgspec
from filelock import FileLock
from platformdirs import user_cache_path

from opscan.errors import OpscanError
from opscan.probing.protocol import STATUSES, Outcome, Status, Versions
from opscan.probing.signature import Signature

#: Raised where sample arguments, the reference or the comparison change so much that older outcomes no longer count.
METHOD = 1

#: Outcomes that would be the same another time. What ran out of time or memory, or lost its device, is tried again.
LASTING: frozenset[Status] = frozenset({"native", "fallback", "refused", "wrong", "crashed"})

_LOCK_SECONDS = 30


class ResultsError(OpscanError):
    """Results of a probe that cannot be read or written. The message names the file and, where there is one, the
    line."""


class Result(msgspec.Struct, frozen=True):
    """One line of a file. ``time`` is UTC."""

    method: int
    time: str
    signature: Signature
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Kept:
    """One file: what it holds for, how many of its signatures ended how, and how many lines do not read."""

    path: Path
    versions: Versions
    counts: dict[Status, int]
    damaged: int


@dataclass(slots=True)
class ResultStore:
    """Implements ``opscan.probing.probe.Store`` for one torch_npu, CANN and SoC.

    With ``fresh`` nothing is known at first; what is put then replaces what was there.
    """

    path: Path
    fresh: bool = False
    _known: dict[str, Outcome] | None = field(default=None)

    @classmethod
    def open(cls, versions: Versions, fresh: bool = False, folder: Path | None = None) -> ResultStore:
        """Raises ResultsError for a simulated device: it measures nothing."""
        if versions.simulated:
            raise ResultsError("A simulated device measures nothing: its results are not kept.")
        return cls((folder or results_folder()) / _file_name(versions), fresh)

    def get(self, signature: Signature) -> Outcome | None:
        """The latest lasting outcome. Raises ResultsError where the file cannot be read."""
        if self._known is None:
            self._known = {} if self.fresh else {r.signature.key: r.outcome for r in read_results(self.path)[0]}
        found = self._known.get(signature.key)
        return found if found is not None and found.status in LASTING else None

    def put(self, signature: Signature, outcome: Outcome) -> None:
        """Append. Raises ResultsError where the file cannot be written."""
        if self._known is not None:
            self._known[signature.key] = outcome
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        line = msgspec.json.encode(Result(METHOD, now, signature, outcome)) + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with _lock(self.path):
                _append(self.path, line)
        except (OSError, TimeoutError) as error:
            raise _unusable(self.path, error, "written") from error


def results_folder() -> Path:
    """Where the files lie; it need not exist."""
    return user_cache_path("opscan", appauthor=False) / "probe"


def read_results(path: Path) -> tuple[list[Result], int]:
    """The latest result of each signature, and how many lines do not read: none of either where there is no file.

    Results of another ``METHOD`` are left out. Raises ResultsError where the file cannot be read.
    """
    latest: dict[str, Result] = {}
    damaged = 0
    for _, result in _lines(path):
        if result is None:
            damaged += 1
        elif result.method == METHOD:
            latest[result.signature.key] = result
    return list(latest.values()), damaged


def kept_results(folder: Path | None = None) -> tuple[Kept, ...]:
    """Every file of the cache, by name. Raises ResultsError where one cannot be read."""
    return tuple(_kept(path) for path in _files(folder or results_folder()))


def clear_results(folder: Path | None = None) -> int:
    """Delete every file of the cache; returns how many. Raises ResultsError where one cannot be deleted."""
    files = _files(folder or results_folder())
    for path in files:
        try:
            with _lock(path):
                path.unlink(missing_ok=True)
        except (OSError, TimeoutError) as error:
            raise _unusable(path, error, "deleted") from error
    return len(files)


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def _kept(path: Path) -> Kept:
    results, damaged = read_results(path)
    statuses = [result.outcome.status for result in results]
    versions = next((r.outcome.versions for r in results if r.outcome.versions is not None), Versions("", "", "", ""))
    return Kept(path, versions, {s: statuses.count(s) for s in STATUSES if s in statuses}, damaged)


def _file_name(versions: Versions) -> str:
    words = (versions.torch_npu, f"cann-{versions.cann or 'unknown'}", versions.soc)
    return "_".join(re.sub(r"[^A-Za-z0-9.+-]", "-", word) for word in words) + ".jsonl"


def _lines(path: Path) -> Iterator[tuple[int, Result | None]]:
    """(line number, result); None for a line that does not read."""
    decoder = msgspec.json.Decoder(Result)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield number, decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    yield number, None
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unusable(path, error, "read") from error


def _append(path: Path, line: bytes) -> None:
    """In one write, on a line of its own: whoever wrote before may not have come to the end of theirs."""
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        end = os.lseek(descriptor, 0, os.SEEK_END)
        if end and os.pread(descriptor, 1, end - 1) != b"\n":
            line = b"\n" + line
        view = memoryview(line)
        while view:
            view = view[os.write(descriptor, view) :]
    finally:
        os.close(descriptor)


def _lock(path: Path) -> FileLock:
    return FileLock(path.with_suffix(".lock"), timeout=_LOCK_SECONDS)


def _unusable(path: Path, error: Exception, what: str) -> ResultsError:
    why = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return ResultsError(
        f"{path}: the results of earlier probes cannot be {what}: {why}",
        "Repair the folder, or set XDG_CACHE_HOME to another one.",
    )
