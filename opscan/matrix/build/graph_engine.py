"""Graph-engine operators of one SoC at one CANN release: AI Core and AI CPU kernels with the dtypes they take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from msgspec.structs import replace

from opscan.matrix.build.tables import CANN_RELEASES, INSTALLED, read_table
from opscan.matrix.files import GeKernel, GeOp, GeParameter
from opscan.matrix.local_engine import LOCAL

#: The names under which graph-engine tables list a SoC, where they differ.
_NAMES = {"ascend950pr": ("ascend950", "ascend910_95"), "ascend950dt": ("ascend950", "ascend910_95")}

#: SoCs whose operators left the public repositories after the installed release: what later releases hold is unknown.
_CLOSED = frozenset({"ascend310b", "ascend310p", "ascend910"})

_ANY = "any(aicpu)"

_ENGINES: dict[str, Literal["ai_core", "ai_cpu", "host_cpu"]] = {
    "AICore": "ai_core",
    "AICPU": "ai_cpu",
    "AICPU_TF": "ai_cpu",
    "DNN_VM_AICPU": "ai_cpu",
    "HOSTCPU": "host_cpu",
}

_SPELLINGS = {"double": "float64", "float_16": "float16"}

#: How a raw table of the installed release knows dtypes: from an implementation; as no more than an upper bound.
_IMPLEMENTATION = frozenset({"implementation", "shapes"})
_BOUNDS = frozenset({"prototype", "shapes"})

#: Operator → release → kernels of one engine there.
Kernels = dict[str, dict[str, tuple[GeKernel, ...]]]


@dataclass(frozen=True, slots=True)
class GraphEngine:
    """The operators of one SoC over all releases.

    ``everywhere``: operators with an AI Core kernel on any SoC at any release; ``installed``: at the installed one.
    ``listed``: those of the installed CANN on this SoC, exhaustive; None where it does not know the SoC.
    """

    soc: str
    core: Kernels
    cpu: Kernels
    everywhere: frozenset[str]
    installed: frozenset[str]
    listed: frozenset[str] | None

    def ops(self, release: str) -> dict[str, GeOp]:
        """Operator → its kernels; what ``release`` leaves out is taken from the newest earlier one, and marked.

        An operator is absent only by an exhaustive list, and where other SoCs of the same release have it: one that no
        SoC has may be rewritten into others. The AI CPU alone is an answer only where it is sure that there
        is no AI Core kernel.
        """
        found = {}
        for name in sorted({*self.core, *self.cpu, *self.everywhere}):
            own = _at(self.core.get(name, {}), release, borrow=self.soc not in _CLOSED)
            slow = _at(self.cpu.get(name, {}), release, borrow=True)
            if own:
                found[name] = GeOp((*own, *slow))
            elif release == INSTALLED and self.listed is not None and name not in self.listed:
                if slow or (name in self.installed and name not in LOCAL):
                    found[name] = GeOp(slow, absent=not slow, source=_LIST.format(soc=self.soc))
            elif slow and self._has_no_core_kernel(name):
                found[name] = GeOp(slow)
        return found

    def _has_no_core_kernel(self, name: str) -> bool:
        """Nowhere; or an exhaustive list of the SoC lacks it, and no release since has brought one."""
        if name not in self.everywhere:
            return True
        return self.listed is not None and name not in self.listed and name not in self.core and self.soc not in _CLOSED


def graph_engine(root: Path, soc: str) -> GraphEngine:
    """What the raw tables hold of one SoC."""
    table = read_table(root, "ge_ops_by_soc")
    own = table[table["soc"].isin(_NAMES.get(soc, (soc,)))]
    listed = frozenset(own[own["cann_release"] == INSTALLED]["ge_op"])
    core = table[table["engine"] == "AICore"]
    everywhere = frozenset(core["ge_op"])
    installed = frozenset(core[core["cann_release"] == INSTALLED]["ge_op"])
    cpu = read_kernels(_filled(table[table["soc"] == _ANY], root, _ANY))
    return GraphEngine(soc, read_kernels(_filled(own, root, soc)), cpu, everywhere, installed, listed or None)


_LIST = "the AI Core op-info of an installed CANN 8.1.RC1 for {soc}"


def _at(by_release: dict[str, tuple[GeKernel, ...]], release: str, borrow: bool) -> tuple[GeKernel, ...]:
    """The kernels at a release; those of the newest earlier one beside them where its own are none or experimental."""
    own = by_release.get(release, ())
    if any(not kernel.experimental for kernel in own) or not borrow:
        return own
    for earlier in reversed(CANN_RELEASES[: CANN_RELEASES.index(release)]):
        kernels = by_release.get(earlier, ())
        if kernels and not (own and all(kernel.experimental for kernel in kernels)):
            return (*own, *(replace(kernel, borrowed=earlier) for kernel in kernels))
    return own


def _filled(table: pd.DataFrame, root: Path, soc: str) -> pd.DataFrame:
    """Op-info that leaves dtypes open ("?"), with what kernels, their implementation or the prototype say instead.

    An implementation comes after precompiled kernels and before the prototype. One that takes further dtypes for some
    shapes has two rows: what it takes in every case, and all that it may take.
    """
    better = _filling(root, f"ge_kernels_{INSTALLED}", soc)
    for key, stated in _filling(root, f"ge_implementations_{INSTALLED}", soc).items():
        if all(known["how"] == "prototype" for known in better.get(key, ())):
            better[key] = stated
    rows = []
    for row in table.to_dict("records"):
        found = better.get((row["ge_op"], row["engine"]), []) if row["cann_release"] == INSTALLED else []
        rows += [{**row, **more} for more in found] or [row]
    return pd.DataFrame(rows, columns=[*table.columns, "how"])


def _filling(root: Path, name: str, soc: str) -> dict[tuple[str, str], list[dict[Hashable, Any]]]:
    """(operator, engine) → what a raw table says of it on a SoC, with its source where that is an implementation."""
    if not (root / "sources" / f"{name}.csv.gz").is_file():
        return {}
    table = read_table(root, name)
    found: dict[tuple[str, str], list[dict[Hashable, Any]]] = defaultdict(list)
    for row in table[table["soc"] == soc].to_dict("records"):
        kept = {"dtypes", "how"} | ({"repo", "source", "commit"} if row["how"] in _IMPLEMENTATION else set())
        found[row["ge_op"], row["engine"]].append({k: v for k, v in row.items() if k in kept})
    return found


def read_kernels(table: pd.DataFrame) -> Kernels:
    """Rows of ``ge_ops_by_soc`` as kernels."""
    found: dict[str, dict[str, list[GeKernel]]] = defaultdict(lambda: defaultdict(list))
    for row in table.to_dict("records"):
        found[row["ge_op"]][row["cann_release"]].append(_kernel(row))
    return {op: {r: _settled(kernels) for r, kernels in by.items()} for op, by in found.items()}


def _settled(kernels: list[GeKernel]) -> tuple[GeKernel, ...]:
    """Without experimental definitions where there is another one."""
    plain = [k for k in kernels if not k.experimental]
    return tuple(dict.fromkeys(plain or kernels))


def _kernel(row: dict[Hashable, Any]) -> GeKernel:
    bound = row.get("how") in _BOUNDS
    source = f"{row['repo']} {row['source']} @{row['commit'][:12]}"
    return GeKernel(_ENGINES[row["engine"]], _parameters(row["dtypes"], bound), row["experimental"] == "1", "", source)


def _parameters(text: str, bound: bool) -> tuple[GeParameter, ...]:
    """``in x=float16|float32:opt;out y=float16`` in order; lists of a parameter that is repeated are united.

    What begins with ``?`` or follows another parameter is no list.
    """
    found: dict[tuple[str, str], GeParameter] = {}
    for part in filter(None, text.split(";")):
        declared, _, listed = part.partition("=")
        io, _, name = declared.partition(" ")
        dtypes, _, kind = listed.partition(":")
        words = [w for w in dtypes.split("|") if w]
        known = {_SPELLINGS.get(w, w) for w in words} if all(w[0] != "?" and w != "follow" for w in words) else set()
        before = found.get((io, name))
        if before is not None:
            known = known | set(before.dtypes) if known and before.dtypes else set()
        found[io, name] = GeParameter(
            name, "out" if io == "out" else "in", tuple(sorted(known)), kind == "opt", bound and bool(known)
        )
    return tuple(found.values())
