#!/usr/bin/env python3
"""Observe which kernels the real torch_npu launches, by operator and dtypes, on a simulated CANN runtime.

    python benchmarks/observe.py --output FILE.csv.gz [--soc Ascend910B3] [--cann 8.5.0]
                                 [--only models|operators|schemas] [--cases REGEX]
                                 [--merge FILE.csv.gz [--forget REGEX]]
                                 [--lacking FILE.txt --reference FILE.csv.gz]

Runs where opscan with its extra ``rehearse``, torch, torch_npu and expecttest are installed; the simulated runtime is
built for that torch_npu. Every case runs in a child process, because zeros as results can crash a kernel's host code. A
dispatch mode marks each operator call in the runtime's log; what is logged up to the call's end is its own.

What depends on uninitialised memory differs from run to run: ``--merge`` unites the rows with those of an earlier run,
except those in whose outcome or kernels ``--forget`` finds something, as where an earlier runtime answered wrongly.
Where a runtime lacks APIs, the adapter launches others: the runtime is built without those that ``--lacking`` names,
one a line, and only what differs from ``--reference``, the table of a complete runtime, is kept
(``observed_coverage.py --lacking`` lists them).

One row: phase, overload, dtypes of its tensor arguments (in the order of their leaves), dtypes of its tensor results,
outcome, kernels with their arguments, times seen. The letters of the arguments are explained in
``support_matrix/sources/README.md``.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from opscan.probing.simulator import build

#: Names the file that receives every event of the runtime.
_LOG = "OPSCAN_SIMULATED_LOG"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--soc", default="Ascend910B3", help="what the runtime answers when asked for the SoC")
    parser.add_argument("--cann", default="8.5.0", help="what it answers when asked for the CANN release")
    parser.add_argument("--only", choices=["models", "operators", "schemas"], help="one part of the cases")
    parser.add_argument("--cases", default="", help="regular expression: only cases whose name it finds")
    parser.add_argument("--merge", type=Path, help="a table of an earlier run to unite with")
    parser.add_argument("--forget", help="regular expression: rows of --merge that are not taken over")
    parser.add_argument("--lacking", type=Path, help="the APIs that the runtime shall lack")
    parser.add_argument("--reference", type=Path, help="the table of a complete runtime")
    options = parser.parse_args()
    lacking = frozenset(options.lacking.read_text(encoding="utf-8").split()) if options.lacking else frozenset()
    if _LOG not in os.environ:
        _restart(options.soc, options.cann, lacking)

    from observing import calls, custom, given, log, mixed, models, operators, schemas, tables, typed

    lists = {"models": (models, calls, custom, given, mixed, typed), "operators": (operators,), "schemas": ()}
    modules = lists[options.only] if options.only else (*lists["models"], *lists["operators"])
    cases = [case for module in modules for case in module.cases() if re.search(options.cases, case.name)]
    earlier = tables.read(options.merge) if options.merge else []
    if options.forget:
        earlier = tables.without(earlier, options.forget)
    path = Path(os.environ[_LOG])
    path.touch()
    log.run(cases, path)
    if options.only in (None, "schemas"):
        schemas.run(path, options.cases, {row[1] for row in earlier if row[4] == "ok"})
    rows = log.read(path)
    if lacking:
        rows = tables.launching(rows, tables.read(options.reference), lacking)
    if options.merge:
        rows = tables.united(rows, earlier)
    tables.write(rows, options.output)
    path.unlink()
    print(len(cases), "cases,", len(rows), "rows,", len({row[1] for row in rows}), "overloads")
    sys.stdout.flush()
    os._exit(0)  # torch_npu's own exit handlers wait for a device


def _restart(soc: str, cann: str, lacking: frozenset[str]) -> None:
    """The dynamic linker reads its path once, at the start of a process."""
    spec = importlib.util.find_spec("torch_npu")
    if spec is None or spec.origin is None:
        raise SystemExit("torch_npu is not installed here")
    runtime = build.runtime_for(Path(spec.origin).parent, lacking=lacking)
    environment = {
        **os.environ,
        **build.environment_variables(runtime, soc, cann),
        _LOG: tempfile.mktemp(),
        "PYTHONWARNINGS": "ignore",
        "OMP_NUM_THREADS": "1",  # threads do not survive the fork of each case
    }
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)


if __name__ == "__main__":
    main()
