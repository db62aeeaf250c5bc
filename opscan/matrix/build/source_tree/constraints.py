"""The section on constraints of an API page: product lines, and tables with a column for each product.

Most of it is about shapes and modes. Only plain statements about the dtypes of named parameters are read; the rest is
not counted, for little of it is about dtypes at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from opscan.matrix.build.source_tree.markup import plain, tables
from opscan.matrix.build.source_tree.notes import Note, read_notes
from opscan.matrix.build.source_tree.words import PRODUCT


def read_constraints(body: str, names: Collection[str]) -> list[Note]:
    """The notes of the section for an API with these parameters.

    In a table, a list may hold for one mode of several that follow in the same cell: only what is excluded is taken.
    """
    lines = [line for line in body.splitlines() if PRODUCT.match(plain(line).strip().lstrip("-*> "))]
    said = [note for note in read_notes(lines, names)[0] if note.socs and note.parameters]
    excluded = [
        note
        for products, cell in _cells(body)
        for note in read_notes([f"- {products}：", *(f"    - {line}" for line in cell.splitlines())], names)[0]
        if note.socs and note.parameters and note.kind == "remove"
    ]
    return said + excluded


def _cells(body: str) -> Iterator[tuple[str, str]]:
    """(products, text) of every cell below a heading that names products."""
    for table in tables(body):
        headings = [plain(cell) for cell in table[0]]
        for row in table[1:]:
            for products, cell in zip(headings, row, strict=False):
                if PRODUCT.match(products):
                    yield products, plain(cell)
