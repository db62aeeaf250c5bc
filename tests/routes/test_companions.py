"""A dtype refused for a counter or target says nothing of the data."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_matrix import adapter, api, cann, native, observed, open_matrix, row

from opscan.matrix import Matrix
from opscan.routes.eager import eager

OPS = {"aten::update": native("aclnnUpdate"), "aten::both": native("aclnnUpdate"), "aten::bits": native("aclnnBits")}
OPS |= {"aten::norm_backward": native("aclnnNorm"), "aten::scale": native("aclnnNorm")}
ROWS = {
    # Made from the schema: the counter should be int32.
    "aten::update": (row("float32 float32", "aclnnUpdate[T:float32 T:float32 T:float32]"),),
    "aten::both": (
        row("float32 int64", "aclnnUpdate[T:float32 T:int64 T:float32]"),
        row("float32 int32", "aclnnUpdate[T:float32 T:int32 T:float32]"),
    ),
    "aten::bits": (row("float32", "aclnnBits[T:float32 T:float32]"),),
    "aten::norm_backward": (
        row("float16 float16", "aclnnNorm[T:float16 T:float16 T:float16]"),
        row("float16 float32", "aclnnNorm[T:float16 T:float32 T:float16]"),
    ),
    "aten::scale": (row("float16 float16", "aclnnNorm[T:float16 T:float16 T:float16]"),),
}


@pytest.fixture
def matrix(tmp_path: Path) -> Matrix:
    apis = {"aclnnUpdate": api("float32", counter=("int32",)), "aclnnBits": api("bool", "int32")}
    apis["aclnnNorm"] = api("float16", "float32", mean=("float32",))
    tables = adapter("2.13.0", OPS), observed("2.13.0", ROWS), cann("9.1.0", apis)
    return open_matrix(tmp_path, *tables)


@pytest.mark.parametrize(
    ("operator", "verdict"),
    [("aten::update", "unknown"), ("aten::both", "supported"), ("aten::bits", "unsupported")],
)
def test_only_the_data_decides(matrix: Matrix, operator: str, verdict: str) -> None:
    answer = eager(matrix, operator, "float32")
    assert answer.ruling.verdict == verdict
    if operator == "aten::update":
        assert "counter" in (answer.ruling.reason or "")


@pytest.mark.parametrize(("operator", "verdict"), [("aten::norm_backward", "supported"), ("aten::scale", "unknown")])
def test_statistics_are_float32_whatever_the_data(matrix: Matrix, operator: str, verdict: str) -> None:
    assert eager(matrix, operator, "float16").ruling.verdict == verdict
