"""Every release and SoC that a table names exists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from opscan.matrix.data import find_table
from opscan.matrix.files import Correction, ExceptionsFile, OverridesFile, Statement, load
from opscan.matrix.lint.problem import Problem
from opscan.matrix.releases import load_releases, load_socs


def check(roots: tuple[Path, ...], stated: ExceptionsFile) -> Iterator[Problem]:
    releases, socs = load_releases(roots), frozenset(load_socs(roots).socs)
    adapters, cann = frozenset(releases.torch_npu), frozenset(releases.cann)
    for root in roots:
        yield from _named(root, "torch_npu/*.json", 1, adapters, "torch_npu release")
        yield from _named(root, "torchair/*.json", 1, adapters, "torch_npu release")
        yield from _named(root, "observed/*/*.json", 1, adapters, "torch_npu release")
        yield from _named(root, "observed/*/*.json", 2, socs, "SoC")
        yield from _named(root, "cann/*/*.json", 1, cann, "CANN release")
        yield from _named(root, "cann/*/*.json", 2, socs, "SoC")
        yield from _named(root, "onnx/*.json", 1, cann, "CANN release")
        yield from _overrides(root, adapters, cann, socs)
    yield from _promised(roots)


def _named(root: Path, pattern: str, part: int, known: frozenset[str], what: str) -> Iterator[Problem]:
    for path in sorted(root.glob(pattern)):
        name = path.relative_to(root).parts[part].removesuffix(".json")
        if name not in known:
            yield Problem(str(path.relative_to(root)), "", f"no {what} {name} in releases.json or socs.json")


def _overrides(root: Path, adapters: frozenset[str], cann: frozenset[str], socs: frozenset[str]) -> Iterator[Problem]:
    seen: set[str] = set()
    for path in sorted((root / "overrides").glob("*.json")):
        file, name = load(path, OverridesFile), str(path.relative_to(root))
        entries: tuple[Correction | Statement, ...] = (*file.corrections, *file.statements)
        for entry in entries:
            named = [(s, socs, "SoC") for s in entry.socs] + [(r, cann, "CANN release") for r in entry.cann]
            named += [(r, adapters, "torch_npu release") for r in getattr(entry, "torch_npu", ())]
            yield from (
                Problem(name, entry.id, f"no {what} {word} in the matrix")
                for word, known, what in named
                if word not in known
            )
            if entry.id in seen:
                yield Problem(name, entry.id, "two overrides have this id")
            seen.add(entry.id)


def _promised(roots: tuple[Path, ...]) -> Iterator[Problem]:
    """``releases.json`` says which tables there are."""
    releases = load_releases(roots)
    tables = [f"torch_npu/{r}.json" for r, entry in releases.torch_npu.items() if entry.table]
    tables += [f"cann/{r}/{soc}.json" for r, entry in releases.cann.items() for soc in entry.socs]
    for table in tables:
        if find_table(roots, table) is None:
            yield Problem("releases.json", table, "is said to exist, but there is no such file")
    for release, entry in releases.cann.items():
        for near in entry.nearest:
            if near not in releases.cann:
                yield Problem("releases.json", f"cann.{release}.nearest", f"no CANN release {near}")
