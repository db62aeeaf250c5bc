"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """``file`` is relative to ``support_matrix/``; whole where it is a file of the user's own that cannot be used.

    ``key`` is the place in it, dots between its parts.
    """

    file: str
    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.key}: {self.message}" if self.key else f"{self.file}: {self.message}"
