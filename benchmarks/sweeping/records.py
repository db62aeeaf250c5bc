"""What became of one model, and the file that keeps it: one JSON object a line, the last one of a model counts."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec

from opscan.loading.reference import Reference
from sweeping.defaults import LACKING

Section = Literal[
    "torchvision", "timm", "transformers-4", "transformers-5", "diffusers", "segmentation", "onnx-cases", "onnx-files"
]  # fmt: skip

#: ``whole``: every operator of the run; ``assumed``: the run went to its end, and answers that depend on data were
#: assumed on the way; ``part``: the trace ended early. ``error``: a message; ``time``: killed at the limit; ``crash``:
#: the process ended by itself.
Outcome = Literal["whole", "assumed", "part", "error", "time", "crash"]


#: What opscan says where there is no model that could run, and what that means.
_NO_MODEL = {
    "transformers builds no model from": "the defaults make no model",
    "needs a library that is missing": "a library is missing",
    "needs configurations of the model's parts": "the configuration needs those of its parts",
    "has no forward: its parts": "no forward: its parts run in generate()",
    "has no model of type": "a part of another model, without a class of its own",
}


class Model(msgspec.Struct, frozen=True):
    """One to be scanned. ``files``: those to be written first, by their names below the sweep's folder. ``release``: of
    the library that it is from.
    """

    section: Section
    name: str
    reference: Reference
    shape: tuple[int, ...] = ()
    files: dict[str, str] = {}
    release: str = ""


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """``kind``: the class of the error. ``reason``: the first in words. ``seconds`` of the processor's time. ``plain``:
    what the model does without opscan: ``cpu`` or ``meta`` where it runs there, else why it does not."""

    section: Section
    name: str
    outcome: Outcome
    kind: str = ""
    reason: str = ""
    seconds: float = 0.0
    calls: int = 0
    operators: int = 0
    plain: str = ""
    release: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.section, self.name

    @property
    def has_inventory(self) -> bool:
        return self.outcome in ("whole", "assumed", "part")

    @property
    def ruled_out(self) -> str:
        """Why there is no model to run in the library's defaults; empty where there is one, or might be."""
        if self.has_inventory:
            return ""
        found = next((what for mark, what in _NO_MODEL.items() if mark in self.reason), "")
        return found or (LACKING.get(self.name, "") if self.section == "transformers-4" else "")


class Results:
    """A file of records. It may be written by several threads, and a sweep that ended early goes on from it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self.records: dict[tuple[str, str], Record] = {}
        if path.exists():
            for line in path.read_bytes().splitlines():
                record = msgspec.json.decode(line, type=Record)
                self.records[record.key] = record

    def add(self, record: Record) -> None:
        with self._lock:
            self.records[record.key] = record
            with self._path.open("ab") as file:
                file.write(msgspec.json.encode(record) + b"\n")

    def tidy(self) -> None:
        """One line a model, in order."""
        with self._lock:
            ordered = [self.records[key] for key in sorted(self.records)]
            self._path.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in ordered))
