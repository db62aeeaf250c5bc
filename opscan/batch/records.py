"""The folder that a batch writes: a JSON and an HTML report for each model, and a record that says what they are of.

The record is written last, and taken away before a model is scanned again: where there is one, the reports beside it
are whole and belong to it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from opscan.assessment import Assessment
from opscan.errors import OpscanError, UsageError
from opscan.rendering.json import load_assessment
from opscan.rendering.write import write_text

#: Files of the roll-up; no model may be called like one of them.
JSON, HTML = "batch.json", "index.html"
_RECORDS = "records"
_LONGEST = 80


class Record(msgspec.Struct, frozen=True):
    """``digest``: of what the result depends on. ``seconds``: that the scan took."""

    digest: str
    exit_code: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Place:
    """Where the files of one model go. ``stem``: their name without a suffix."""

    output: Path
    stem: str

    @property
    def json(self) -> Path:
        return self.output / f"{self.stem}.json"

    @property
    def html(self) -> Path:
        return self.output / f"{self.stem}.html"

    @property
    def record(self) -> Path:
        return self.output / _RECORDS / f"{self.stem}.json"

    def kept(self, digest: str) -> tuple[Record, Assessment] | None:
        """The result of an earlier run, if it is whole and of the same digest."""
        try:
            record = msgspec.json.decode(self.record.read_bytes(), type=Record)
            if record.digest != digest or not self.html.is_file():
                return None
            return record, load_assessment(self.json.read_bytes())
        except (OSError, ValueError, OpscanError):
            return None

    def begin(self) -> None:
        """What is there now will not be of the scan that begins."""
        self._remove(self.record)

    def finish(self, record: Record) -> None:
        write_text(str(self.record), msgspec.json.format(msgspec.json.encode(record), indent=1).decode() + "\n")

    def clear(self) -> None:
        """Take away what an earlier run left of a model that has no result now."""
        for path in (self.record, self.json, self.html):
            self._remove(path)

    @staticmethod
    def _remove(path: Path) -> None:
        with suppress(FileNotFoundError):
            path.unlink()


def make_folder(output: Path) -> None:
    """Raises UsageError where it cannot be made."""
    try:
        (output / _RECORDS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"Cannot make the folder {output}: {error.strerror or error}.", "Choose another with --output."
        ) from error


def places(output: Path, names: Iterable[str]) -> dict[str, Place]:
    """A place for each name. Names become harmless file names; two that would share one are told apart by a digest, so
    that the place of a model does not depend on the others of the batch more than it must.
    """
    names = list(names)
    plain = {name: _plain(name) for name in names}
    counts: dict[str, int] = {}
    for stem in plain.values():
        counts[stem.lower()] = counts.get(stem.lower(), 0) + 1
    taken = {Path(JSON).stem, Path(HTML).stem, _RECORDS}
    found: dict[str, Place] = {}
    for name, stem in plain.items():
        if counts[stem.lower()] > 1 or stem.lower() in taken or len(stem) > _LONGEST or not stem:
            mark = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:8]
            stem = f"{stem[:_LONGEST]}-{mark}".lstrip("-")
        found[name] = Place(output, stem)
    return found


def _plain(name: str) -> str:
    """Letters, digits and ``-_.`` of a name; the suffix of a Python file says nothing."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name.removesuffix(".py")).strip("-.")
