"""What a model does between its graphs: a recorder that dynamo leaves to it.

A dispatch mode keeps torch.compile from capturing anything, unless it asks not to be shown compiled operators; torch
has that since 2.10.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from opscan.probing.rehearsal.recorder import RehearsalRecorder


class RecorderBetweenGraphs(RehearsalRecorder):
    """Shadows and records the operators that no graph holds."""

    _aside = False

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Operators in here are torchair's or torch's own: they go on as if this were not there."""
        before, self._aside = self._aside, True
        try:
            yield
        finally:
            self._aside = before

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self._aside:
            return func(*args, **(kwargs or {}))
        return super().__torch_dispatch__(func, types, args, kwargs)

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True


def can_watch() -> bool:
    """Whether this torch captures graphs under such a recorder."""
    return hasattr(TorchDispatchMode, "ignore_compile_internals")
