"""The converters of the graph route in one torch_npu release."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from opscan.matrix.data import find_table, matrix_roots
from opscan.matrix.files import Converter, check_place, load
from opscan.matrix.tables import Entries

#: What a rehearsal says of a node in the place of torchair's own words, where torchair registers no converter for it.
NO_CONVERTER = "no converter is registered"

#: The same, where torchair would compile a callback from the graph to the operator's eager kernel.
WITH_CALLBACK = f"{NO_CONVERTER}; torchair makes a callback that runs it operator by operator"


@dataclass(frozen=True, slots=True)
class TorchairTable:
    """Converters by qualified overload; an overload that is not there has none. ``automatic``: but for those of other
    libraries, see :class:`opscan.matrix.files.TorchairFile`.
    """

    release: str
    ops: Entries[Converter]
    automatic: bool = False

    @classmethod
    def load(cls, torch_npu: str, roots: tuple[Path, ...] | None = None) -> TorchairTable | None:
        """The table of a torch_npu release, the user's own before the built-in one; None where there is none.

        Raises MatrixError for a damaged file or one that lies at another's place.
        """
        path = find_table(matrix_roots() if roots is None else roots, f"torchair/{torch_npu}.json")
        if path is None:
            return None
        file = load(path, _Torchair)
        check_place(path, release=file.release)
        return cls(file.release, Entries(path, "ops", Converter, file.ops), file.automatic)


class _Torchair(msgspec.Struct, frozen=True):
    release: str
    ops: dict[str, msgspec.Raw]
    automatic: bool = False
