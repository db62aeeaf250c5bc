"""Options whose value is one of a few words."""

from __future__ import annotations

import difflib
import locale
import os

from opscan.errors import UsageError
from opscan.rendering.interface import LANGS, Lang


def language(asked: str | None) -> Lang:
    """The language asked for, else the locale's. Raises UsageError for any other word."""
    if asked is None:
        try:
            name = locale.setlocale(locale.LC_MESSAGES, "") if hasattr(locale, "LC_MESSAGES") else ""
        except locale.Error:
            names = (os.environ.get(variable) for variable in ("LC_ALL", "LC_MESSAGES", "LANG"))
            name = next((n for n in names if n), "")
        return "zh" if name.lower().startswith("zh") else "en"
    return choice("--lang", asked, LANGS)  # type: ignore[return-value]


def choice(option: str, given: str, allowed: tuple[str, ...]) -> str:
    """``given`` where it is allowed. Raises UsageError, with the nearest word, where it is not."""
    if given in allowed:
        return given
    close = difflib.get_close_matches(given, allowed, n=1)
    hint = f"Did you mean {close[0]}? " if close else ""
    raise UsageError(f"{option} {given}: no such choice.", f"{hint}Choose one of: {', '.join(allowed)}.")
