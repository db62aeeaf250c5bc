"""No table knows much less than that of the release before, unless it is stated why."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from opscan.matrix.data import find_table
from opscan.matrix.files import CannFile, ExceptionsFile, OnnxFile, RegistrationsFile, TorchairFile, load
from opscan.matrix.lint.problem import Problem
from opscan.matrix.releases import load_releases

#: The share that may be missing without a word.
TOLERANCE = 0.02


def check(roots: tuple[Path, ...], stated: ExceptionsFile) -> Iterator[Problem]:
    excused = {(drop.table, drop.release) for drop in stated.drops}
    fallen = set()
    for table, series in _series(roots).items():
        for (_, before), (release, now) in pairwise(series):
            if now < before * (1 - TOLERANCE):
                fallen.add((table, release))
                if (table, release) not in excused:
                    file = f"{table.partition(' ')[0]} at {release}"
                    message = f"{now} entries, {before} at the release before: state the reason in exceptions.json"
                    yield Problem(file, table.partition(" ")[2], message)
    for table, release in sorted(excused - fallen):
        yield Problem("exceptions.json", "drops", f"{table} did not fall at {release}")


def _series(roots: tuple[Path, ...]) -> dict[str, list[tuple[str, int]]]:
    """What is counted → (release, count) in order."""
    releases = load_releases(roots)
    series: dict[str, list[tuple[str, int]]] = {}

    def count(table: str, release: str, number: int) -> None:
        series.setdefault(table, []).append((release, number))

    for release in releases.torch_npu_order:
        if path := find_table(roots, f"torch_npu/{release}.json"):
            ops = load(path, RegistrationsFile).ops
            for namespace in ("aten", "npu", "quantized"):
                native = [n for n, e in ops.items() if n.startswith(f"{namespace}::") and "PrivateUse1" in e.keys]
                count(f"torch_npu {namespace}", release, len(native))
        if path := find_table(roots, f"torchair/{release}.json"):
            converters = load(path, TorchairFile).ops.values()
            count("torchair implemented", release, sum(c.status == "implemented" for c in converters))
    for release in releases.cann_order:
        for soc in releases.cann[release].socs:
            if path := find_table(roots, f"cann/{release}/{soc}.json"):
                file = load(path, CannFile)
                count(f"cann/{soc} apis", release, sum(api.supported for api in file.apis.values()))
                count(f"cann/{soc} ge", release, sum(not op.absent for op in file.ge.values()))
        if path := find_table(roots, f"onnx/{release}.json"):
            count("onnx ops", release, len(load(path, OnnxFile).ops))
    return series
