"""Attributes replaced for the length of a trace."""

from __future__ import annotations

from typing import Any


class Patches:
    """Remembers what it replaced; ``undo`` puts everything back, the last replacement first."""

    def __init__(self) -> None:
        self._undo: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        self._undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def undo(self) -> None:
        for owner, name, value in reversed(self._undo):
            setattr(owner, name, value)
        self._undo.clear()
