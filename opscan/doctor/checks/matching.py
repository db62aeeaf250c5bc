"""Which releases go together, by the matrix and by what packages declare of themselves."""

from __future__ import annotations

import re

from packaging.version import InvalidVersion, Version

from opscan.doctor.facts import Package, Toolkit
from opscan.matrix.files import ReleasesFile
from opscan.matrix.releases import cann_key, documented_entry, is_documented

_INNER = re.compile(r"V\d+R\d+C\d+")
_PACKAGE = re.compile(r"(\d+)\.(\d+)\.(rc)?(\d+)(?:\.(\d+))?", re.IGNORECASE)


def pair(torch_npu: str, torch: str) -> bool:
    """A torch_npu X.Y.Z.postN pairs with torch X.Y.Z exactly."""
    try:
        return Version(torch_npu).release == Version(torch).release
    except InvalidVersion:
        return False


def adapters_for(
    releases: ReleasesFile, torch: str | None = None, python: str | None = None, cann: str | None = None
) -> list[str]:
    """torch_npu releases for a torch, a Python (3.11) and a CANN release, from the oldest to the newest."""
    return [
        release
        for release in releases.torch_npu_order
        if (entry := releases.torch_npu[release]).python
        and entry.table
        and (torch is None or entry.torch == torch)
        and (python is None or python in entry.python)
        and (cann is None or is_documented(release, cann, releases))
    ]


def cann_for(releases: ReleasesFile, torch_npu: str) -> tuple[str, ...]:
    """CANN releases that are documented for a torch_npu release, the one it was made for first."""
    entry = documented_entry(torch_npu, releases)
    return tuple(dict.fromkeys([*entry.cann, *reversed(entry.compatible)]))


def surely_other(releases: ReleasesFile, cann: str, named: tuple[str, ...]) -> bool:
    """Whether a CANN release that documents do not name is one that they would have named: the matrix knows it from the
    documents of other torch_npu releases, or it is older than all that they name.
    """
    if cann in releases.cann:
        return True
    try:
        return cann_key(cann) < min(map(cann_key, named))
    except ValueError:
        return False


def declared(toolkit: Toolkit, driver: Package) -> bool | None:
    """Whether the packages of CANN and driver declare that they work together: either may name the other's line.

    None where they do not say what they are.
    """
    cann, lower = _INNER.match(toolkit.inner), _INNER.match(driver.inner)
    if cann is None or lower is None or not (toolkit.compatible or driver.compatible):
        return None
    # Some lists carry longer names than the line (V100R001C21SPC001).
    named = (match[0] for name in driver.compatible if (match := _INNER.match(name)))
    names = (match[0] for name in toolkit.compatible if (match := _INNER.match(name)))
    return cann[0] in named or lower[0] in names or cann[0] == lower[0]


def package_key(release: str) -> tuple[int, int, bool, int, int] | None:
    """The order of driver releases: 25.0.RC1 comes before 25.0.0; None for what is none."""
    match = _PACKAGE.fullmatch(release)
    if match is None:
        return None
    return int(match[1]), int(match[2]), match[3] is None, int(match[4]), int(match[5] or 0)


def older(release: str, other: str) -> bool | None:
    """Whether a driver release is older than another; None where one of them cannot be read."""
    one, two = package_key(release), package_key(other)
    return None if one is None or two is None else one < two


def within(version: str, spans: tuple[tuple[str, str], ...]) -> bool | None:
    """Whether a firmware version is in one of the ranges, both ends included; None where that cannot be told."""
    number = _numbers(version)
    ends = [(_numbers(first), _numbers(last)) for first, last in spans]
    if number is None or not ends or any(first is None or last is None for first, last in ends):
        return None
    return any(first <= number and number[: len(last)] <= last for first, last in ends if first and last)


def _numbers(version: str) -> tuple[int, ...] | None:
    parts = version.split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else None
