"""A file of any size as lines of text, whatever its encoding, and whatever else is in it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import IO

#: What is longer than this without a line break is looked at in pieces.
_LONGEST = 64 << 10

#: Characters that two pieces share, so that no message is cut in two unseen.
_SHARED = 2 << 10

_BLOCK = 1 << 20

_BREAK = re.compile(r"[\r\n]+")
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


def lines(file: IO[bytes]) -> Iterator[str]:
    """Lines without their breaks, colours and empty ones. Progress bars' carriage returns end a line, too.

    UTF-8 and, by their marks, UTF-16 and UTF-32; in any other encoding what is ASCII is read, which is all that the
    messages need.
    """
    head = file.read(4096)
    decoder = codecs.getincrementaldecoder(_encoding(head))(errors="replace")
    rest, block = "", head
    while block:
        text = rest + decoder.decode(block).replace("\x00", "")
        *whole, rest = _BREAK.split(text)
        for line in whole:
            yield from _pieces(line)
        if len(rest) > _LONGEST:
            yield from _pieces(rest)
            rest = rest[-_SHARED:]
        block = file.read(_BLOCK)
    yield from _pieces(rest + decoder.decode(b"", True))


def _encoding(head: bytes) -> str:
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if head.startswith(mark):
            return name
    # A log of a Windows console, without a mark: every second byte of its ASCII is zero.
    if len(head) >= 64 and head[1::2].count(0) > 0.4 * len(head[1::2]) and head[::2].count(0) < len(head) / 20:
        return "utf-16-le"
    return "utf-8"


def _pieces(line: str) -> Iterator[str]:
    if "\x1b" in line:
        line = _ESCAPE.sub("", line)
    if len(line) <= _LONGEST:
        if line and not line.isspace():
            yield line
        return
    for start in range(0, len(line), _LONGEST - _SHARED):
        yield line[start : start + _LONGEST]
