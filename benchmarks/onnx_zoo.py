#!/usr/bin/env python3
"""Every valid ONNX model yields an inventory: onnx's own test cases of every operator, and real files.

    python benchmarks/onnx_zoo.py [FILE.onnx | FOLDER | WHEEL.whl ...] [--json FILE]

Without arguments the node cases of ``onnx.backend.test`` alone. Wheels and folders are searched for ``.onnx`` files;
such wheels are, for instance, those of rapidocr-onnxruntime, silero-vad and magika (``pip download --no-deps``).
Each file is also judged for the offline route at the newest target. Exits with 1 where one has no inventory.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from opscan.assess import judge_calls
from opscan.errors import OpscanError
from opscan.inventory import Inventory
from opscan.loading.onnx_file import load_onnx
from opscan.loading.onnx_reference import OnnxFileReference
from opscan.matrix.query import Matrix
from opscan.matrix.releases import resolve_target
from opscan.tracing.onnx.file import inventory_of


@dataclass
class Outcome:
    """What became of one file. ``typed``: the share of tensors whose dtype is known."""

    name: str
    error: str = ""
    kind: str = ""
    calls: int = 0
    operators: int = 0
    typed: float = 1.0
    seconds: float = 0.0
    unseen: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    verdicts: dict[str, int] = field(default_factory=dict)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--json", type=Path, help="write every outcome there")
    parser.add_argument("--files-only", action="store_true", help="leave the node cases out")
    options = parser.parse_args()
    matrix = Matrix.load(resolve_target(None, None, None, "offline")[0])
    with tempfile.TemporaryDirectory() as folder:
        cases = [] if options.files_only else [outcome_of(p, p.stem, matrix) for p in node_cases(Path(folder))]
        files = [
            outcome_of(path, path.name, matrix) for given in options.paths for path in onnx_files(given, Path(folder))
        ]
    if cases:
        _report("node cases", cases, each=False)
    if files:
        _report("files", files, each=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(o) for o in (*cases, *files)], indent=1), encoding="utf-8")
    sys.exit(any(outcome.error for outcome in (*cases, *files)))


def node_cases(folder: Path) -> Iterator[Path]:
    from onnx.backend.test.case.node import collect_testcases

    for case in collect_testcases(""):
        if case.model is None:
            continue
        path = folder / f"{case.name}.onnx"
        path.write_bytes(case.model.SerializeToString())
        yield path


def onnx_files(given: Path, folder: Path) -> Iterator[Path]:
    if given.suffix == ".whl":
        out = folder / given.stem
        with zipfile.ZipFile(given) as wheel:
            for name in wheel.namelist():
                if name.endswith(".onnx"):
                    yield Path(wheel.extract(name, out))
    elif given.is_dir():
        yield from sorted(given.rglob("*.onnx"))
    else:
        yield given


def outcome_of(path: Path, name: str, matrix: Matrix) -> Outcome:
    started = time.perf_counter()
    outcome = Outcome(name)
    try:
        loaded = load_onnx(OnnxFileReference(str(path)))
        inventory = inventory_of(loaded.model, str(path), loaded.parameters, loaded.notes, lambda stage: None)
    except OpscanError as error:
        outcome.error, outcome.kind = error.message, type(error).__name__
        return outcome
    outcome.seconds = time.perf_counter() - started
    outcome.calls = sum(call.count for call in inventory.calls)
    outcome.operators = len({call.name for call in inventory.calls})
    outcome.typed = _typed(inventory)
    outcome.unseen = list(inventory.trace.unseen)
    outcome.findings = [finding.rule for finding in inventory.findings]
    counts = Counter[str]()
    for entry in judge_calls(inventory, matrix):
        counts[entry.ruling.verdict] += 1
    outcome.verdicts = dict(counts)
    return outcome


def _typed(inventory: Inventory) -> float:
    specs = [spec for call in inventory.calls for spec in (*call.inputs, *call.outputs)]
    return sum(spec.dtype != "unknown" for spec in specs) / len(specs) if specs else 1.0


def _report(title: str, outcomes: list[Outcome], each: bool) -> None:
    good = [outcome for outcome in outcomes if not outcome.error]
    whole = sum(outcome.typed == 1.0 for outcome in good)
    print(f"{title}: {len(good)} of {len(outcomes)} have an inventory; in {whole} the dtype of every tensor is known")
    for outcome in outcomes:
        if outcome.error:
            print(f"  {outcome.name}: {outcome.error}")
        elif each:
            told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(outcome.verdicts.items()))
            print(
                f"  {outcome.name}: {outcome.calls} calls, {outcome.typed:.0%} typed, {outcome.seconds:.1f} s; {told}"
            )
    notes = Counter(note.split(":")[0] for outcome in good for note in outcome.unseen)
    for note, count in notes.most_common():
        print(f"  not seen in {count}: {note}")


if __name__ == "__main__":
    main()
