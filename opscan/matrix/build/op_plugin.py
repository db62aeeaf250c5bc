"""What op-plugin's sources say of torch_npu's kernels, for the op-plugin release that a wheel is built from."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from opscan.matrix.build.observed import observed_tables
from opscan.matrix.build.tables import qualified, read_table
from opscan.matrix.build.wheel import RawWheel
from opscan.matrix.verdict import MOVES


class Fit(NamedTuple):
    """The op-plugin release of a wheel, and in how many functions their lists differ. ``stated``: in the versions."""

    release: str
    differing: int
    stated: bool


class OpPlugin:
    """The raw tables ``aten_to_aclnn``, ``opplugin_hidden_cpu`` and ``versions``."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._reachable = read_table(root, "aten_to_aclnn")
        self._hidden = read_table(root, "opplugin_hidden_cpu")
        versions = read_table(root, "versions")
        self._stated = dict(zip(versions["torch_npu_wheel"], versions["torch_npu_release"], strict=True))

    @cached_property
    def releases(self) -> tuple[str, ...]:
        return tuple(sorted(set(self._reachable["op_plugin_release"])))

    def fit(self, wheel: RawWheel) -> Fit:
        """The release whose list of functions, for the wheel's torch, differs least from the wheel's own.

        Wherever the table of versions states a release that is read, this is it, with at most 4 functions differing.
        """
        stated = self._stated.get(wheel.release, "")
        own = {name: set(f.impl) - {"dvm"} for s in wheel.functions.values() for name, f in s.items() if f.impl}
        found = []
        for release in self.releases:
            listed = self._implementations(release, wheel.metadata.torch)
            differing = sum(own.get(name) != listed.get(name) for name in own.keys() | listed.keys())
            found.append((release != stated, differing, release))
        _, differing, release = min(found)
        return Fit(release, differing, release == stated)

    def _implementations(self, release: str, torch: str) -> dict[str, set[str]]:
        line = "v" + ".".join(torch.split(".")[:2])
        table = self._reachable[self._reachable["op_plugin_release"] == release]
        found = {}
        for op, acl_op, op_api in zip(
            table["aten_op"], table["acl_op_torch_versions"], table["op_api_torch_versions"], strict=True
        ):
            both = {name for name, versions in (("acl_op", acl_op), ("op_api", op_api)) if line in versions.split()}
            if both:
                found[op] = both
        return found

    def aclnn(self, release: str) -> dict[str, tuple[str, ...]]:
        """Operator without library → aclnn kernels reachable from its implementation."""
        table = self._reachable[self._reachable["op_plugin_release"] == release]
        table = table[table["section"] != "unsupported"]
        names = zip(table["aten_op"], table["aclnn"], strict=True)
        return {op: tuple(sorted(set(filter(None, kernels.split("|"))))) for op, kernels in names if kernels}

    def hidden_cpu(self, release: str) -> frozenset[tuple[str, str]]:
        """(implementation, function) of kernels whose source calls the same operator on the CPU, unconditionally.

        A call of another operator (a size read back, a constant built) is not the computation.
        """
        table = self._hidden[self._hidden["op_plugin_release"] == release]
        found = set()
        for row in table[table["unconditional"] == "1"].to_dict("records"):
            call = re.sub(r"_cpu$|_outf?$|_out_cpu$", "", row["cpu_calls"].rpartition("::")[2])
            if call == re.sub(r"_out$", "", row["function"]):
                found.add((row["ns"], row["function"]))
        return frozenset(found)

    @cached_property
    def observed_to_compute(self) -> frozenset[str]:
        """Operators that were observed to launch a computing kernel: the heuristic of the source is wrong there."""
        launched: dict[str, set[str]] = defaultdict(set)
        for observed in observed_tables(self._root):
            if observed.soc.startswith("Ascend910B") and not observed.without:
                table = read_table(self._root, observed.name)
                for overload, kernels in zip(table["overload"], table["kernels"], strict=True):
                    launched[qualified(overload)] |= set(re.findall(r"aclnn\w+", kernels))
        return frozenset(name for name, kernels in launched.items() if kernels - MOVES)
