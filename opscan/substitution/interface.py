"""The words of a substitution family: what it takes, what it yields, and how it says no.

A family is one file that implements ``Family`` (with helpers beside it where it is large), one test, and a line in
``registry.FAMILIES``. ``applies`` and ``code`` run in a process without torch; the others import it inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from opscan.assessment import NumericCheck
from opscan.inventory import OpCall, TensorSpec
from opscan.text import Text as Text

if TYPE_CHECKING:
    from torch import Generator, Tensor

#: Takes the tensors of ``call.inputs``, flat and in order; returns what the operator returns.
Run = Callable[..., Any]


#: No words at all.
NOTHING = Text("", "")


@dataclass(frozen=True, slots=True)
class Match:
    """A family can replace this call. Travels between processes as JSON, so it holds values only."""

    family: str
    call: OpCall
    refused_dtype: str


@dataclass(frozen=True, slots=True)
class Miss:
    """A family cannot replace this call, and why."""

    family: str
    why: Text


@dataclass(frozen=True, slots=True)
class Code:
    """What the call looks like in a user's source, and what to write instead. Both run as they stand, given the tensors
    that a comment in ``before`` names; the result is ``out``."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The comparison, or ``None`` and the reason why none was possible."""

    check: NumericCheck | None
    note: Text = NOTHING


class NotChecked(Exception):
    """Original or replacement cannot be run here. ``why`` becomes the note of the result."""

    def __init__(self, why: Text) -> None:
        super().__init__(why.en)
        self.why = why


class Family(Protocol):
    """One kind of replacement."""

    @property
    def id(self) -> str:
        """Stable, in reports: ``complex-to-real``."""

    @property
    def title(self) -> Text: ...

    @property
    def why(self) -> Text:
        """What the replacement costs or changes, in a sentence or two."""

    def applies(self, call: OpCall, refused_dtype: str) -> Match | Miss:
        """Whether this family replaces ``call``, of which the target refuses ``refused_dtype``. Pure, without torch."""

    def code(self, match: Match) -> Code:
        """Source to show, with the operator's own name and arguments. Pure, without torch."""

    def original(self, match: Match) -> Run:
        """The call itself. Imports torch; raises ``NotChecked`` where it cannot be rebuilt from what was recorded."""

    def replacement(self, match: Match) -> Run:
        """What ``code`` shows as ``after``. Imports torch; reads no values, so it can be traced on fake tensors."""

    def sample_inputs(self, match: Match, specs: Sequence[TensorSpec], generator: Generator) -> list[Tensor]:
        """CPU tensors like ``specs`` (concrete shapes) whose values the operator accepts, indices within range."""
