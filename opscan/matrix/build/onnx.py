"""``onnx/<cann release>.json``: which ONNX operators ATC's parser accepts, at which opsets, and what they become.

The plugins of the parser are registered for an exact ``domain::opset::operator``, so an opset that is not registered is
refused. The tables hold what the public operator repositories register. Three kinds of gap are filled, each marked with
the release that stands in:

* 8.1.RC1 has no public plugins: what 8.5.0 registers was there, as older documents (149 operators) confirm.
* 9.2.0-beta.1 lacks a repository that the releases before and after it have: absence in a beta is inherited.
* Some plugins became public with 9.2.0-beta.1 only. Those that older documents list were there all the time. So was
  LayerNormalization, which is younger than those documents.

The public plugins are all there are: at master they read each of the 149 operators that documents list. So what none of
them reads has no parser; what only later releases read is listed as ``later``.

A plugin that makes a graph (``PartitionedCall``) tells its graph-engine operators in ``onnx_subgraphs``.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from opscan.matrix.build.tables import read_table
from opscan.matrix.build.writing import render
from opscan.matrix.files import SCHEMA, OnnxFile, OnnxOp, Source

#: Releases with a file, from the oldest to the newest.
TARGETS = ("8.1.RC1", "8.5.0", "9.0.0", "9.1.0", "9.2.0-beta.1")

#: Releases with a table, from the oldest to the newest.
_TABLES = ("8.5.0", "9.0.0", "9.1.0", "9.2.0-beta.1", "master")

#: Published late, and not in the older documents: ONNX itself has it since opset 17 only.
_LATE = frozenset({"ai.onnx::LayerNormalization"})

#: Dtypes where the documents name none. Source: implementation of Conv2D in an installed CANN 8.1.RC1
#: (``opp/built-in/op_impl/ai_core/tbe/impl/conv2d.py`` @551ed27c2928): float32 is computed as float16.
_UNDOCUMENTED = {"ai.onnx::Conv": ("float16", "float32")}

#: What the table calls an operator that a plugin turns into a graph.
_SUBGRAPH = "PartitionedCall"

_SOURCES = (
    Source("onnx_ops.csv.gz"),
    Source("onnx_subgraphs.csv.gz", "graph-engine operators of plugins that make a graph"),
    Source("onnx_docs_2.0.4.csv.gz", "what existed before the plugins were public"),
)

#: Release → operator → entry, as the tables of that release have it.
Entries = dict[str, dict[str, OnnxOp]]


#: Operator → dtypes that the older documents list for it.
Documented = dict[str, tuple[str, ...]]


class _Gathered(NamedTuple):
    """What the rows of one operator at one release add up to."""

    opsets: set[int]
    ge: set[str]
    subgraph: list[bool]
    sources: list[str]


def build(root: Path) -> dict[str, bytes]:
    older = _documented(root)
    entries = _entries(root, older)
    names = sorted({name for release in entries.values() for name in release})
    files = {}
    for target in TARGETS:
        found = {name: entry for name in names if (entry := _entry(name, target, entries, older)) is not None}
        later = tuple(name for name in names if name not in found)
        files[f"onnx/{target}.json"] = render(OnnxFile(SCHEMA, target, _SOURCES, found, later), ("ops",))
    return files


def _entry(name: str, target: str, entries: Entries, older: Documented) -> OnnxOp | None:
    """The entry of an operator at ``target``: its own, else of the newest release before, else of the next after it."""
    if name in entries.get(target, {}):
        return entries[target][name]
    at = _TABLES.index(target) if target in _TABLES else 0
    before = [release for release in _TABLES[:at] if name in entries[release]]
    after = [release for release in _TABLES[at:] if name in entries[release]]
    if before:
        return _borrowed(entries, before[-1], name)
    if after and (name in older or name in _LATE or (target not in _TABLES and after[0] == _TABLES[0])):
        return _borrowed(entries, after[0], name)
    return None


def _borrowed(entries: Entries, release: str, name: str) -> OnnxOp:
    return replace(entries[release][name], borrowed=release)


def _entries(root: Path, older: Documented) -> Entries:
    """Rows of one operator at one release are variants or ranges of opsets: united."""
    parts = _subgraphs(root)
    gathered: dict[tuple[str, str], _Gathered] = {}
    for row in read_table(root, "onnx_ops").to_dict("records"):
        release, name = row["cann_release"], f"{row['domain']}::{row['op']}"
        one = gathered.setdefault((release, name), _Gathered(set(), set(), [], []))
        one.opsets.update(map(int, row["opsets"].split()))
        one.ge.update(parts.get((release, name), frozenset()))
        if row["ge_op"] != _SUBGRAPH:
            one.ge.add(row["ge_op"])
        one.subgraph.append(row["ge_op"] == _SUBGRAPH)
        one.sources.append(f"{row['repo']} {row['source']} @{row['commit'][:12]}")
    entries: Entries = {release: {} for release in _TABLES}
    for (release, name), one in gathered.items():
        opsets, ge = tuple(sorted(one.opsets)), tuple(sorted(one.ge))
        entries[release][name] = OnnxOp(
            opsets, ge, any(one.subgraph), source=min(one.sources), documented=older.get(name, ())
        )
    return entries


def _subgraphs(root: Path) -> dict[tuple[str, str], frozenset[str]]:
    """(release, operator) → the graph-engine operators that its plugin may put into the graph."""
    rows = read_table(root, "onnx_subgraphs").to_dict("records")
    return {(row["cann_release"], f"{row['domain']}::{row['op']}"): frozenset(row["ge_ops"].split()) for row in rows}


def _documented(root: Path) -> Documented:
    """Operators of the older documents, which write some names with other capitals, in the spelling of the plugins."""
    table = read_table(root, "onnx_ops")
    plugins = {op.lower(): f"ai.onnx::{op}" for op in table[table["domain"] == "ai.onnx"]["op"]}
    found: Documented = {}
    for row in read_table(root, "onnx_docs_2.0.4").to_dict("records"):
        dtypes = tuple(sorted({"float64" if d == "double" else d for d in row["input_dtypes"].split()}))
        if (name := plugins.get(row["op"].lower())) is not None:
            found[name] = dtypes or _UNDOCUMENTED.get(name, ())
    return found
