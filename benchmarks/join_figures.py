#!/usr/bin/env python3
"""How many observed entries the matrix judges supported, unsupported, mixed or unknown, by dtype.

    python benchmarks/join_figures.py [--cann 9.1.0] [--soc ascend910b] [--list float32]

An entry is one (phase, overload, dtype of the first tensor) of the operator-database sweep, all its rows together;
``mixed`` are entries whose rows are judged differently. ``--list`` names what is not supported at one dtype.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from opscan.matrix import Matrix
from opscan.matrix.build.tables import qualified, read_table
from opscan.matrix.claims import KernelClaim
from opscan.matrix.data import support_matrix_dir
from opscan.target import Target

Entry = tuple[str, str, str]

TABLE = "observed_kernels_2.13.0_Ascend910B3"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cann", default="9.1.0")
    parser.add_argument("--soc", default="ascend910b")
    parser.add_argument("--list", metavar="DTYPE")
    options = parser.parse_args()
    matrix = Matrix.load(Target("2.13.0", options.cann, options.soc))
    entries = _entries(matrix)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for (_, _, dtype), claims in entries.items():
        counts[dtype or "-"][_outcome(claims)] += 1
    columns = ("supported", "unsupported", "mixed", "unknown")
    print(f"{'dtype':12}", *(f"{column:>12}" for column in columns))
    for dtype in sorted(counts):
        print(f"{dtype:12}", *(f"{counts[dtype][column]:12}" for column in columns))
    for (phase, name, dtype), claims in sorted(entries.items()):
        if dtype == options.list and _outcome(claims) != "supported":
            print(
                phase, name, _outcome(claims), "; ".join(sorted({_why(c) for c in claims if c.status != "supported"}))
            )


def _entries(matrix: Matrix) -> dict[Entry, list[KernelClaim]]:
    """Rows that launched kernels only, as the entries of the sweep were counted before."""
    table = read_table(support_matrix_dir(), TABLE)
    found: dict[Entry, dict[str, KernelClaim]] = defaultdict(dict)
    for row in table[(table["outcome"] == "ok") & table["kernels"].str.contains("aclnn")].to_dict("records"):
        name, dtypes = qualified(row["overload"]), tuple(row["tensor_dtypes"].split())
        key = row["phase"], name, dtypes[0] if dtypes else ""
        found[key][row["tensor_dtypes"]] = matrix.kernels(name, dtypes)
    return {key: list(claims.values()) for key, claims in found.items()}


def _outcome(claims: list[KernelClaim]) -> str:
    statuses = {"mixed" if claim.code == "arguments" else claim.status for claim in claims}
    return statuses.pop() if len(statuses) == 1 else "mixed"


def _why(claim: KernelClaim) -> str:
    where = f"{claim.api}.{claim.parameter} {claim.dtype}".strip(" .")
    return f"{claim.code} {where} {claim.detail}".strip()


if __name__ == "__main__":
    main()
