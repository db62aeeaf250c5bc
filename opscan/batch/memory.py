"""How much memory further scans may take. Linux; elsewhere nothing is known."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CGROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current"), Path("/sys/fs/cgroup/memory.stat")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.stat"),
    ),
)


def available() -> int | None:
    """Bytes that can be had without swapping, within the limit of the container; None where that is not known."""
    found: list[int] = []
    with suppress(OSError, ValueError, IndexError):
        lines = _MEMINFO.read_text().splitlines()
        found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    for limit, usage, stat in _CGROUPS:
        with suppress(OSError, ValueError):  # "max" is no number: there is no limit
            found.append(int(limit.read_text()) - int(usage.read_text()) + _inactive(stat))
    return max(min(found), 0) if found else None


def _inactive(stat: Path) -> int:
    """Pages of files that count as used and are given back when memory is short."""
    with suppress(OSError, ValueError, IndexError):
        for line in stat.read_text().splitlines():
            if line.startswith(("inactive_file ", "total_inactive_file ")):
                return int(line.split()[1])
    return 0
