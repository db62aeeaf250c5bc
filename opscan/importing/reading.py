"""Files of any of these kinds, told apart by what they hold, to observations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from opscan.errors import UsageError
from opscan.importing.atc_log import AtcLog
from opscan.importing.cann_log import CannLog, is_chatter
from opscan.importing.codes import CodeFinder
from opscan.importing.collector import Collector
from opscan.importing.interface import LineReader
from opscan.importing.lines import lines
from opscan.importing.observations import FileKind, FileRead, Imported
from opscan.importing.profile import columns_of, read_table
from opscan.importing.torch_npu_output import TorchNpuOutput
from opscan.matrix.errors_file import ErrorCodes

#: Lines in which the header of a table is looked for.
_HEADER_WITHIN = 5

#: Lines after which progress is told.
_STEP = 200_000


def import_files(paths: Sequence[Path], codes: ErrorCodes, progress: Callable[[str], None]) -> Imported:
    """Read all, one after the other, in memory that does not depend on their size. Raises UsageError for a file that
    cannot be read.
    """
    into = Collector()
    read: list[FileRead] = []
    for number, path in enumerate(paths, 1):
        into.file = number
        try:
            with path.open("rb") as file:
                read.append(_read(number, lines(file), into, CodeFinder(codes), progress))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UsageError(f"Cannot read {path}: {reason}.", "Name a log, or a table of the profiler.") from error
    return into.result(tuple(read))


def _read(
    number: int, text: Iterator[str], into: Collector, codes: CodeFinder, progress: Callable[[str], None]
) -> FileRead:
    first: list[str] = []
    for line in text:
        columns = columns_of(line.lstrip("\ufeff"))
        if columns is not None:
            rows, damaged = read_table(text, columns, into)
            return FileRead(number, (columns.kind,), len(first) + 1 + rows, damaged)
        first.append(line)
        if len(first) >= _HEADER_WITHIN:
            break
    return _read_text(number, chain(first, text), into, codes, progress)


def _read_text(
    number: int, text: Iterator[str], into: Collector, codes: CodeFinder, progress: Callable[[str], None]
) -> FileRead:
    readers: tuple[LineReader, ...] = (AtcLog(), TorchNpuOutput(), CannLog())
    kinds: dict[FileKind, None] = {}
    count = 0
    for count, line in enumerate(text, 1):
        if count % _STEP == 0:
            progress(f"file {number}: {count:,} lines")
        if is_chatter(line):
            kinds["cann"] = None
            continue
        for reader in readers:
            if reader.read(line, into):
                kinds[reader.kind] = None
        for code in codes.find(line):
            into.add_code(code)
            kinds.setdefault("torch_npu" if code.startswith("ERR") else "cann")
    return FileRead(number, tuple(kinds) or ("text",), count)
