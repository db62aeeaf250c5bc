#!/usr/bin/env python3
"""Observe what torch's ONNX exporters make of each ATen overload.

    python benchmarks/export_onnx.py --output FILE.csv.gz [--only REGEX] [--exporter torchscript|dynamo]

Runs where torch, onnx, onnxscript and expecttest are installed; no NPU and no CANN. Every operator of torch.testing's
database is exported by both exporters at the newest opset that ATC reads, as a module that makes one call with tensors
as its inputs. Its ONNX operators are attributed to an overload only where the call dispatches to that overload alone.
Overloads that are never alone are called by themselves (``torch.ops``); such a refusal by the TorchScript exporter says
nothing, for it goes by the functions that people call, and is left out.

One row: overload, exporter, opset of the exported model, dtypes of the tensor inputs without repeats, outcome, ONNX
operators with the dtypes of their inputs, times seen. ``refused`` is followed by the class of what was raised.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

#: Seconds after which a child that makes no progress is stopped, and its case is left out.
PATIENCE = 120


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--only", default="", help="regular expression: only operators whose name it finds")
    parser.add_argument("--exporter", choices=["torchscript", "dynamo"], action="append")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    exporters = tuple(options.exporter or ("torchscript", "dynamo"))
    if options.child is not None:
        from exporting.sweep import sweep

        sweep(options.output, options.child, options.only, exporters)
        return
    log = Path(tempfile.mkstemp(suffix=".jsonl")[1])
    _supervise(log, options.only, exporters)
    rows = Counter(tuple(record["row"]) for record in _records(log) if "row" in record)
    _write([[*row, str(seen)] for row, seen in sorted(rows.items())], options.output)
    log.unlink()
    print(len(rows), "rows,", len({row[0] for row in rows}), "overloads")


def _supervise(log: Path, only: str, exporters: tuple[str, ...]) -> None:
    """Children work through the operators; one that dies or hangs is followed by one that starts after its operator."""
    start, chosen = 0, [word for exporter in exporters for word in ("--exporter", exporter)]
    while True:
        command = [sys.executable, __file__, "--output", str(log), "--only", only, "--child", str(start), *chosen]
        child = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        size = -1
        while child.poll() is None:
            try:
                child.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                if log.stat().st_size == size:
                    child.kill()
                size = log.stat().st_size
        if child.returncode == 0:
            return
        begun = [record["begin"] for record in _records(log) if "begin" in record]
        print("left out after", begun[-1:], file=sys.stderr)
        start = (begun[-1] if begun else start) + 1


def _records(log: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line.endswith("}")]


def _write(rows: list[list[str]], path: Path) -> None:
    """Gzip CSV whose bytes depend on the rows only."""
    import csv
    import gzip
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["overload", "exporter", "opset", "dtypes", "outcome", "onnx_ops", "seen"])
    writer.writerows(rows)
    draft = path.with_name(path.name + ".draft")
    draft.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))
    os.replace(draft, path)


if __name__ == "__main__":
    main()
