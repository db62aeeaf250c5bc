"""ONNX operators that the parser plugins of an installed toolkit register, read from their strings."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from opscan.matrix.build.cann_home.strings import printable
from opscan.matrix.build.cann_home.toolkit import Toolkit, read_text
from opscan.matrix.files import SCHEMA, OnnxFile, OnnxOp, Source

_PLUGINS = (
    "opp/built-in/framework/onnx/**/*.so",
    "opp/built-in/framework/onnx/**/*.json",
    "opp/vendors/*/framework/onnx/**/*.so",
    "opp/vendors/*/framework/onnx/**/*.json",
)

#: ``ai.onnx::11::Celu``: domain, opset, operator.
_REGISTERED = r"[A-Za-z_][\w.]*::\d+::\w+"


@dataclass(frozen=True, slots=True)
class Registered:
    """One operator's opsets, and the plugins that name it."""

    opsets: frozenset[int]
    plugins: frozenset[str]


def read_plugins(toolkit: Toolkit) -> dict[str, Registered]:
    """``domain::op`` → what the plugins register; empty where no plugin is installed."""
    opsets: dict[str, set[int]] = defaultdict(set)
    plugins: dict[str, set[str]] = defaultdict(set)
    for path in toolkit.files(*_PLUGINS):
        for text in _strings(toolkit, path):
            domain, opset, op = text.split("::")
            opsets[f"{domain}::{op}"].add(int(opset))
            plugins[f"{domain}::{op}"].add(toolkit.name(path))
    return {name: Registered(frozenset(opsets[name]), frozenset(plugins[name])) for name in sorted(opsets)}


def onnx_file(toolkit: Toolkit, registered: dict[str, Registered], packaged: OnnxFile | None) -> OnnxFile:
    """The table of the toolkit: its own opsets, and of the packaged table what strings cannot tell.

    Those are the graph-engine operators that an operator becomes, and operators whose string is not found: a compiler
    may leave a short one out of the data, so they are kept, as taken from the packaged release.
    """
    ops = {}
    for name, known in (packaged.ops if packaged else {}).items():
        ops[name] = OnnxOp(
            known.opsets,
            known.ge,
            known.subgraph,
            known.borrowed or (packaged.release if packaged else ""),
            known.source,
            known.documented,
        )
    for name, own in registered.items():
        before = ops.get(name, OnnxOp(()))
        source = f"{', '.join(sorted(own.plugins))} of the installed toolkit"
        ops[name] = OnnxOp(
            tuple(sorted(own.opsets)), before.ge, before.subgraph, source=source, documented=before.documented
        )
    sources = [Source(plugin, f"opsets, CANN {toolkit.release}") for plugin in _plugins(registered)]
    if packaged:
        sources.append(
            Source(f"onnx/{packaged.release}.json", "graph-engine operators, and what the plugins do not name")
        )
    later = tuple(name for name in (packaged.later if packaged else ()) if name not in ops)
    return OnnxFile(SCHEMA, toolkit.release, tuple(sources), dict(sorted(ops.items())), later)


def _plugins(registered: dict[str, Registered]) -> list[str]:
    return sorted({plugin for own in registered.values() for plugin in own.plugins})


def _strings(toolkit: Toolkit, path: Path) -> list[str]:
    if path.suffix == ".so":
        return list(printable(toolkit, path, _REGISTERED.encode()))
    return re.findall(rf'"({_REGISTERED})"', read_text(toolkit, path))
