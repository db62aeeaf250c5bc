"""Operators that the graph compiler replaces before it looks for a kernel."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_matrix import adapter, cann, ge, open_matrix

from opscan.matrix.compiler_passes import with_constants
from opscan.matrix.files import GeOp
from opscan.matrix.graph_engine import Acceptance, accepts

SLOW = ge("float32", "int16", engine="ai_cpu")
FAST = ge("float32")


@pytest.mark.parametrize(
    ("engine", "dtype", "status", "where"),
    [
        ({"StridedSliceV2": SLOW, "StridedSliceD": FAST}, "float32", "supported", "ai_core"),
        ({"StridedSliceV2": SLOW, "StridedSliceD": FAST}, "int16", "supported", "ai_cpu"),
        ({"StridedSliceV2": SLOW}, "float32", "supported", "ai_cpu"),
        ({"StridedSliceD": FAST}, "float32", "unknown", ""),  # nothing is known of what torchair asks for
        ({"StridedSliceV2": ge("float16"), "StridedSliceD": ge("float16")}, "int8", "unsupported", ""),
    ],
)
def test_a_slice_at_constant_positions(
    tmp_path: Path, engine: dict[str, GeOp], dtype: str, status: str, where: str
) -> None:
    table = open_matrix(tmp_path, adapter("2.13.0", {}), cann("9.1.0", {}, engine)).cann[0]

    def ask(operator: str) -> Acceptance:
        return accepts(table.ge.get(operator), dtype, name=operator)

    found = with_constants(table, "StridedSliceV2", ask)
    assert (found.status, found.engine) == (status, where)
    assert ("ConstToAttrStridedSliceV2Fusion" in found.detail) == (where == "ai_core")


def test_any_other_operator_answers_for_itself(tmp_path: Path) -> None:
    table = open_matrix(tmp_path, adapter("2.13.0", {}), cann("9.1.0", {}, {"Abs": SLOW})).cann[0]
    assert with_constants(table, "Abs", lambda op: Acceptance("supported", engine="ai_cpu", detail=op)).detail == "Abs"
