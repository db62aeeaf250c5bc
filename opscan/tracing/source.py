"""Which line of the user's code is responsible for what happens now."""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import FrameType, TracebackType

_OPSCAN = str(Path(__file__).resolve().parent.parent)
_STDLIB = tuple({os.path.realpath(sysconfig.get_paths()[kind]) for kind in ("stdlib", "platstdlib")})


class SourceLocator:
    """Finds the innermost line of the user's own files on the stack; else the innermost line of a library's.

    ``root`` is the model's folder: files below it are the user's, unless they lie in a site-packages below it.
    """

    def __init__(self, root: Path, torch_folder: str) -> None:
        self.root = str(root)
        self._torch = torch_folder
        self._kinds: dict[str, str] = {}

    def locate(self, frame: FrameType | None = None) -> tuple[str, int] | None:
        """(file to show, line) of the code that runs now, or None where only torch and Python are on the stack."""
        frame = frame or sys._getframe(1)
        library: tuple[str, int] | None = None
        while frame is not None:
            filename = frame.f_code.co_filename
            kind = self._kind(filename)
            if kind == "user":
                return self.shown(filename), frame.f_lineno
            if kind == "library" and library is None:
                library = (self.shown(filename), frame.f_lineno)
            frame = frame.f_back
        return library

    def calls_directly(self, frame: FrameType | None) -> bool:
        """Whether ``frame`` itself is the user's code, rather than torch or a library on the user's behalf."""
        return frame is not None and self._kind(frame.f_code.co_filename) == "user"

    def is_internal(self, frame: FrameType | None) -> bool:
        """Whether ``frame`` is torch's or Python's own code."""
        return frame is not None and self._kind(frame.f_code.co_filename) == "internal"

    def text(self, location: tuple[str, int]) -> str:
        """The source line at a location as shown, stripped."""
        file, line = location
        return linecache.getline(str(Path(self.root, file)), line).strip()

    def of_error(self, error: BaseException) -> tuple[str, int, str] | None:
        """(file, line, source text) of the innermost user's line in an exception's traceback."""
        return self._innermost(error.__traceback__)

    def place_of(self, error: BaseException) -> str:
        """`` at model.py:12``, to go behind a verb; empty where no line of the user's is in the traceback."""
        where = self.of_error(error)
        return f" at {where[0]}:{where[1]}" if where else ""

    def stage_of(self, error: BaseException, stage: str) -> str:
        """``importing`` where the outermost line of the user's is the file's own, rather than a function's."""
        entries = [e for e in traceback.extract_tb(error.__traceback__) if self._kind(e.filename) == "user"]
        return "importing" if stage == "building" and entries and entries[0].name == "<module>" else stage

    def innermost_of(self, lines: Iterable[tuple[str, int]]) -> tuple[str, int] | None:
        """(file to show, line) of the user's innermost among ``lines``, outermost first; else of a library's."""
        found: dict[str, tuple[str, int]] = {}
        for filename, number in lines:
            found[self._kind(filename)] = (self.shown(filename), number)
        return found.get("user") or found.get("library")

    def _innermost(self, trace: TracebackType | None) -> tuple[str, int, str] | None:
        found = None
        for entry in traceback.extract_tb(trace):
            kind = self._kind(entry.filename)
            if kind == "user" or (kind == "library" and found is None):
                found = (self.shown(entry.filename), entry.lineno or 0, (entry.line or "").strip())
        return found

    def shown(self, filename: str) -> str:
        """Relative to the model's folder, or from the package's name on for an installed library."""
        if self._kind(filename) == "user":
            return os.path.relpath(filename, self.root)
        head, mark, tail = filename.rpartition("site-packages" + os.sep)
        return tail if mark else os.path.basename(head or filename)

    def _kind(self, filename: str) -> str:
        kind = self._kinds.get(filename)
        if kind is None:
            kind = self._kinds[filename] = self._classify(filename)
        return kind

    def _classify(self, filename: str) -> str:
        if filename.startswith("<"):
            return "internal"
        full = os.path.realpath(filename)
        inside = any(f"{os.sep}{folder}{os.sep}" in full for folder in ("site-packages", "dist-packages"))
        if full.startswith((self._torch + os.sep, _OPSCAN + os.sep)):
            return "internal"
        # A whole Python may lie below the model's folder, as an environment.
        if full.startswith(tuple(p + os.sep for p in _STDLIB)) and not inside:
            return "internal"
        if full.startswith(self.root.rstrip(os.sep) + os.sep) and not inside:
            return "user"
        return "library"
