"""Makes text that comes from a model harmless to look at.

Names, paths and messages may hold terminal escapes, line breaks, or the bidirectional controls that make code look
other than it is (CVE-2021-42574). They are shown as escapes, not removed: the reader should see that they are there.
"""

from __future__ import annotations

import unicodedata

#: General categories of Unicode that do something instead of being seen: control, format, surrogate, line and
#: paragraph separator.
_ACTIVE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def inert(text: str, keep: str = "") -> str:
    """``text`` with every active character but those in ``keep`` as its Python escape (``\\x1b``, ``\\u202e``)."""
    if text.isprintable():
        return text
    return "".join(
        char if char in keep or unicodedata.category(char) not in _ACTIVE else _escape(char) for char in text
    )


def inert_code(text: str) -> str:
    """The same for source code, whose line breaks and tabs are meant."""
    return inert(text.replace("\r\n", "\n"), keep="\n\t")


def shorten(text: str, limit: int) -> str:
    """At most ``limit`` characters: what is left out of the middle becomes ``…``."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 3
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
