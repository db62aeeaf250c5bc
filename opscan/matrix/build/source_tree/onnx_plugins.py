"""ONNX parser plugins: which ``domain::operator`` ATC accepts, at which opsets, and what it becomes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from opscan.matrix.build.source_tree.cpp import without_comments


@dataclass(frozen=True, slots=True)
class Registration:
    """``subgraph``: the operator expands into several graph-engine operators."""

    domain: str
    op: str
    opsets: tuple[int, ...]
    ge: str
    subgraph: bool


def read_plugin(text: str) -> list[Registration]:
    """The ONNX operators that one plugin source registers, in order of name."""
    opsets: dict[tuple[str, str, str, bool], set[int]] = {}
    for ge, names, subgraph in _registered(without_comments(text)):
        for name in names:
            domain, opset, op = name.rsplit("::", 2)
            opsets.setdefault((domain, op, ge, subgraph), set()).add(int(opset))
    return [Registration(d, op, tuple(sorted(opsets[d, op, ge, s])), ge, s) for d, op, ge, s in sorted(opsets)]


#: ``domain::opset::operator``; names in another form (an operator without opset) register nothing at an opset.
_NAME = r"[\w.]+::\d+::\w+"


def _registered(text: str) -> Iterator[tuple[str, list[str], bool]]:
    """(graph-engine operator, names, whether it makes a graph) of every registration."""
    for match in re.finditer(r'\bREGISTER_CUSTOM_OP\s*\(\s*"(\w+)"\s*\)([^;]*);', text):
        if re.search(r"FrameworkType\s*\(\s*(?:domi::)?ONNX\s*\)", match[2]):
            graph = match[1] == "PartitionedCall" or "ParseOpToGraphFn" in match[2]
            yield match[1], re.findall(rf'"({_NAME})"', match[2]), graph
    # One macro registers an operator that keeps its parameters: names are written without quotes.
    for match in re.finditer(rf"\bREGISTER_\w*ONNX\w*\s*\(\s*({_NAME})\s*,\s*(\w+)\s*,[^;]*?\)\s*;", text):
        yield match[2], [match[1]], False
