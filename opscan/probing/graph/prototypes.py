"""How graph-engine operators are defined, as the wheel of torch_npu says beside torchair's functions for them.

Each function of ``auto_generated_ge_raw_ops.py`` carries the operator's registration in its docstring:
``.INPUT(x, …)``, ``.OPTIONAL_INPUT``, ``.DYNAMIC_INPUT``, ``.OUTPUT``, ``.DYNAMIC_OUTPUT``, ``.ATTR(name, kind, …)``
and ``.REQUIRED_ATTR(name, kind)``.
"""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path

_OPERATOR = re.compile(r"REG_OP\((\w+)\)(.*?)(?:\"\"\"|$)", re.S)
_ENTRY = re.compile(
    r"\.(INPUT|OPTIONAL_INPUT|DYNAMIC_INPUT|OUTPUT|DYNAMIC_OUTPUT|ATTR|REQUIRED_ATTR)\(\s*(\w+)\s*,\s*(\w+)"
)

_INPUTS = {"INPUT": "required", "OPTIONAL_INPUT": "optional", "DYNAMIC_INPUT": "dynamic"}
_OUTPUTS = {"OUTPUT": "required", "DYNAMIC_OUTPUT": "dynamic"}
_ATTRIBUTES = ("ATTR", "REQUIRED_ATTR")

#: The kind of an attribute in a registration → as torchair's core names it.
_KINDS = {
    "Int": "VT_INT",
    "int": "VT_INT",
    "Float": "VT_FLOAT",
    "Bool": "VT_BOOL",
    "String": "VT_STRING",
    "Type": "VT_DATA_TYPE",
    "ListInt": "VT_LIST_INT",
    "ListFloat": "VT_LIST_FLOAT",
    "ListBool": "VT_LIST_BOOL",
    "ListType": "VT_LIST_DATA_TYPE",
    "ListString": "VT_LIST_STRING",
    "ListListInt": "VT_LIST_LIST_INT",
    "ListListFloat": "VT_LIST_LIST_FLOAT",
}

#: (status, inputs, outputs, attributes), each a list of (name, kind), as torchair's core answers.
Definition = tuple[str, list[tuple[str, str]], list[tuple[str, str]], list[tuple[str, str]]]

#: The status for an operator that the graph engine does not know.
UNKNOWN: Definition = ("ERROR", [], [], [])


class Prototypes:
    """The definitions in one file; read when the first is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _texts(self) -> dict[str, str]:
        text = self._path.read_text(encoding="utf-8") if self._path.is_file() else ""
        return {match[1]: match[2] for match in _OPERATOR.finditer(text)}

    def definition(self, name: str) -> Definition:
        """The definition of the operator ``name``; :data:`UNKNOWN` where the wheel has none."""
        text = self._texts.get(name)
        if text is None:
            return UNKNOWN
        entries = [(match[1], match[2], match[3]) for match in _ENTRY.finditer(text)]
        return (
            "SUCCESS",
            [(entry, _INPUTS[kind]) for kind, entry, _ in entries if kind in _INPUTS],
            [(entry, _OUTPUTS[kind]) for kind, entry, _ in entries if kind in _OUTPUTS],
            [(entry, _KINDS.get(what, what)) for kind, entry, what in entries if kind in _ATTRIBUTES],
        )
