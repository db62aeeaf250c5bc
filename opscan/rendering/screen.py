"""Lines and columns of inert text: coloured and wrapped on a terminal, bare and unwrapped in a pipe or file."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from opscan.rendering.inert import inert

#: Text and its rich style.
Piece = tuple[str, str]

_GAP = 2

#: What a console that cannot write UTF-8 is given instead.
_ASCII = str.maketrans({"×": "x", "·": "-", "–": "-", "…": "..."})


class Screen:
    """Writes to a rich console. All is passed as plain text with a style, never as markup, and made inert here."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._fancy = console.is_terminal and not console.is_dumb_terminal
        self._unicode = console.encoding.lower().startswith("utf")

    def blank(self) -> None:
        self._console.print()

    def line(self, pieces: Sequence[Piece], indent: int = 0, hanging: int = 0) -> None:
        """One line, ``indent`` cells from the left.

        Where a terminal must wrap it, the pieces after the first keep to the right of ``hanging`` cells.
        """
        if not self._fancy:
            self._plain(" " * indent + "".join(content for content, _ in pieces))
        elif hanging:
            self._wrapped(pieces, hanging)
        else:
            self._console.print(Padding(self._text(pieces), (0, 0, 0, indent)))

    def columns(self, cells: Sequence[str], widths: Sequence[int], styles: Sequence[str]) -> None:
        """One row of a table without lines. A terminal that is too narrow folds the cells; one in which some column
        would vanish wraps the row.
        """
        fitted = self._fitted(widths)
        if not self._fancy or sum(fitted) + _GAP * len(fitted) > self._console.width:
            padded = (cell + " " * (width - cell_len(cell) + _GAP) for cell, width in zip(cells, widths, strict=True))
            self._plain("".join(padded))
            return
        table = Table.grid(padding=(0, _GAP, 0, 0))
        for width in fitted:
            table.add_column(width=width, overflow="fold")
        table.add_row(*(self._text([piece]) for piece in zip(cells, styles, strict=True)))
        self._console.print(table)

    def _wrapped(self, pieces: Sequence[Piece], hanging: int) -> None:
        table = Table.grid()
        table.add_column(width=hanging)
        table.add_column(overflow="fold")
        table.add_row(self._text(pieces[:1]), self._text(pieces[1:]))
        self._console.print(table)

    def _fitted(self, widths: Sequence[int]) -> list[int]:
        """The same widths for every row: the widest column gives way until the row fits the terminal."""
        fitted = list(widths)
        excess = sum(fitted) + _GAP * len(fitted) - self._console.width
        while excess > 0 and max(fitted) > 8:
            fitted[fitted.index(max(fitted))] -= 1
            excess -= 1
        return fitted

    def _text(self, pieces: Sequence[Piece]) -> Text:
        return Text.assemble(*((self._writable(content), style) for content, style in pieces))

    def _plain(self, content: str) -> None:
        self._console.print(
            Text(self._writable(content).rstrip()), soft_wrap=True, no_wrap=True, overflow="ignore", crop=False
        )

    def _writable(self, content: str) -> str:
        safe = inert(content)
        if self._unicode:
            return safe
        encoding = self._console.encoding
        return safe.translate(_ASCII).encode(encoding, "backslashreplace").decode(encoding)
