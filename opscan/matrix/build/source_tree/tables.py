"""A source tree's rows as tables of the matrix: over the packaged tables, which answer for what the tree lacks."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from msgspec.structs import replace

from opscan.matrix.build.aclnn import Documentation, read_pages, read_signatures
from opscan.matrix.build.cann import SOCS, corrected, corrections_for, with_ai_cpu
from opscan.matrix.build.cann_home.headers import InstalledApis
from opscan.matrix.build.cann_home.packaged import corrected_apis, packaged_cann, packaged_onnx
from opscan.matrix.build.graph_engine import Kernels, read_kernels
from opscan.matrix.build.source_tree.definitions import ANY
from opscan.matrix.build.source_tree.rows import SourceRows
from opscan.matrix.build.tables import CANN_RELEASES, MASTER
from opscan.matrix.files import SCHEMA, Api, CannFile, GeKernel, GeOp, OnnxFile, OnnxOp, Parameter, Source

#: The names under which operator definitions list a SoC, where they differ.
_NAMES = {"ascend950pr": ("ascend950", "ascend910_95"), "ascend950dt": ("ascend950", "ascend910_95")}

_NOTHING = InstalledApis({}, frozenset())


def cann_files(rows: SourceRows, release: str, root: Path) -> list[CannFile]:
    """The table of every SoC that the tree names, with the reviewed corrections of ``root``."""
    label = release if release in CANN_RELEASES else MASTER
    aclnn, ge = _frame(rows.aclnn, label), _frame(rows.ge, label)
    signatures = read_signatures(_frame(rows.signatures, label))
    slow = read_kernels(ge[ge["soc"] == ANY]) if len(ge) else {}
    files = []
    for soc in SOCS:
        pages = read_pages(aclnn, soc, {}) if len(aclnn) else {}
        core = read_kernels(ge[ge["soc"].isin(_NAMES.get(soc, (soc,)))]) if len(ge) else {}
        if not pages and not core:
            continue
        packaged = packaged_cann(root, release, soc)
        own = Documentation(pages, signatures, frozenset()).apis(label)
        apis = _apis(own, packaged, release, root, soc)
        files.append(
            CannFile(SCHEMA, release, soc, _sources(rows, packaged), apis, _ge(core, slow, label, packaged, release))
        )
    return files


def _frame(rows: list[dict[str, str]], label: str) -> pd.DataFrame:
    return pd.DataFrame([{**row, "cann_release": label} for row in rows])


def _sources(rows: SourceRows, packaged: CannFile | None) -> tuple[Source, ...]:
    own = [Source(f"{name} @{commit[:12]}" if commit else name, "source tree") for name, commit in rows.trees]
    if packaged is not None:
        own.append(Source(f"cann/{packaged.release}/{packaged.soc}.json", "what the source tree lacks"))
    return tuple(own)


def _apis(own: dict[str, Api], packaged: CannFile | None, release: str, root: Path, soc: str) -> dict[str, Api]:
    """The packaged entries, and those of the tree in their place.

    What the AI CPU computes is in no page: that stays as packaged, as far as the page lists the dtypes.
    """
    found = corrected_apis(packaged, _NOTHING, release)
    corrections = corrections_for(root, release, soc)
    for name, api in own.items():
        before = found.get(name, Api(api.supported))
        told = replace(api, params={p: _told(parameter, before.params.get(p)) for p, parameter in api.params.items()})
        entry = with_ai_cpu(corrected(name, told, corrections), frozenset(before.ai_cpu))
        signatures = tuple(dict.fromkeys((*entry.signatures, *before.signatures)))
        found[name] = replace(
            entry,
            signatures=signatures,
            ai_core_casts=before.ai_core_casts,
            disputed=entry.disputed or ("" if entry.supported else before.disputed),
        )
    return dict(sorted(found.items()))


def _told(own: Parameter, before: Parameter | None) -> Parameter:
    """A parameter of a page; the packaged table answers where that has no list, and doubts a "no" as before."""
    if before is None:
        return own
    if not own.dtypes:
        return replace(own, dtypes=before.dtypes, borrowed=before.borrowed)
    return replace(own, disputed=tuple(d for d in before.disputed if d not in own.dtypes))


def _ge(core: Kernels, slow: Kernels, label: str, packaged: CannFile | None, release: str) -> dict[str, GeOp]:
    """The packaged operators; kernels of the tree replace those of the same engine."""
    found = dict(packaged.ge) if packaged else {}
    if packaged is not None and packaged.release != release:
        found = {name: _borrowed(op, packaged.release) for name, op in found.items()}
    for name in {*core, *slow}:
        fast, cpu = core.get(name, {}).get(label, ()), slow.get(name, {}).get(label, ())
        before = found.get(name)
        if not fast and before is None:
            continue  # An AI CPU kernel alone says nothing of an AI Core kernel that is not public.
        kept = [k for k in before.kernels if not _replaced(k, fast, cpu)] if before else []
        found[name] = GeOp(
            (*fast, *(k for k in kept if k.engine == "ai_core"), *cpu, *(k for k in kept if k.engine != "ai_core"))
        )
    return dict(sorted(found.items()))


def _replaced(kernel: GeKernel, fast: tuple[GeKernel, ...], cpu: tuple[GeKernel, ...]) -> bool:
    return bool(fast) if kernel.engine == "ai_core" else bool(cpu) and kernel.engine == "ai_cpu"


def _borrowed(op: GeOp, release: str) -> GeOp:
    return replace(op, kernels=tuple(replace(k, borrowed=k.borrowed or release) for k in op.kernels))


def onnx_table(rows: SourceRows, release: str, root: Path) -> OnnxFile:
    """The ONNX operators of the tree over the packaged ones. Rows of one operator are variants or ranges: united."""
    packaged = packaged_onnx(root, release)
    found = dict(packaged.ops) if packaged else {}
    if packaged is not None and packaged.release != release:
        found = {name: replace(op, borrowed=op.borrowed or packaged.release) for name, op in found.items()}
    own: dict[str, OnnxOp] = {}
    for row in rows.onnx:
        name, graph = f"{row['domain']}::{row['op']}", row["expands_to_subgraph"] == "1"
        old = own.get(name, OnnxOp((), source=f"{row['repo']} {row['source']} @{row['commit'][:12]}"))
        opsets = tuple(sorted({*old.opsets, *map(int, row["opsets"].split())}))
        ge = tuple(sorted({*old.ge, *(() if row["ge_op"] == "PartitionedCall" else (row["ge_op"],))}))
        own[name] = OnnxOp(opsets, ge, old.subgraph or graph, source=old.source)
    for name, op in own.items():
        known = found.get(name, OnnxOp(()))
        parts = known.ge if op.subgraph else ()  # the parts of a graph stand in no registration
        found[name] = replace(op, ge=tuple(sorted({*op.ge, *parts})), documented=known.documented)
    sources = [Source(f"{name} @{commit[:12]}" if commit else name, "source tree") for name, commit in rows.trees]
    if packaged is not None:
        sources.append(Source(f"onnx/{packaged.release}.json", "what the source tree lacks"))
    later = tuple(name for name in (packaged.later if packaged else ()) if name not in found)
    return OnnxFile(SCHEMA, release, tuple(sources), dict(sorted(found.items())), later)
