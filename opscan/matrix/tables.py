"""Tables of the matrix opened for queries: an entry is decoded when it is asked for, so that opening costs little."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from opscan.errors import MatrixError
from opscan.matrix.files import Api, GeOp, MeasuredOp, ObservedOp, OpEntry, check_place, load, remedy

Entry = TypeVar("Entry", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Entries(Generic[Entry]):
    """Name → entry of one table of a file, decoded on demand.

    ``get`` raises MatrixError, naming file and key, for an entry that does not fit its form.
    """

    path: Path
    table: str
    kind: type[Entry]
    raw: dict[str, msgspec.Raw]
    decoded: dict[str, Entry] = field(default_factory=dict)

    def get(self, name: str) -> Entry | None:
        if name in self.decoded:
            return self.decoded[name]
        raw = self.raw.get(name)
        if raw is None:
            return None
        try:
            entry = msgspec.json.decode(raw, type=self.kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise MatrixError(f"{self.path}: key {self.table}.{name}: {error}", remedy(self.path)) from error
        self.decoded[name] = entry
        return entry

    def __contains__(self, name: object) -> bool:
        return name in self.raw

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)


@dataclass(frozen=True, slots=True)
class CannTable:
    """What one CANN release accepts on one SoC; see :class:`opscan.matrix.files.CannFile`."""

    release: str
    soc: str
    apis: Entries[Api]
    ge: Entries[GeOp]


@dataclass(frozen=True, slots=True)
class ObservedTable:
    """What one torch_npu release was seen to launch on one SoC; see :class:`opscan.matrix.files.ObservedFile`."""

    release: str
    soc: str
    ops: Entries[ObservedOp]


@dataclass(frozen=True, slots=True)
class RegistrationTable:
    """What one torch_npu release registers; see :class:`opscan.matrix.files.RegistrationsFile`."""

    release: str
    torch: str
    ops: Entries[OpEntry]


def open_cann(path: Path) -> CannTable:
    """Raises MatrixError as :func:`opscan.matrix.files.load` does, and for a file that lies at another's place."""
    file = load(path, _Cann)
    check_place(path, release=file.release, soc=file.soc)
    return CannTable(file.release, file.soc, Entries(path, "apis", Api, file.apis), Entries(path, "ge", GeOp, file.ge))


def open_observed(path: Path) -> ObservedTable:
    """Raises MatrixError as :func:`opscan.matrix.files.load` does, and for a file that lies at another's place."""
    file = load(path, _Observed)
    check_place(path, release=file.release, soc=file.soc)
    return ObservedTable(file.release, file.soc, Entries(path, "ops", ObservedOp, file.ops))


@dataclass(frozen=True, slots=True)
class MeasuredTable:
    """What probes measured with one torch_npu release on one SoC; see :class:`opscan.matrix.files.MeasuredFile`."""

    release: str
    soc: str
    ops: Entries[MeasuredOp]


def open_measured(path: Path) -> MeasuredTable:
    """Raises MatrixError as :func:`opscan.matrix.files.load` does, and for a file that lies at another's place."""
    file = load(path, _Observed)
    check_place(path, release=file.release, soc=file.soc)
    return MeasuredTable(file.release, file.soc, Entries(path, "ops", MeasuredOp, file.ops))


def open_registrations(path: Path) -> RegistrationTable:
    """Raises MatrixError as :func:`opscan.matrix.files.load` does, and for a file that lies at another's place."""
    file = load(path, _Registrations)
    check_place(path, release=file.release)
    return RegistrationTable(file.release, file.torch, Entries(path, "ops", OpEntry, file.ops))


class _Cann(msgspec.Struct, frozen=True):
    release: str
    soc: str
    apis: dict[str, msgspec.Raw]
    ge: dict[str, msgspec.Raw] = {}


class _Observed(msgspec.Struct, frozen=True):
    release: str
    soc: str
    ops: dict[str, msgspec.Raw]


class _Registrations(msgspec.Struct, frozen=True):
    release: str
    torch: str
    ops: dict[str, msgspec.Raw]
