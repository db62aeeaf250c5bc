"""Make the raw tables of torch_npu wheels: ``python benchmarks/wheels.py [RELEASE …]``.

Without a release: every one that the index has for Linux x86-64 and CPython 3.11, from 2.1.0.post8 on. Some ten seconds
and 4 MB a release; tables that are there already are made again.
"""

from __future__ import annotations

import sys

from msgspec.structs import replace
from packaging.version import Version

from opscan.matrix.build.wheel import read_wheel, save_raw
from opscan.matrix.build.wheel_fetch import PYTHONS, published_for
from opscan.matrix.data import support_matrix_dir

FIRST = Version("2.1.0.post8")


def main() -> None:
    published = {python: published_for(python) for python in sorted(PYTHONS, key=Version)}
    wanted = sys.argv[1:] or [r for r in sorted(published["3.11"], key=Version) if Version(r) >= FIRST]
    for release in wanted:
        raw = read_wheel(release)
        python = tuple(p for p, releases in published.items() if release in releases)
        path = save_raw(support_matrix_dir(), replace(raw, python=python))
        print(f"{path.name}: {len(raw.operators())} functions, {len(raw.torchair.converters)} converters", flush=True)


if __name__ == "__main__":
    main()
