"""A table of inert text, as wide as its contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from opscan.rendering.screen import Screen

#: Styles of the words that verdicts and states are written in.
WORD_STYLES: Mapping[str, str] = {
    "unsupported": "bold red",
    "lost": "bold red",
    "fallback": "dark_orange",
    "slow": "yellow",
    "unknown": "blue",
    "supported": "green",
    "gained": "bold green",
}


def print_table(screen: Screen, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A row of headers and the rows; a cell that is one of the words above takes its style."""
    widths = [max(cell_len(row[i]) for row in (headers, *rows)) for i in range(len(headers))]
    screen.columns(headers, widths, ["bold"] * len(headers))
    for row in rows:
        screen.columns(row, widths, [WORD_STYLES.get(cell, "") for cell in row])
