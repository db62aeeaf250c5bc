#!/usr/bin/env python3
"""Observe which kernels the real torch_npu launches, by operator and dtypes, on a simulated CANN runtime.

    python benchmarks/observe.py --runtime DIR --output FILE.csv.gz [--soc Ascend910B3]
                                 [--only models|operators] [--cases REGEX]

Runs where torch, torch_npu and expecttest are installed; ``--runtime`` is a folder of stub libraries that log what
torch_npu asks of CANN. Every case runs in a child process, because zeros as results can crash a kernel's host code. A
dispatch mode marks each operator call in the runtime's log; what is logged up to the call's end is its own.

One row: phase, overload, dtypes of its tensor arguments (in the order of their leaves), dtypes of its tensor results,
outcome, kernels with their arguments, times seen. The letters of the arguments are explained in
``support_matrix/sources/README.md``.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", required=True, help="folder of the simulated runtime's libraries")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--soc", default="Ascend910B3", help="what the runtime answers when asked for the SoC")
    parser.add_argument("--only", choices=["models", "operators"], help="one of the two lists of cases")
    parser.add_argument("--cases", default="", help="regular expression: only cases whose name it finds")
    options = parser.parse_args()
    if "SIM_LOG" not in os.environ:
        _restart(options.runtime, options.soc)

    from observing import calls, custom, log, mixed, models, operators

    cases = [*models.cases(), *calls.cases(), *custom.cases(), *mixed.cases()] if options.only != "operators" else []
    cases += operators.cases() if options.only != "models" else []
    cases = [case for case in cases if re.search(options.cases, case.name)]
    path = Path(os.environ["SIM_LOG"])
    log.run(cases, path)
    rows = log.read(path)
    _write(rows, options.output)
    path.unlink()
    print(len(cases), "cases,", len(rows), "rows,", len({row[1] for row in rows}), "overloads")
    sys.stdout.flush()
    os._exit(0)  # torch_npu's own exit handlers wait for a device


def _restart(runtime: str, soc: str) -> None:
    """The dynamic linker reads its path once, at the start of a process."""
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": runtime,
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        "TASK_QUEUE_ENABLE": "0",  # else a second thread launches kernels after the mark
        "SIM_SOC": soc,
        "SIM_LOG": tempfile.mktemp(),
        "PYTHONWARNINGS": "ignore",
        "OMP_NUM_THREADS": "1",  # threads do not survive the fork of each case
    }
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)


def _write(rows: list[list[str]], path: Path) -> None:
    """Gzip CSV whose bytes depend on the rows only."""
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["phase", "overload", "tensor_dtypes", "results", "outcome", "kernels", "seen"])
    writer.writerows(rows)
    draft = path.with_name(path.name + ".draft")
    with draft.open("wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0, compresslevel=9) as file:
        file.write(text.getvalue().encode())
    os.replace(draft, path)


if __name__ == "__main__":
    main()
