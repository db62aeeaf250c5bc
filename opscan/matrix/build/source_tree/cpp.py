"""Just enough of C++ to read declarations: without comments, by braces, statements, chained calls, lists of dtypes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opscan.matrix.build.source_tree.words import dtype


def without_comments(text: str) -> str:
    """Comments removed; strings stay."""
    pattern = r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/'
    return re.sub(pattern, lambda m: m[1] or " ", text, flags=re.S)


def closing(text: str, start: int) -> int:
    """The position after the bracket that closes the one at ``start``; the end of the text where none does."""
    pairs = {"{": "}", "(": ")", "[": "]"}
    opening, depth, inside = text[start], 0, False
    for position in range(start, len(text)):
        char = text[position]
        if char == '"' and text[position - 1] != "\\":
            inside = not inside
        elif not inside:
            depth += (char == opening) - (char == pairs[opening])
            if depth == 0:
                return position + 1
    return len(text)


def blocks(text: str, pattern: str) -> Iterator[tuple[re.Match[str], str]]:
    """(match, body) of everything that matches ``pattern`` and is followed by a block in braces."""
    for match in re.finditer(pattern, text):
        start = text.find("{", match.end())
        if start >= 0 and ";" not in text[match.end() : start]:
            yield match, text[start : closing(text, start)]


def statements(body: str) -> list[str]:
    """The statements of a block, nested ones too, each on one line."""
    found, depth, start = [], 0, 0
    for position, char in enumerate(body):
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif depth <= 0 and char in ";{}":
            if char == "{" and re.search(r"[=,(]\s*$", body[start:position]):
                continue
            found.append(re.sub(r"\s+", " ", body[start : position + (char == "{")]).strip())
            start = position + 1
    return [statement for statement in found if statement]


def calls(statement: str) -> list[tuple[str, str]]:
    """(function, arguments) of a chain ``a.f(x).g(y)``, arguments as they are written."""
    found, position = [], 0
    while match := re.compile(r"(?:\.|->)\s*(\w+)\s*\(").search(statement, position):
        end = closing(statement, match.end() - 1)
        found.append((match[1], statement[match.end() : end - 1].strip()))
        position = end
    return found


#: Names of no dtype: a definition fills them in later, by rules of its own.
_PLACEHOLDERS = frozenset({"MAX", "UNDEFINED"})


def dtype_list(text: str) -> tuple[str, ...]:
    """The dtypes of ``{ge::DT_FLOAT, ge::DT_BF16}`` in order, with repeats; none where one is a placeholder.

    A dtype that no other table knows (``DT_QINT8``) keeps its name: to leave it out would shorten the list.
    """
    names = re.findall(r"\bDT_(\w+)", text)
    return () if _PLACEHOLDERS.intersection(names) else tuple(dtype(name) or name.lower() for name in names)


def variables(text: str) -> dict[str, str]:
    """Name → initialiser of the vectors and lists that a file declares with ``= {…}`` or ``{…}``, and of macros."""
    found = dict(re.findall(r"#define[ \t]+(\w+)[ \t]+(\{[^\n]*\})", text.replace("\\\n", " ")))
    for match in re.finditer(
        r"(?:vector|initializer_list|array)\s*<[^<>;]*(?:<[^<>]*>)?[^<>;]*>\s*(\w+)\s*=?\s*\{", text
    ):
        found[match[1]] = text[match.end() - 1 : closing(text, match.end() - 1)]
    return found
