"""``releases.json``: torch_npu and CANN releases in order, which pairs are documented, and which have tables."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from packaging.version import InvalidVersion, Version

from opscan.matrix.build.cann import TARGETS
from opscan.matrix.build.op_plugin import OpPlugin
from opscan.matrix.build.tables import read_table
from opscan.matrix.build.torch_npu import nearest_before
from opscan.matrix.build.wheel import RawWheel, load_raw, raw_releases
from opscan.matrix.build.writing import render
from opscan.matrix.files import SCHEMA, CannRelease, ReleasesFile, Source, TorchNpuRelease
from opscan.matrix.releases import cann_key

#: CANN releases from this one on, without a table of their own, are answered by the tables around them.
_ANSWERED_FROM = "8.0.RC1"

_SOURCES = (
    Source("versions.csv.gz"),
    Source("wheels/*.json.gz", "METADATA, and the Python versions for which there is a wheel"),
)


def build(root: Path) -> dict[str, bytes]:
    wheels = {release: load_raw(root, release) for release in raw_releases(root)}
    rows = [{str(key): value for key, value in row.items()} for row in read_table(root, "versions").to_dict("records")]
    cann_releases = {row["cann"] for row in rows} | {release for release, _ in TARGETS}
    torch_npu = _documented(rows, wheels, frozenset(cann_releases))
    torch_npu |= _without_documents(torch_npu, wheels, OpPlugin(root))
    cann = {release: _cann_release(release) for release in cann_releases}
    file = ReleasesFile(
        SCHEMA,
        _SOURCES,
        tuple(sorted(torch_npu, key=Version)),
        tuple(sorted(cann, key=cann_key)),
        torch_npu,
        cann,
    )
    return {"releases.json": render(file, ("cann", "torch_npu"))}


def _documented(
    rows: list[dict[str, str]], wheels: dict[str, RawWheel], cann_releases: frozenset[str]
) -> dict[str, TorchNpuRelease]:
    """What the table of versions and the wheels' own METADATA say. A METADATA row may misname a CANN release."""
    torch = {release: wheel.metadata.torch for release, wheel in wheels.items()}
    cann: dict[str, set[str]] = defaultdict(set)
    compatible, python, driver = defaultdict[str, set[str]](set), dict[str, str](), defaultdict[str, set[str]](set)
    for row in rows:
        wheel = row["torch_npu_wheel"]
        if _is_version(wheel):
            torch[wheel] = row["torch"]
            cann[wheel].add(row["cann"])
            compatible[wheel] |= set(re.findall(r"\d+\.\d+\.(?:X|RC\d+|\d+)", row["cann_compatible"]))
            driver[wheel] |= set(filter(None, [row["driver_hdk"]]))
            python[wheel] = row["python"]
    for release, raw in wheels.items():
        named = {row.cann for row in raw.metadata.rows if row.torch_npu == release} | {raw.metadata.cann}
        cann[release] |= named & cann_releases
    return {
        release: TorchNpuRelease(
            version,
            release in wheels,
            _sorted(cann[release]),
            _sorted(compatible[release]),
            wheels[release].python if release in wheels else python_versions(python[release]),
            tuple(sorted(driver[release])),
        )
        for release, version in torch.items()
    }


def _without_documents(
    known: dict[str, TorchNpuRelease], wheels: dict[str, RawWheel], plugin: OpPlugin
) -> dict[str, TorchNpuRelease]:
    """Post releases that no document names, with the documented release that stands in for each.

    That is one built from the same op-plugin release: of the same torch where there is one; else the nearest before.
    """
    built = {release: plugin.fit(wheel).release for release, wheel in wheels.items()}
    found = {}
    for release in wheels:
        entry = known[release]
        if entry.cann:
            continue
        documented = [r for r in wheels if known[r].cann]
        same = [r for r in documented if built[r] == built[release]]
        nearest = [r for r in same if known[r].torch == entry.torch] or same or documented
        like = nearest_before(release, tuple(nearest))
        found[release] = TorchNpuRelease(entry.torch, entry.table, python=entry.python, like=like)
    return found


def _cann_release(release: str) -> CannRelease:
    socs = tuple(sorted(soc for r, soc in TARGETS if r == release))
    tables = sorted({r for r, _ in TARGETS}, key=cann_key)
    if socs or cann_key(release) < cann_key(_ANSWERED_FROM):
        return CannRelease(socs)
    before = [r for r in tables if cann_key(r) < cann_key(release)][-1:]
    after = [r for r in tables if cann_key(r) > cann_key(release)][:1]
    return CannRelease(nearest=(*before, *after))


def python_versions(text: str) -> tuple[str, ...]:
    """``3.8``, ``3.9`` … of ``Python3.8, Python 3.9`` or ``3.8-3.9``."""
    if span := re.fullmatch(r"3\.(\d+)-3\.(\d+)", text):
        return tuple(f"3.{minor}" for minor in range(int(span[1]), int(span[2]) + 1))
    return tuple(f"3.{minor}" for minor in re.findall(r"Python ?3\.(\d+)", text))


def _sorted(releases: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(releases, key=cann_key))


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True
