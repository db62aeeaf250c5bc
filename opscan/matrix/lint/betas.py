"""What a beta leaves out is inherited from the release before it, and marked as such."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from opscan.matrix.data import find_table
from opscan.matrix.files import CannFile, ExceptionsFile, load
from opscan.matrix.lint.problem import Problem
from opscan.matrix.releases import load_releases


def check(roots: tuple[Path, ...], stated: ExceptionsFile) -> Iterator[Problem]:
    releases = load_releases(roots)
    for place, release in enumerate(releases.cann_order):
        if "-" not in release or place == 0:
            continue
        before = releases.cann_order[place - 1]
        for soc in releases.cann[release].socs:
            paths = [find_table(roots, f"cann/{r}/{soc}.json") for r in (before, release)]
            if paths[0] is None or paths[1] is None:
                continue
            old, new = (load(path, CannFile) for path in paths if path is not None)
            for name, api in old.apis.items():
                if api.supported and name not in new.apis:
                    yield Problem(f"cann/{release}/{soc}.json", f"apis.{name}", f"is missing, and CANN {before} has it")
