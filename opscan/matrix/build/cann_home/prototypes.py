"""Prototypes of graph-engine operators: what their inputs and outputs may be on any SoC."""

from __future__ import annotations

import re
from typing import Literal

from opscan.matrix.build.cann_home.toolkit import Toolkit, read_text
from opscan.matrix.files import GeParameter

_HEADERS = (
    "opp/built-in/op_proto/inc/*.h",
    "opp/built-in/op_graph/inc/*.h",
    "opp/vendors/*/op_proto/inc/*.h",
)
_TYPES = ("*-linux/include/graph/types.h", "include/graph/types.h", "compiler/include/graph/types.h")

_SPELLINGS = {"bf16": "bfloat16", "float": "float32", "double": "float64"}
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_OPERATOR = re.compile(r"\bREG_OP\(\s*(\w+)\s*\)(.*?)\.OP_END_FACTORY_REG\(", re.DOTALL)
_MEMBER = re.compile(r"\.(INPUT|OPTIONAL_INPUT|DYNAMIC_INPUT|OUTPUT|DYNAMIC_OUTPUT|DATATYPE)\(\s*(\w+)\s*,")
_GROUP = re.compile(r"static\s+TensorType\s+(\w+)\s*\(\s*\)\s*\{\s*return\s+TensorType\s*\{([^}]*)\}")

#: Words of a type expression that are no dtype and no group.
_SYNTAX = frozenset({"TensorType", "ListTensorType", "Promote", "ge"})

#: Name of a type group or variable → its dtypes.
Groups = dict[str, tuple[str, ...]]


def read_prototypes(toolkit: Toolkit) -> dict[str, tuple[GeParameter, ...]]:
    """Operator → its inputs and outputs. The dtypes of a group are those of the toolkit's own ``graph/types.h``.

    A parameter whose type names an unknown group has no dtypes: unknown, not none.
    """
    groups: Groups = {}
    for path in toolkit.files(*_TYPES):
        groups.update({m[1]: _dtypes(m[2], {}) for m in _GROUP.finditer(_plain(read_text(toolkit, path)))})
    found: dict[str, tuple[GeParameter, ...]] = {}
    for path in toolkit.files(*_HEADERS):
        for match in _OPERATOR.finditer(_plain(read_text(toolkit, path))):
            found.setdefault(match[1], _parameters(match[2], groups))
    return found


def _plain(text: str) -> str:
    return _COMMENT.sub(" ", text)


def _parameters(body: str, groups: Groups) -> tuple[GeParameter, ...]:
    """Inputs and outputs in the order of their declaration; type variables are declared after their use."""
    members = [(m[1], m[2], _argument(body, m.end())) for m in _MEMBER.finditer(body)]
    known = dict(groups)
    for kind, name, text in members:
        if kind == "DATATYPE":
            known[name] = _dtypes(text, known)
    found = []
    for kind, name, text in members:
        if kind != "DATATYPE":
            io: Literal["in", "out"] = "out" if kind.endswith("OUTPUT") else "in"
            dtypes = _dtypes(text, known)
            found.append(GeParameter(name, io, dtypes, kind == "OPTIONAL_INPUT", bound=bool(dtypes)))
    return tuple(found)


def _argument(body: str, start: int) -> str:
    """The text from ``start`` to the bracket that closes the call."""
    depth = 1
    for end in range(start, len(body)):
        depth += {"(": 1, ")": -1}.get(body[end], 0)
        if depth == 0:
            return body[start:end]
    return body[start:]


def _dtypes(text: str, known: Groups) -> tuple[str, ...]:
    """The dtypes of a type expression; none where one of its words is not understood."""
    found: set[str] = set()
    for word in re.findall(r"\w+", text):
        if word.startswith("DT_"):
            plain = word[3:].lower()
            found.add(_SPELLINGS.get(plain, plain))
        elif known.get(word):
            found |= set(known[word])
        elif word not in _SYNTAX:
            return ()
    return tuple(sorted(found))
