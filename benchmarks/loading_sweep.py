"""How many references of each kind lead to an inventory: models of torchvision and timm by name, configurations of
transformers as their classes make them by default.

    python benchmarks/loading_sweep.py [torchvision] [timm] [transformers] [--every 10] [--seconds 60]

Prints one line for each that does not, with the reason, then a table. Each runs in the virtual engine, in a process
that is shared until one outlasts its time.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

from opscan.errors import OpscanError
from opscan.loading.reference import parse_reference
from opscan.matrix.query import Matrix
from opscan.scan import release_for
from opscan.target import Target
from opscan.worker.host import Worker
from opscan.worker.protocol import Release, Scan

_LIST = {
    "torchvision": "from opscan.loading.torchvision_operators import ensure_importable; ensure_importable()\n"
    "from torchvision.models import list_models; print(*list_models(), sep='\\n')",
    "timm": "from opscan.loading.torchvision_operators import ensure_importable; ensure_importable()\n"
    "import timm; print(*timm.list_models(), sep='\\n')",
    "transformers": "from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES as names\n"
    "print(*names, sep='\\n')",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", default=list(_LIST))
    parser.add_argument("--every", type=int, default=1, help="take every n-th only")
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    release = release_for(Matrix.load(Target("2.13.0", "9.1.0", "ascend910b")))
    rows = []
    for kind in arguments.kinds:
        with tempfile.TemporaryDirectory() as folder:
            references = list(_references(kind, Path(folder)))[:: arguments.every]
            rows.append((kind, _sweep(references, release, arguments.seconds)))
    for kind, counts in rows:
        total = sum(counts.values())
        print(f"{kind}: {counts['whole'] + counts['part']} of {total} inventories ({counts['part']} in part)")


def _references(kind: str, folder: Path) -> Iterator[str]:
    listed = subprocess.run(
        [sys.executable, "-c", _LIST[kind]],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
    ).stdout.split()
    for name in listed:
        if kind == "transformers":
            (folder / name).mkdir()
            (folder / name / "config.json").write_text(json.dumps({"model_type": name}))
            yield f"hf:{folder / name}"
        else:
            yield f"{kind}:{name}"


def _sweep(references: list[str], release: Release, seconds: float) -> Counter[str]:
    counts: Counter[str] = Counter()
    worker: Worker | None = None
    for reference in references:
        if worker is None:
            worker = Worker().__enter__()
        began = time.monotonic()
        process = worker._process
        timer = Timer(seconds, process.kill if process else lambda: None)
        timer.start()
        try:
            scanned = worker.scan(Scan(parse_reference(reference), (), release), lambda stage: None)
            attempts = scanned.inventory.trace.attempts
            ended = next((a.reason for a in attempts if not a.ok), None)
            counts["part" if ended else "whole"] += 1
            if ended:
                print(f"part    {reference}: {ended}", flush=True)
        except OpscanError as error:
            counts["failed"] += 1
            took = time.monotonic() - began
            print(f"failed  {reference} ({took:.0f} s): {' '.join(error.message.split())[:300]}", flush=True)
            if "before it answered" in error.message:
                worker.__exit__(None, None, None)
                worker = None
        finally:
            timer.cancel()
    if worker is not None:
        with contextlib.suppress(Exception):
            worker.__exit__(None, None, None)
    return counts


if __name__ == "__main__":
    main()
