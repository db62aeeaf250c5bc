"""Every kernel that an operator leads to is in some table of CANN, or it is stated why not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from opscan.matrix.data import find_table
from opscan.matrix.files import (
    CannFile,
    ExceptionsFile,
    ObservedFile,
    OnnxFile,
    OverridesFile,
    RegistrationsFile,
    TorchairFile,
    load,
)
from opscan.matrix.launches import LEGACY, parse_launch
from opscan.matrix.lint.problem import Problem
from opscan.matrix.local_engine import LOCAL
from opscan.matrix.releases import torch_npu_releases


def check(roots: tuple[Path, ...], stated: ExceptionsFile) -> Iterator[Problem]:
    apis, ge_ops = _known(roots)
    excused = {kernel for entry in stated.unresolved for kernel in entry.kernels}
    used = _used(roots)
    for kernel, places in sorted(used.items()):
        known = ge_ops if kernel.startswith(LEGACY) else apis
        if kernel not in excused and kernel.removeprefix(LEGACY) not in known:
            file, key = min(places)
            yield Problem(file, key, f"{kernel} is in no table of CANN, and exceptions.json does not say why")
    for kernel in sorted(excused & {*apis, *(LEGACY + op for op in ge_ops)}):
        yield Problem("exceptions.json", "unresolved", f"{kernel} is in a table now")
    yield from _corrected(roots, apis)


def _known(roots: tuple[Path, ...]) -> tuple[frozenset[str], frozenset[str]]:
    apis: set[str] = set()
    ge_ops: set[str] = set(LOCAL)
    for path in _files(roots, "cann/*/*.json"):
        file = load(path, CannFile)
        apis |= set(file.apis)
        ge_ops |= set(file.ge)
    return frozenset(apis), frozenset(ge_ops)


def _used(roots: tuple[Path, ...]) -> dict[str, set[tuple[str, str]]]:
    """Kernel → (file, key) of the places that lead to it. Only the newest torch_npu's reachable kernels are asked for:
    older releases reach some that have long been withdrawn.
    """
    used: dict[str, set[tuple[str, str]]] = defaultdict(set)

    def add(path: Path, name: str, kernels: Iterable[str]) -> None:
        file = next(str(path.relative_to(root)) for root in roots if path.is_relative_to(root))
        for kernel in kernels:
            used[kernel].add((file, f"ops.{name}"))

    for path in _files(roots, "observed/*/*.json"):
        for name, op in load(path, ObservedFile).ops.items():
            launches = (parse_launch(text) for row in op.rows for text in row.kernels)
            add(path, name, {launch.api for launch in launches if launch is not None})
    for path in _files(roots, "torchair/*.json"):
        for name, converter in load(path, TorchairFile).ops.items():
            add(path, name, {LEGACY + op for op in converter.ge})
    for path in _files(roots, "onnx/*.json"):
        for name, parsed in load(path, OnnxFile).ops.items():
            add(path, name, {LEGACY + op for op in parsed.ge})
    newest = find_table(roots, f"torch_npu/{torch_npu_releases(roots)[-1]}.json")
    if newest is not None:
        for name, entry in load(newest, RegistrationsFile).ops.items():
            add(newest, name, entry.aclnn)
    return used


def _corrected(roots: tuple[Path, ...], apis: frozenset[str]) -> Iterator[Problem]:
    for path in _files(roots, "overrides/*.json"):
        for correction in load(path, OverridesFile).corrections:
            if correction.api not in apis:
                yield Problem(f"overrides/{path.name}", correction.id, f"{correction.api} is in no table of CANN")


def _files(roots: tuple[Path, ...], pattern: str) -> list[Path]:
    return [path for root in roots for path in sorted(root.glob(pattern))]
