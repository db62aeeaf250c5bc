"""What a trace takes for granted where a model asks for a value that only a real run could give.

Answers come from known values where there are any (``values.py``). Otherwise a default is taken, tracing goes on, and
the line is noted: half of the elements of a mask are true (at least one), a condition is false (true where the line
is an ``assert``, and once for a ``while``), a number is 1. A line that asks more than ``PATIENCE`` times gets the
answer that ends a loop.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Any, Protocol

import torch

from opscan.tracing.source import SourceLocator

PATIENCE = 200

#: What is unseen behind any assumption.
ONE_PATH = "Other paths: the model asks for values that depend on data, and one answer each was assumed."


_Line = tuple[str, int]


class Witness(Protocol):
    """Who is told of an assumption: the recorder of the trace."""

    device: torch.device

    def assumed(self, what: str, answer: str) -> None: ...
    def shapeless(self, func: Any) -> None: ...
    def emit(self, name: str, inputs: list[Any], outputs: list[Any]) -> None: ...
    def outside(self) -> AbstractContextManager[None]: ...


class Assumptions:
    """``flips`` are lines whose default is reversed: a trace that failed behind an assumption is tried again with
    one.
    """

    def __init__(self, locator: SourceLocator, flips: frozenset[_Line] = frozenset()) -> None:
        self.last: _Line | None = None
        self.unknown_read = False  # zeros were given where a model read the values of a tensor
        self._locator = locator
        self._flips = flips
        self._asked: dict[_Line, int] = {}

    @property
    def made(self) -> bool:
        """Whether some answer was no more than an assumption."""
        return self.last is not None or self.unknown_read

    # --- answers ----------------------------------------------------------------------------------------------

    def scalar(self, witness: Witness, dtype: torch.dtype) -> bool | int | float | complex:
        line, text, times = self.ask()
        if dtype is torch.bool:
            answer: bool | int | float = text.startswith("assert") or (text.startswith("while") and times == 1)
            answer = bool(answer) != (line in self._flips)
            if times > PATIENCE:
                answer = times % 2 == 0
        else:
            answer = 0 if line in self._flips else 1
        witness.assumed("a number" if dtype is not torch.bool else "a condition", str(answer).lower())
        return answer

    def count(self, witness: Witness, total: int) -> int:
        """How many of ``total`` elements of a mask are taken to be true."""
        line, _, times = self.ask()
        answer = min(total, max(1, total // 2))
        if line in self._flips:
            answer = total
        if times > PATIENCE:
            answer = 0
        witness.assumed("how many elements are nonzero", f"{answer} of {total}")
        return answer

    def repeats(self, witness: Witness, total: int) -> int:
        """How many there are of ``total`` elements when each is repeated as often as nobody knows."""
        line, _, _ = self.ask()
        answer = min(total, 1) if line in self._flips else total
        witness.assumed("how often elements repeat", "once each" if answer == total else f"{answer} in all")
        return answer

    def ask(self) -> tuple[_Line, str, int]:
        """The line that asks for a value, its text, and how often it has asked."""
        line = self._locator.locate(sys._getframe(2)) or ("", 0)
        self.last = line
        self._asked[line] = self._asked.get(line, 0) + 1
        return line, self._locator.text(line), self._asked[line]
