"""``--dynamic``: which dimensions of which inputs vary. Read without torch, in the parent process."""

from __future__ import annotations

import re

from opscan.errors import UsageError
from opscan.workload import DynamicInput

_EXAMPLE = "Write it as --dynamic x:0,2 (or 0:0 by position; x:0=1..64,batch=1 with a range and a name)."

_DIMENSION = re.compile(r"(?:([^\W\d]\w*)=)?(-?\d+)(?:=(\d+)\.\.(\d+))?")

#: More than any tensor has; torch's own limit is 64.
_MOST_DIMENSIONS = 64

_LARGEST = 1 << 40


def parse_dynamic(text: str) -> DynamicInput:
    """``NAME:DIM,…``, where NAME is a parameter or a position and DIM is ``2``, ``2=32..512`` (smallest and largest
    size), ``length=2`` (a name; dimensions of the same name are the same size) or both. Raises UsageError."""
    name, colon, listed = text.partition(":")
    name = name.strip()
    if not colon or not (name.isidentifier() or name.isdecimal()):
        raise UsageError(f"--dynamic {text!r} names no input and its dimensions.", _EXAMPLE)
    dimensions: list[int] = []
    ranges: list[tuple[int, int] | None] = []
    labels: list[str] = []
    for item in listed.split(","):
        found = _DIMENSION.fullmatch(re.sub(r"\s+", "", item))
        if found is None:
            raise UsageError(f"--dynamic {text!r}: {item.strip()!r} is no dimension.", _EXAMPLE)
        label, dimension, low, high = found.groups()
        if not -_MOST_DIMENSIONS <= int(dimension) < _MOST_DIMENSIONS:
            raise UsageError(f"--dynamic {text!r}: no tensor has a dimension {dimension}.", _EXAMPLE)
        dimensions.append(int(dimension))
        labels.append(label or "")
        ranges.append(_range(text, low, high) if low else None)
    if len(set(dimensions)) < len(dimensions):
        raise UsageError(f"--dynamic {text!r} names a dimension twice.", _EXAMPLE)
    return DynamicInput(
        name,
        tuple(dimensions),
        tuple(ranges) if any(ranges) else (),
        tuple(labels) if any(labels) else (),
    )


def _range(text: str, low: str, high: str) -> tuple[int, int]:
    if not 1 <= int(low) < int(high) <= _LARGEST:
        raise UsageError(
            f"--dynamic {text!r}: {low}..{high} is no range of sizes.", "Write the smaller size first, from 1 on: 1..64"
        )
    return int(low), int(high)
