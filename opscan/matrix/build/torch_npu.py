"""``torch_npu/<release>.json``: what a release registers, and which kernels are reachable from its implementation."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pandas as pd

from opscan.matrix.build.tables import OP_PLUGIN, qualified, read_dispatch, read_table
from opscan.matrix.build.writing import render
from opscan.matrix.files import SCHEMA, OpEntry, RegistrationsFile, Source
from opscan.matrix.verdict import MOVES


def build(root: Path) -> dict[str, bytes]:
    reachable, hidden = read_table(root, "aten_to_aclnn"), read_table(root, "opplugin_hidden_cpu")
    computes = _observed_to_compute(root)
    return {
        f"torch_npu/{release}.json": render(_registrations(root, release, reachable, hidden, computes), ("ops",))
        for release in OP_PLUGIN
    }


def _registrations(
    root: Path, release: str, reachable: pd.DataFrame, hidden: pd.DataFrame, computes: frozenset[str]
) -> RegistrationsFile:
    plugin = OP_PLUGIN[release]
    implementations = _implementations(reachable[reachable["op_plugin_release"] == plugin], release)
    on_cpu = _hidden(hidden[hidden["op_plugin_release"] == plugin])
    ops = {}
    for name, keys in read_dispatch(root, release).items():
        namespace, _, bare = name.partition("::")
        impl, aclnn = implementations.get(bare, ((), ())) if namespace in ("aten", "npu") else ((), ())
        chosen = "op_api" if "op_api" in impl else "acl_op"
        inside = "PrivateUse1" in keys and (chosen, _function(name)) in on_cpu and name not in computes
        ops[name] = OpEntry(tuple(keys), impl, aclnn, inside)
    sources = (
        Source(f"dispatch/{release}.json.gz"),
        Source("aten_to_aclnn.csv.gz"),
        Source("opplugin_hidden_cpu.csv.gz"),
    )
    return RegistrationsFile(SCHEMA, release, ".".join(release.split(".")[:3]), plugin, sources, ops)


def _implementations(table: pd.DataFrame, release: str) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Operator without namespace → (implementations, reachable aclnn kernels) for the torch line of ``release``."""
    line = "v" + ".".join(release.split(".")[:2])
    found = {}
    for row in table[table["section"] != "unsupported"].to_dict("records"):
        impl = tuple(ns for ns in ("acl_op", "op_api") if line in row[f"{ns}_torch_versions"].split())
        kernels = tuple(sorted(set(filter(None, row["aclnn"].split("|")))))
        if impl or kernels:
            found[row["aten_op"]] = impl, kernels
    return found


def _hidden(table: pd.DataFrame) -> frozenset[tuple[str, str]]:
    """(implementation namespace, function) of kernels whose source calls the same operator on the CPU, unconditionally.

    A call of another operator (a size read back, a constant built) is not the computation.
    """
    found = set()
    for row in table[table["unconditional"] == "1"].to_dict("records"):
        call = re.sub(r"_cpu$|_outf?$|_out_cpu$", "", row["cpu_calls"].rpartition("::")[2])
        if call == re.sub(r"_out$", "", row["function"]):
            found.add((row["ns"], row["function"]))
    return frozenset(found)


def _function(name: str) -> str:
    """The C++ function of an overload: out variants of ``aten::x`` are ``x_out``."""
    base, _, variant = name.partition("::")[2].partition(".")
    return f"{base}_out" if variant == "out" or variant.endswith("_out") else base


def _observed_to_compute(root: Path) -> frozenset[str]:
    """Operators that were observed to launch a computing kernel: the heuristic of the source table is wrong there."""
    table = read_table(root, "observed_kernels_2.13.0_Ascend910B3")
    launched: dict[str, set[str]] = defaultdict(set)
    for overload, kernels in zip(table["overload"], table["kernels"], strict=True):
        launched[qualified(overload)] |= set(re.findall(r"aclnn\w+", kernels))
    return frozenset(name for name, kernels in launched.items() if kernels - MOVES)
