"""Answers imports of CUDA extensions that are not installed, for the length of a run.

Patched is the import statement, not the table of modules: ``sys.modules`` and ``importlib.util.find_spec`` say that the
package is absent, so that libraries which probe for it do without. An import that its code expects to fail does fail.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

from opscan.cuda_packages import package_of
from opscan.tracing.cuda.extensions.calls import Calls
from opscan.tracing.cuda.extensions.compiled import patch_compilation
from opscan.tracing.cuda.extensions.guards import guard_of
from opscan.tracing.cuda.extensions.registry import STAND_INS
from opscan.tracing.cuda.extensions.stubs import Stubs, patch_initialisers
from opscan.tracing.cuda.extensions.triton import patch_wrapping
from opscan.tracing.patches import Patches
from opscan.tracing.recording import RecordingMode
from opscan.tracing.source import SourceLocator


class Answering:
    """``refused``: names of optional imports in the user's own files that were left to fail. ``optional``: answer those
    too, since the model does not run without them.
    """

    def __init__(
        self, recorder: RecordingMode, locator: SourceLocator, optional: bool = False, calls: type[Calls] = Calls
    ) -> None:
        self.refused: list[str] = []
        self._optional = optional
        self._locator = locator
        self._calls = calls(recorder, locator)
        self._stubs = Stubs(self._calls, STAND_INS)

    @contextmanager
    def installed(self) -> Iterator[None]:
        patches = Patches()
        try:
            patches.set(builtins, "__import__", self._statement(builtins.__import__))
            patches.set(importlib, "import_module", self._function(importlib.import_module))
            patch_compilation(patches, self._calls, self._stubs)
            patch_initialisers(patches)
            patch_wrapping(patches)
            yield
        finally:
            patches.undo()

    def _statement(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
            try:
                return original(name, globals, locals, fromlist, level)
            except ModuleNotFoundError as error:
                part = _part(name, fromlist or ())
                if level or not _is_missing(name, error) or not self._answers(part, sys._getframe(1)):
                    raise
            module = self._stubs.module(name)
            return module if fromlist else self._stubs.module(name.partition(".")[0])

        return import_

    def _function(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def import_module(name: str, package: str | None = None) -> ModuleType:
            try:
                return original(name, package)  # type: ignore[no-any-return]
            except ModuleNotFoundError as error:
                if not _is_missing(name, error) or not self._answers(_part(name, ()), sys._getframe(1)):
                    raise
            return self._stubs.module(name)

        return import_module

    def _answers(self, name: str | None, frame: FrameType) -> bool:
        """Whether the import at ``frame`` is one to answer; if so, it is written down."""
        if name is None or self._locator.is_internal(frame):
            return False
        guard = guard_of(frame)
        if guard is not None:
            own = self._locator.calls_directly(guard)
            if own and name not in self.refused:
                self.refused.append(name)
            if not (own and self._optional):
                return False
        self._calls.found(name, frame)
        return True


def _is_missing(name: str, error: ModuleNotFoundError) -> bool:
    """Whether it is the module asked for that is missing, and not one that it imports itself."""
    return error.name is not None and (name == error.name or name.startswith(f"{error.name}."))


def _part(name: str, wanted: tuple[str, ...]) -> str | None:
    """What is of an extension: ``mmcv.ops`` in ``import mmcv.ops``, and in ``from mmcv import ops`` as well."""
    if package_of(name) is not None:
        return name
    parts = [f"{name}.{each}" for each in wanted]
    return parts[0] if parts and all(package_of(part) is not None for part in parts) else None
