#!/usr/bin/env python3
"""Damaged ONNX files: each is read or refused with a message; none crashes, hangs or shows a traceback.

    python benchmarks/onnx_mutations.py [--count 1000] [--seed 5] [FILE.onnx ...]

Bytes of onnx's node cases (and of the files given, up to 1 MB) are changed, lost, repeated and cut off; each goes
through the child process that a scan starts, and what it read is judged. Exits with 1 where something else came out.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from onnx.backend.test.case.node import collect_testcases

from opscan.assess import judge_calls
from opscan.errors import LoadError, OpscanError
from opscan.loading.onnx_reference import OnnxFileReference
from opscan.matrix.query import Matrix
from opscan.matrix.releases import resolve_target
from opscan.worker.host import Engine, Worker
from opscan.worker.protocol import ScanOnnx


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    sources = [case.model.SerializeToString() for case in collect_testcases("") if case.model is not None]
    given = [path.read_bytes() for path in options.paths if path.stat().st_size <= 1 << 20]
    matrix = Matrix.load(resolve_target(None, None, None, "offline")[0])
    outcomes, slowest = Counter[str](), 0.0
    with tempfile.TemporaryDirectory() as folder, Worker(Engine(tracer="onnx-file")) as worker:
        path = Path(folder) / "model.onnx"
        for number in range(options.count):
            pool = given if given and number % 2 else sources
            path.write_bytes(mutated(chance.choice(pool), chance))
            started = time.perf_counter()
            outcomes[_outcome(path, worker, matrix)] += 1
            slowest = max(slowest, time.perf_counter() - started)
    print(f"{options.count} files: {dict(outcomes)}; the slowest took {slowest:.1f} s")
    sys.exit(not outcomes.keys() <= {"inventory", "message"})


def _outcome(path: Path, worker: Worker, matrix: Matrix) -> str:
    try:
        inventory = worker.scan(ScanOnnx(OnnxFileReference(str(path))), lambda stage: None).inventory
    except LoadError as error:
        return "message" if error.message and error.hint else f"no hint: {error.message}"
    except OpscanError as error:
        return error.message
    judge_calls(inventory, matrix)
    return "inventory"


def mutated(content: bytes, chance: random.Random) -> bytes:
    """``content`` with one to twenty changes, cut off in one of five."""
    data = bytearray(content)
    for _ in range(chance.choice((1, 1, 3, 20))):
        at = chance.randrange(len(data))
        kind = chance.randrange(4)
        if kind == 0:
            data[at] = chance.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 2:
            del data[at : at + chance.randrange(1, 30)]
        else:
            data[at:at] = data[at : at + chance.randrange(1, 30)]
        data = data or bytearray(b"\0")
    return bytes(data[: chance.randrange(1, len(data) + 1)] if chance.random() < 0.2 else data)


if __name__ == "__main__":
    main()
