"""Operators that the graph compiler replaces before it looks for a kernel.

The passes that do it are closed; their names are documented, and one of these must not be turned off for functions'
sake. Source: ``docs/zh/user_guides/graph_dev/appendix/fusion_rule_list.md`` of hicann/ge @ffdcbc9f7496 (for Ascend 950
and for the others), ``fusion_config.json`` of an installed CANN 8.1.RC1.
"""

from __future__ import annotations

from collections.abc import Callable

from opscan.matrix.graph_engine import Acceptance
from opscan.matrix.tables import CannTable

#: Operator → (what it becomes where its positions are constants, the pass).
_WITH_CONSTANTS = {"StridedSliceV2": ("StridedSliceD", "ConstToAttrStridedSliceV2Fusion")}


def with_constants(table: CannTable, name: str, ask: Callable[[str], Acceptance]) -> Acceptance:
    """The answer for an operator whose inputs but the first are constants in the graph.

    ``ask`` judges an operator by its type. The operator that takes its place answers where it has a kernel on the AI
    Core; else the operator itself.
    """
    if name in _WITH_CONSTANTS and table.ge.get(name) is not None:
        becomes, by = _WITH_CONSTANTS[name]
        found = ask(becomes)
        if found.status == "supported" and found.engine == "ai_core":
            detail = f"computed as {becomes}: its positions are constants ({by})"
            return Acceptance(
                "supported", "ok", "ai_core", detail=detail, borrowed=found.borrowed, sources=found.sources
            )
    return ask(name)
