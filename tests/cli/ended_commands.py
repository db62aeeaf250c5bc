"""Commands that have ended, and where they are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

COMMAND = Path(sys.executable).with_name("opscan")
EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def message(self) -> str:
        """The error, without what the model printed before it."""
        return self.err[self.err.index("opscan: ") :]


Opscan = Callable[..., Ended]
