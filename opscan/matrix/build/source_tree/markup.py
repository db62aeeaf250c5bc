"""Tables in Markdown pages, written as HTML or with bars, as rows of plain cells."""

from __future__ import annotations

import re
from html.parser import HTMLParser

Table = list[list[str]]


class _TableParser(HTMLParser):
    """Rows of the tables of a text; a cell that spans rows or columns is repeated in each."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[Table] = []
        self._cell: list[str] | None = None
        self._span = (1, 1)
        self._pending: dict[int, tuple[int, str]] = {}
        self._row: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
            self._pending, self._row, self._cell = {}, None, None
        elif tag == "tr" and self.tables:
            self._end_row()
            self._row = []
        elif tag in ("td", "th") and self._row is not None:
            self._end_cell()
            given = dict(attrs)
            self._span = _number(given.get("rowspan")), _number(given.get("colspan"))
            self._cell = []
        elif tag in ("br", "li", "p") and self._cell is not None:
            self._cell.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._end_cell()
        elif tag in ("tr", "table"):
            self._end_row()

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def _end_cell(self) -> None:
        if self._cell is None or self._row is None:
            return
        text, (rows, columns) = "".join(self._cell).strip(), self._span
        self._cell = None
        self._fill()
        for _ in range(columns):
            if rows > 1:
                self._pending[len(self._row)] = rows - 1, text
            self._row.append(text)

    def _end_row(self) -> None:
        self._end_cell()
        if self._row:
            self._fill()
            self.tables[-1].append(self._row)
        self._row = None

    def _fill(self) -> None:
        """Cells that reach down into this row from the rows above."""
        assert self._row is not None
        while len(self._row) in self._pending:
            column = len(self._row)
            left, text = self._pending.pop(column)
            if left > 1:
                self._pending[column] = left - 1, text
            self._row.append(text)


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() and int(text) > 0 else 1


def tables(text: str) -> list[Table]:
    """Every table of a text, HTML ones first."""
    parser = _TableParser()
    parser.feed(text)
    return [table for table in parser.tables if table] + _barred(text)


def _barred(text: str) -> list[Table]:
    found: list[Table] = []
    inside = False
    for line in text.splitlines():
        stripped = line.strip()
        if not (stripped.startswith("|") and stripped.count("|") > 1):
            inside = False
            continue
        if not inside:
            found.append([])
            inside = True
        cells = [plain(cell) for cell in re.split(r"(?<!\\)\|", stripped.strip("|"))]
        if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            found[-1].append(cells)
    return [table for table in found if table]


def plain(text: str) -> str:
    """Without tags, links, emphasis and escapes."""
    text = re.sub(r"<br\s*/?>", "\n", text)
    text = re.sub(r"<[^<>]*>", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^()]*\)", r"\1", text)
    return re.sub(r"\\(?=[\W_])|[`]|\*\*", "", text).replace("&nbsp;", " ").strip()
