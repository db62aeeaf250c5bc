"""Dtypes between the operators of one converter."""

from __future__ import annotations

import pytest

from opscan.probing.graph.result_dtypes import result_dtypes


@pytest.mark.parametrize(
    ("operator", "inputs", "asked", "expected"),
    [
        ("Mul", [("x1", "float16"), ("x2", "float16")], "", ["float16"]),
        ("Greater", [("x1", "float16"), ("x2", "float16")], "", ["bool"]),
        ("Cast", [("x", "float16")], "float32", ["float32"]),
        ("Fill", [("dims", "int64"), ("value", "bfloat16")], "", ["bfloat16"]),
        ("ArgMaxWithValue", [("x", "float32")], "", ["int32", "float32"]),
        ("TopKV2", [("x", "float16"), ("k", "int32")], "", ["float16", "int32"]),
        ("Unpack", [("x", "int64")], "", ["int64"] * 3),
        ("Real", [("input", "complex64")], "", ["float32"]),
        ("Complex", [("real", "float32"), ("imag", "float32")], "", ["complex64"]),
        ("MatMulV2", [("x1", "int8"), ("x2", "int8")], "", ["unknown"]),  # int32, or int8 again
        ("MatMulV2", [("x1", "float32"), ("x2", "float32")], "", ["float32"]),
        ("SomethingNew", [("x", "float32")], "", ["unknown"]),
        ("Mul", [("x1", "unknown"), ("x2", "float32")], "", ["unknown"]),
        ("Range", [], "", ["unknown"]),
    ],
)
def test_what_the_graph_engine_infers(
    operator: str, inputs: list[tuple[str, str]], asked: str, expected: list[str]
) -> None:
    assert result_dtypes(operator, inputs, asked, len(expected)) == expected
