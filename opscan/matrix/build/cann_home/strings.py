"""Strings in the read-only data of a library, found without loading it."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

from opscan.matrix.build.cann_home.toolkit import Toolkit, damaged, read_bytes

_MAGIC = b"\x7fELF"
_LOAD, _WRITABLE = 1, 2


def printable(toolkit: Toolkit, path: Path, pattern: bytes) -> Iterator[str]:
    """Whole zero-terminated strings of a library that fit ``pattern``, in the order of the file.

    A library may lack a string that its code builds from immediate values, so a string that is not found proves
    nothing. Raises MatrixError where the file is no 64-bit library.
    """
    whole = re.compile(rb"(?<=\x00)(?:" + pattern + rb")(?=\x00)")
    for data in _read_only(toolkit, path):
        for match in whole.finditer(b"\x00" + data + b"\x00"):
            yield match[0].decode()


def _read_only(toolkit: Toolkit, path: Path) -> Iterator[bytes]:
    """The loaded segments that nothing may write to (ELF-64, gABI chapter 5, Program Header)."""
    data = read_bytes(toolkit, path)
    if data[:5] != _MAGIC + b"\x02" or len(data) < 64:
        raise damaged(toolkit, path, "not a 64-bit ELF library")
    order = "<" if data[5] == 1 else ">"
    (table,) = struct.unpack_from(order + "Q", data, 0x20)
    size, count = struct.unpack_from(order + "HH", data, 0x36)
    if table + size * count > len(data):
        raise damaged(toolkit, path, "the library is cut short")
    for number in range(count):
        kind, flags, offset = struct.unpack_from(order + "IIQ", data, table + number * size)
        (length,) = struct.unpack_from(order + "Q", data, table + number * size + 0x20)
        if kind == _LOAD and not flags & _WRITABLE:
            if offset + length > len(data):
                raise damaged(toolkit, path, "the library is cut short")
            yield data[offset : offset + length]
