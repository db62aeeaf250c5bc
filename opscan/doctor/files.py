"""Version files of CANN, driver and firmware: lines of ``key=value``, in whatever encoding and state they are."""

from __future__ import annotations

import re
from pathlib import Path

#: More than this no version file has; whatever else lies at its path is not read whole.
_MOST = 64 * 1024


def read_values(path: Path) -> dict[str, str] | None:
    """The values by lower-case key, the first of each; None where there is no file.

    Raises OSError where it cannot be read. Keys differ in case from release to release (``Version=``, ``version=``).
    """
    try:
        with path.open("rb") as file:
            text = file.read(_MOST).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    values: dict[str, str] = {}
    for line in text.splitlines():
        key, separator, value = line.partition("=")
        if separator and (name := key.strip().lower()) and "\0" not in line:
            values.setdefault(name, value.strip().strip("\"'"))
    return values


def bracketed(value: str) -> tuple[str, ...]:
    """The names in ``[V100R001C13,V100R001C19],[V100R001C30]``."""
    return tuple(name.strip() for group in re.findall(r"\[([^\[\]]*)\]", value) for name in group.split(",") if name)


def ranges(value: str) -> tuple[tuple[str, str], ...]:
    """The ranges in ``[6.4.0,6.4.99],[7.0.0,8.9.9]``."""
    pairs = (tuple(part.strip() for part in group.split(",")) for group in re.findall(r"\[([^\[\]]*)\]", value))
    return tuple((pair[0], pair[1]) for pair in pairs if len(pair) == 2)
