#!/usr/bin/env python3
"""Damaged model files: each is scanned or refused with a message; none hangs or shows a traceback.

    python benchmarks/file_mutations.py [--count 1000] [--seed 5] [--seconds 60]

Bytes of TorchScript archives, exported programs, pickled modules and weights, old and new, and of safetensors are
changed, lost, repeated and cut off: in the file, or in one member of an archive that is whole again afterwards. A tenth
are bytes without any sense. Each goes through the child process that a scan starts, every
second one with --trust. A file on which torch's own reader crashes takes that process along, and ends in a message too:
such files are counted apart. Exits with 1 where anything else came out.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import torch
from onnx_mutations import mutated
from torch import nn

from opscan.errors import LoadError, ModelError, OpscanError
from opscan.loading.inputs import parse_input_shape
from opscan.loading.reference import parse_reference
from opscan.matrix.query import Matrix
from opscan.scan import release_for
from opscan.target import Target
from opscan.worker.host import Worker
from opscan.worker.protocol import Release, Scan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=60, help="longer than this is a hang")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    release = release_for(Matrix.load(Target("2.13.0", "9.1.0", "ascend910b")))
    sources = samples()
    outcomes, slowest = Counter[str](), 0.0
    scanner = Scanner(release)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.count):
            kind = chance.choice(sorted(sources))
            path = Path(folder) / f"{number}{kind[kind.index('.') :]}"
            path.write_bytes(damaged(sources[kind], chance, number))
            started = time.perf_counter()
            outcome = scanner.outcome(path, trust=number % 2 == 1)
            if time.perf_counter() - started > options.seconds:
                outcome = "hang"
            slowest = max(slowest, time.perf_counter() - started)
            outcomes[outcome] += 1
            path.unlink()
    scanner.close()
    print(f"{options.count} files: {dict(outcomes)}; the slowest took {slowest:.1f} s")
    sys.exit(not outcomes.keys() <= {"inventory", "message", "reader crashed, message"})


def damaged(content: bytes, chance: random.Random, number: int) -> bytes:
    if number % 10 == 0:
        return chance.randbytes(chance.randrange(4096))
    if number % 10 < 6 and content.startswith(b"PK"):
        return with_a_damaged_member(content, chance)
    return mutated(content, chance)


def with_a_damaged_member(content: bytes, chance: random.Random) -> bytes:
    """The archive with valid checksums, as someone would write it who means harm."""
    whole = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(whole, "w") as target:
        members = [name for name in source.namelist() if source.getinfo(name).file_size]
        chosen = chance.choice(members)
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, mutated(data, chance) if name == chosen else data)
    return whole.getvalue()


def samples() -> dict[str, bytes]:
    """One file of each kind, by a name that ends as such files do."""
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 5)).eval()
    example = torch.zeros(1, 3, 8, 8)
    exported = torch.export.export(model, (example,))
    return {
        "traced.pt": written(lambda file: torch.jit.save(torch.jit.trace(model, example), file)),
        "scripted.pt": written(lambda file: torch.jit.save(torch.jit.script(model), file)),
        "exported.pt2": written(lambda file: torch.export.save(exported, file)),
        "module.pt": written(lambda file: torch.save(model, file)),
        "old.pth": written(lambda file: torch.save(model, file, _use_new_zipfile_serialization=False)),
        "weights.bin": written(lambda file: torch.save(model.state_dict(), file)),
        "weights.safetensors": safetensors(model),
    }


def written(write: Callable[[io.BytesIO], None]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def safetensors(model: nn.Module) -> bytes:
    """The format by hand: the length of a JSON header, the header, the bytes of the tensors."""
    header, data = {}, b""
    for name, tensor in model.state_dict().items():
        held = tensor.float().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(held)]}
        data += held
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


class Scanner:
    """Keeps one worker for many files, and starts another where a file took it along."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self._worker = Worker().__enter__()

    def outcome(self, path: Path, trust: bool) -> str:
        try:
            reference = parse_reference(str(path), (), trust)
            scan = Scan(reference, (parse_input_shape("1,3,8,8"),), self.release)
            self._worker.scan(scan, lambda stage: None)
        except (LoadError, ModelError) as error:
            return "message" if error.message and error.hint else f"no hint: {error.message}"
        except OpscanError as error:
            if "The process that runs the model" in error.message:
                self.close()
                self._worker = Worker().__enter__()
                return "reader crashed, message"
            return f"{path.suffix}: {error.message}"
        return "inventory"

    def close(self) -> None:
        self._worker.__exit__(None, None, None)


if __name__ == "__main__":
    main()
