"""What the matrix holds: releases, SoCs, how much is known of each, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from opscan.errors import MatrixError
from opscan.matrix.data import find_table, is_there
from opscan.matrix.files import CannFile, OnnxFile, RegistrationsFile, ReleasesFile, TorchairFile, load, remedy
from opscan.matrix.query import NPU_KEYS
from opscan.matrix.releases import load_releases


@dataclass(frozen=True, slots=True)
class AdapterHoldings:
    """One torch_npu release. ``registered``: overloads with an NPU kernel, by namespace. ``own``: the user built it.
    ``observed``, ``measured``: SoCs on which it was observed on a simulated runtime, and measured by probes.
    """

    release: str
    torch: str
    cann: tuple[str, ...]
    basis: str
    registered: dict[str, int]
    converters: int
    raising: int
    observed: tuple[str, ...]
    own: bool
    sources: tuple[str, ...]
    measured: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CannHoldings:
    """One CANN release on one SoC: aclnn APIs there and not there, graph-engine operators there, ONNX operators."""

    release: str
    soc: str
    apis: int
    absent: int
    ge_ops: int
    onnx: int
    own: bool
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Holdings:
    """``without_table``: CANN releases that are answered by the nearest ones."""

    adapters: tuple[AdapterHoldings, ...]
    cann: tuple[CannHoldings, ...]
    without_table: dict[str, tuple[str, ...]]


def holdings(roots: tuple[Path, ...]) -> Holdings:
    """Opens every table. Raises MatrixError for a damaged one."""
    releases = load_releases(roots)
    adapters = [r for r in releases.torch_npu_order if releases.torch_npu[r].table]
    observed, measured = _socs(roots, "observed"), _socs(roots, "measured")
    pairs = [(r, soc) for r in releases.cann_order for soc in releases.cann[r].socs]
    return Holdings(
        tuple(_adapter(roots, r, releases, observed.get(r, ()), measured.get(r, ())) for r in adapters),
        tuple(_cann(roots, release, soc) for release, soc in pairs),
        {r: e.nearest for r, e in releases.cann.items() if e.nearest and not e.socs},
    )


def _socs(roots: tuple[Path, ...], folder: str) -> dict[str, tuple[str, ...]]:
    """torch_npu release → SoCs of the tables in a folder."""
    found: dict[str, set[str]] = {}
    for root in roots:
        for path in (root / folder).glob("*/*.json"):
            found.setdefault(path.parent.name, set()).add(path.stem)
    return {release: tuple(sorted(socs)) for release, socs in found.items()}


def _promised(roots: tuple[Path, ...], name: str) -> Path:
    path = find_table(roots, name)
    if path is None:
        first = next(root for root in roots if is_there(root / "releases.json"))
        raise MatrixError(f"{first / name}: there is no such file, but releases.json names it", remedy(first))
    return path


def _adapter(
    roots: tuple[Path, ...],
    release: str,
    releases: ReleasesFile,
    observed: tuple[str, ...],
    measured: tuple[str, ...],
) -> AdapterHoldings:
    path = _promised(roots, f"torch_npu/{release}.json")
    file = load(path, RegistrationsFile)
    native = [name for name, entry in file.ops.items() if NPU_KEYS & set(entry.keys)]
    namespaces = sorted({name.partition("::")[0] for name in native})
    counts = {ns: sum(name.startswith(f"{ns}::") for name in native) for ns in namespaces}
    graph = find_table(roots, f"torchair/{release}.json")
    converters = [c.status for c in load(graph, TorchairFile).ops.values()] if graph else []
    return AdapterHoldings(
        release,
        file.torch,
        releases.torch_npu[release].cann,
        file.basis,
        counts,
        converters.count("implemented"),
        converters.count("raises"),
        observed,
        path.is_relative_to(roots[0]) and len(roots) > 1,
        tuple(source.table for source in file.sources),
        measured,
    )


def _cann(roots: tuple[Path, ...], release: str, soc: str) -> CannHoldings:
    path = _promised(roots, f"cann/{release}/{soc}.json")
    file = load(path, CannFile)
    onnx = find_table(roots, f"onnx/{release}.json")
    there = sum(api.supported for api in file.apis.values())
    return CannHoldings(
        release,
        soc,
        there,
        len(file.apis) - there,
        sum(not op.absent for op in file.ge.values()),
        len(load(onnx, OnnxFile).ops) if onnx else 0,
        path.is_relative_to(roots[0]) and len(roots) > 1,
        tuple(source.table for source in file.sources),
    )
