"""No table knows much less than that of the release before, unless it is stated why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from opscan.matrix.data import find_table
from opscan.matrix.files import (
    CannFile,
    ExceptionsFile,
    OnnxFile,
    RegistrationsFile,
    ReleasesFile,
    TorchairFile,
    load,
)
from opscan.matrix.lint.problem import Problem
from opscan.matrix.releases import load_releases

#: The share that may be missing without a word.
TOLERANCE = 0.02


def check(roots: tuple[Path, ...], stated: ExceptionsFile) -> Iterator[Problem]:
    excused = {(drop.table, drop.release) for drop in stated.drops}
    fallen = set()
    for table, before, release, then, now in _steps(roots):
        if now < then * (1 - TOLERANCE):
            fallen.add((table, release))
            if (table, release) not in excused:
                where, _, key = table.partition(" ")
                message = f"{now} entries, {then} at {before}: state the reason in exceptions.json"
                yield Problem(f"{where} at {release}", key, message)
    for table, release in sorted(excused - fallen):
        yield Problem("exceptions.json", "drops", f"{table} did not fall at {release}")


def _steps(roots: tuple[Path, ...]) -> Iterator[tuple[str, str, str, int, int]]:
    """(what is counted, release before, release, count then, count now)."""
    releases = load_releases(roots)
    adapters = _adapters(roots, releases.torch_npu_order)
    for release, before in _before(roots, tuple(adapters)).items():
        for table, now in adapters[release].items():
            yield table, before, release, adapters[before].get(table, 0), now
    counts = _cann(roots, releases)
    for table, series in counts.items():
        for (before, then), (release, now) in pairwise(series):
            yield table, before, release, then, now


def _before(roots: tuple[Path, ...], order: tuple[str, ...]) -> dict[str, str]:
    """torch_npu release → the one that it is compared with.

    That is the post release before it; for the first of a torch version, the nearest one built from the same op-plugin:
    lines of several torch versions are kept side by side, so that the newest of an old one may know more.
    """
    files = {r: load(path, RegistrationsFile) for r in order if (path := find_table(roots, f"torch_npu/{r}.json"))}
    found: dict[str, str] = {}
    for place, release in enumerate(order):
        earlier = [r for r in order[:place] if r in files]
        same_torch = [r for r in earlier if files[r].torch == files[release].torch]
        same_plugin = [r for r in earlier if files[r].op_plugin == files[release].op_plugin]
        if nearest := (same_torch or same_plugin)[-1:]:
            found[release] = nearest[0]
    return found


def _adapters(roots: tuple[Path, ...], order: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """torch_npu release → what is counted → how many."""
    found: dict[str, dict[str, int]] = {}
    for release in order:
        path, graph = (find_table(roots, f"{folder}/{release}.json") for folder in ("torch_npu", "torchair"))
        if path is None:
            continue
        native = [name for name, e in load(path, RegistrationsFile).ops.items() if "PrivateUse1" in e.keys]
        counts = {
            f"torch_npu {ns}": sum(n.startswith(f"{ns}::") for n in native) for ns in ("aten", "npu", "quantized")
        }
        if graph is not None:
            converters = load(graph, TorchairFile).ops.values()
            counts["torchair implemented"] = sum(c.status == "implemented" for c in converters)
        found[release] = counts
    return found


def _cann(roots: tuple[Path, ...], releases: ReleasesFile) -> dict[str, list[tuple[str, int]]]:
    """What is counted → (CANN release, count) in order."""
    series: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for release in releases.cann_order:
        for soc in releases.cann[release].socs:
            if path := find_table(roots, f"cann/{release}/{soc}.json"):
                file = load(path, CannFile)
                series[f"cann/{soc} apis"].append((release, sum(api.supported for api in file.apis.values())))
                series[f"cann/{soc} ge"].append((release, sum(not op.absent for op in file.ge.values())))
        if path := find_table(roots, f"onnx/{release}.json"):
            series["onnx ops"].append((release, len(load(path, OnnxFile).ops)))
    return series
