"""Where two releases or two reviewed answers contradict each other, the matrix says so itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from opscan.matrix.files import Api, CannFile, ExceptionsFile, OverridesFile, Statement, load
from opscan.matrix.lint.problem import Problem
from opscan.matrix.releases import load_releases


def check(roots: tuple[Path, ...], stated: ExceptionsFile) -> Iterator[Problem]:
    yield from _between_releases(roots)
    yield from _between_statements(roots)


def _between_releases(roots: tuple[Path, ...]) -> Iterator[Problem]:
    """An API or dtype that an earlier release of the same SoC documents is not silently gone from a later one."""
    order = load_releases(roots).cann_order
    for soc in sorted({path.stem for root in roots for path in root.glob("cann/*/*.json")}):
        earlier: dict[str, Api] = {}
        for release in order:
            path = next((p for root in roots if (p := root / "cann" / release / f"{soc}.json").is_file()), None)
            if path is None:
                continue
            for name, api in load(path, CannFile).apis.items():
                where = f"cann/{release}/{soc}.json", f"apis.{name}"
                yield from (Problem(*where, message) for message in _silent(earlier.get(name), api))
                if api.supported:
                    earlier[name] = api


def _silent(before: Api | None, now: Api) -> Iterator[str]:
    if before is None or before.borrowed or now.corrected:
        return
    if not now.supported and not now.disputed:
        yield "an earlier release documents it as supported, and nothing is disputed here"
    for name, parameter in now.params.items():
        old = before.params.get(name)
        if old is None or old.io == "out" or old.corrected or old.borrowed or parameter.corrected or parameter.borrowed:
            continue
        gone = set(old.dtypes) - set(parameter.dtypes) - set(parameter.disputed)
        if gone and parameter.dtypes:
            yield f"{name} took {', '.join(sorted(gone))} at an earlier release, and that is not disputed here"


def _between_statements(roots: tuple[Path, ...]) -> Iterator[Problem]:
    found = [
        (f"overrides/{path.name}", statement)
        for root in roots
        for path in sorted((root / "overrides").glob("*.json"))
        for statement in load(path, OverridesFile).statements
    ]
    for (file, one), (_, other) in combinations(found, 2):
        if one.status != other.status and _overlap(one, other):
            yield Problem(file, one.id, f"says {one.status} where {other.id} says {other.status}")


def _overlap(one: Statement, other: Statement) -> bool:
    def meet(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
        return bool(set(a) & set(b))

    def meet_or_all(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
        return not a or not b or meet(a, b)

    # A statement for one operator or dtype is meant to come before one for all.
    named = meet(one.ops, other.ops) and meet(one.dtypes, other.dtypes)
    return (
        named
        and meet(one.socs, other.socs)
        and meet_or_all(one.cann, other.cann)
        and meet_or_all(one.torch_npu, other.torch_npu)
    )
