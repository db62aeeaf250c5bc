#!/usr/bin/env python3
"""How often two observed releases launch the same kernels, where they register an operator in the same way.

    python benchmarks/observed_inheritance.py [--soc ascend910b] [--list RELEASE RELEASE]
    python benchmarks/observed_inheritance.py --socs [--torch-npu 2.13.0]
    python benchmarks/observed_inheritance.py --verdicts 8.5.0 --torch-npu 2.6.0.post5 [--soc ascend910b]

A release that was not observed inherits the rows of the nearest one that was, for operators that both register for the
same NPU dispatch keys; this measures that rule. An entry is an operator with the dtypes of its tensors and results.
``one way``: some way of running it launches the same APIs in both (sample inputs differ from one torch to the next);
``same APIs``: every way does; ``same launches``: with the same arguments too. ``--socs`` compares the SoCs of one
release with each other instead. ``--verdicts`` judges the entries of one observed release at a CANN release twice, by
its own rows and by those that it would inherit, and counts how the two agree (it needs a built matrix).
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import msgspec

from opscan.matrix import Matrix
from opscan.matrix.build.observed import build
from opscan.matrix.build.tables import read_dispatch
from opscan.matrix.data import support_matrix_dir
from opscan.matrix.files import ObservedFile, load
from opscan.matrix.launches import parse_launch
from opscan.target import Target

NPU_KEYS = frozenset({"PrivateUse1", "AutogradPrivateUse1"})

SHARES = ("one way", "same APIs", "same launches")

#: Operator, dtypes of its tensors, dtypes of its results.
Entry = tuple[str, str, str]
#: Every way in which an entry was seen to run: launches, or a refusal.
Ways = dict[Entry, frozenset[tuple[str, ...]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--soc", default="ascend910b")
    parser.add_argument("--list", nargs=2, metavar="RELEASE", help="operators that differ between two releases")
    parser.add_argument("--socs", action="store_true", help="compare the SoCs of one release")
    parser.add_argument("--torch-npu", default="2.13.0", metavar="RELEASE")
    parser.add_argument("--verdicts", metavar="CANN", help="compare verdicts of own and of inherited rows")
    options = parser.parse_args()
    root = support_matrix_dir()
    if options.verdicts:
        _verdicts(Target(options.torch_npu, options.verdicts, options.soc))
        return
    files = [msgspec.json.decode(content, type=ObservedFile) for content in build(root).values()]
    if options.socs:
        chosen = {file.soc: file for file in files if file.release == options.torch_npu}
    else:
        chosen = {file.release: file for file in files if file.soc == options.soc}
    print(f"{'compared':28}", *(f"{c:>14}" for c in ("operators", "all same", "entries", *SHARES)), sep="")
    for one, other in itertools.combinations(sorted(chosen), 2):
        releases = (options.torch_npu,) if options.socs else (one, other)
        _compare(one, other, chosen, _alike(root, releases), {one, other} == set(options.list or ()))


def _verdicts(target: Target) -> None:
    matrix, heir = Matrix.load(target), Matrix.load(target)
    others = tuple(release for release in heir.observed_releases if release != target.torch_npu)
    heir = dataclasses.replace(heir, observed_releases=others)
    file = load(support_matrix_dir() / "observed" / target.torch_npu / f"{target.soc}.json", ObservedFile)
    entries = {(name, row.dtypes, row.results) for name, op in file.ops.items() for row in op.rows}
    counts: Counter[tuple[str, str]] = Counter()
    for name, dtypes, results in entries:
        call = name, tuple(dtypes.split()), tuple(results.split())
        counts[heir.kernels(*call).status, matrix.kernels(*call).status] += 1
    print(f"{len(entries)} entries of {target.torch_npu}, inherited from {others[0]} → own")
    for (inherited, own), count in counts.most_common():
        print(f"{inherited:>12} → {own:12}{count:>8}")


def _alike(root: Path, releases: Iterable[str]) -> frozenset[str]:
    """Operators that every release registers for the same NPU keys; none at all counts too."""
    dumps = [read_dispatch(root, release) for release in releases]
    keys = [{name: NPU_KEYS & set(found) for name, found in dump.items()} for dump in dumps]
    return frozenset(name for name in keys[0] if all(name in k and k[name] == keys[0][name] for k in keys))


def _compare(one: str, other: str, files: dict[str, ObservedFile], alike: frozenset[str], listed: bool) -> None:
    left, right = _ways(files[one], alike), _ways(files[other], alike)
    shared = sorted(set(left) & set(right))
    launches = {entry for entry in shared if left[entry] == right[entry]}
    apis = {entry for entry in shared if _apis(left[entry]) == _apis(right[entry])}
    common = {entry for entry in shared if _apis(left[entry]) & _apis(right[entry])}
    differing = Counter(entry[0] for entry in shared if entry not in launches)
    operators = {entry[0] for entry in shared}
    alike_share = 1 - len(differing) / max(len(operators), 1)
    shares = (f"{len(found) / max(len(shared), 1):>14.1%}" for found in (common, apis, launches))
    print(f"{one + ' | ' + other:28}{len(operators):>14}{alike_share:>14.1%}{len(shared):>14}", *shares, sep="")
    for name, count in differing.most_common() if listed else ():
        entry = next(e for e in shared if e[0] == name and e not in launches)
        gone, come = _plain(left[entry] - right[entry]), _plain(right[entry] - left[entry])
        print(f"  {name} ({count}) {entry[1]}: {gone} | {come}")


def _ways(file: ObservedFile, names: frozenset[str]) -> Ways:
    found: dict[Entry, set[tuple[str, ...]]] = defaultdict(set)
    for name in names & set(file.ops):
        for row in file.ops[name].rows:
            if not row.cann:
                way = (f"refused: {row.refused}",) if row.refused else tuple(sorted(row.kernels))
                found[name, row.dtypes, row.results].add(way)
    return {entry: frozenset(ways) for entry, ways in found.items()}


def _apis(ways: frozenset[tuple[str, ...]]) -> frozenset[tuple[str, ...]]:
    """The same without arguments, and refusals without their wording."""
    return frozenset(
        tuple(sorted({launch.api if (launch := parse_launch(text)) else text.partition(":")[0] for text in way}))
        for way in ways
    )


def _plain(ways: frozenset[tuple[str, ...]]) -> str:
    return " or ".join(sorted(" ; ".join(way) for way in ways))[:160]


if __name__ == "__main__":
    main()
