"""What a judgement says: one line about one subject."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from opscan.text import Text

#: ``problem``: parts that do not fit, or that fail; the only status that fails the doctor. ``missing``: not installed.
Status = Literal["ok", "warning", "problem", "missing"]


@dataclass(frozen=True, slots=True)
class Check:
    """``subject``: a stable key (``torch_npu``). ``says``: what is there and what is wrong. ``next``: what to do."""

    subject: str
    status: Status
    says: Text
    next: Text | None = None


def same(words: str) -> Text:
    """Words that are the same in both languages: releases, names, commands."""
    return Text(words, words)
