"""Counts what the readers find, in memory that does not grow with the file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from opscan.importing.observations import KINDS, CodeSeen, FileRead, Imported, Key, Observation, Shape

#: Observations kept apart. A run of one model has some hundreds.
_MOST = 20_000


@dataclass(slots=True)
class _Sum:
    count: int = 0
    microseconds: float = 0.0
    timed: bool = False
    longest: float = -1.0
    shapes: tuple[Shape, ...] = ()
    files: dict[int, None] = field(default_factory=dict)


class Collector:
    """``file`` is the number of the file that is read now."""

    def __init__(self) -> None:
        self.file = 0
        self._sums: dict[Key, _Sum] = {}
        self._codes: Counter[str] = Counter()
        self._dropped = 0

    def add(self, key: Key, count: int = 1, microseconds: float | None = None, shapes: tuple[Shape, ...] = ()) -> None:
        if not (key.operator or key.kernel):
            return
        if key not in self._sums and len(self._sums) >= _MOST:
            self._dropped += count
            return
        total = self._sums.setdefault(key, _Sum())
        total.count += count
        total.files[self.file] = None
        if microseconds is not None:
            total.timed = True
            total.microseconds += microseconds
        if (microseconds or 0.0) > total.longest and shapes:
            total.longest, total.shapes = microseconds or 0.0, shapes

    def replace(self, before: Key, after: Key) -> None:
        """One that was counted as ``before`` turns out to be ``after``."""
        total = self._sums.get(before)
        if total is not None:
            total.count -= 1
            if total.count == 0:
                del self._sums[before]
        self.add(after)

    def add_code(self, code: str) -> None:
        self._codes[code] += 1

    def result(self, files: tuple[FileRead, ...]) -> Imported:
        """Observations by kind, then the longest and the most frequent first; codes by how often they are named."""
        observations = [
            Observation(
                key.kind,
                key.operator,
                key.kernel,
                key.dtypes,
                key.unit,
                key.code,
                total.count,
                round(total.microseconds, 3) if total.timed else None,
                total.shapes,
                tuple(total.files),
            )
            for key, total in self._sums.items()
        ]
        observations.sort(
            key=lambda o: (KINDS.index(o.kind), -(o.microseconds or 0), -o.count, o.operator, o.kernel, o.dtypes)
        )
        codes = tuple(CodeSeen(code, count) for code, count in sorted(self._codes.items(), key=lambda c: (-c[1], c[0])))
        return Imported(files, tuple(observations), codes, self._dropped)
