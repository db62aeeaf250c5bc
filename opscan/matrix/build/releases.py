"""``releases.json``: torch_npu and CANN releases in order, which pairs are documented, and which have tables."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from packaging.version import InvalidVersion, Version

from opscan.matrix.build.cann import TARGETS
from opscan.matrix.build.tables import OP_PLUGIN, read_table
from opscan.matrix.build.writing import render
from opscan.matrix.files import SCHEMA, CannRelease, ReleasesFile, Source, TorchNpuRelease


def build(root: Path) -> dict[str, bytes]:
    rows = read_table(root, "versions").to_dict("records")
    cann: dict[str, set[str]] = defaultdict(set)
    compatible: dict[str, set[str]] = defaultdict(set)
    torch = {release: ".".join(release.split(".")[:3]) for release in OP_PLUGIN}
    for row in rows:
        if _is_version(row["torch_npu_wheel"]):
            cann[row["torch_npu_wheel"]].add(row["cann"])
            compatible[row["torch_npu_wheel"]] |= set(re.findall(r"\d+\.\d+\.(?:X|RC\d+|\d+)", row["cann_compatible"]))
            torch[row["torch_npu_wheel"]] = row["torch"]
    socs: dict[str, list[str]] = {row["cann"]: [] for row in rows}
    for release, soc in TARGETS:
        socs.setdefault(release, []).append(soc)
    file = ReleasesFile(
        SCHEMA,
        (Source("versions.csv.gz"),),
        tuple(sorted(torch, key=Version)),
        tuple(sorted(socs, key=cann_key)),
        {
            wheel: TorchNpuRelease(t, wheel in OP_PLUGIN, _sorted(cann[wheel]), _sorted(compatible[wheel]))
            for wheel, t in torch.items()
        },
        {release: CannRelease(tuple(sorted(names))) for release, names in socs.items()},
    )
    return {"releases.json": render(file, ("cann", "torch_npu"))}


def _sorted(releases: set[str]) -> tuple[str, ...]:
    return tuple(sorted(releases, key=cann_key))


def cann_key(release: str) -> tuple[int, int, int, int, str]:
    """The order of CANN releases: 8.0.RC3 comes before 8.0.0; a line (8.5.X) counts as its first release."""
    match = re.fullmatch(r"(\d+)\.(\d+)\.(RC)?(\d+|X)(.*)", release)
    if match is None:
        raise ValueError(f"not a CANN release: {release}")
    last = 0 if match[4] == "X" else int(match[4])
    return int(match[1]), int(match[2]), 0 if match[3] else 1, last, match[5]


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True
