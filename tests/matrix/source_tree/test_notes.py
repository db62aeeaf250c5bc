"""Sentences below parameter tables: plain statements are read, all others are counted and left out."""

from __future__ import annotations

import pytest

from opscan.matrix.build.source_tree.notes import Note, read_notes

A2_A3 = frozenset({"ascend910b", "ascend910_93"})
PRODUCTS = (
    "  - <term>Atlas A2 训练系列产品/Atlas A2 推理系列产品</term>"
    "、<term>Atlas A3 训练系列产品/Atlas A3 推理系列产品</term>"
)
NAMES = ("self", "other", "out")


@pytest.mark.parametrize(
    ("said", "notes"),
    [
        ("self不支持INT8、INT16。", [Note(A2_A3, ("self",), "remove", ("int8", "int16"))]),
        ("参数`self`、`out`的数据类型不支持DOUBLE数据类型。", [Note(A2_A3, ("self", "out"), "remove", ("float64",))]),
        ("入参self和出参out的数据类型仅支持FLOAT32", [Note(A2_A3, ("self", "out"), "only", ("float32",))]),
        (
            "self额外支持BFLOAT16，out额外支持BOOL。",
            [
                Note(A2_A3, ("self",), "add", ("bfloat16",)),
                Note(A2_A3, ("out",), "add", ("bool",)),
            ],
        ),
        ("数据类型不支持BFLOAT16", [Note(A2_A3, (), "remove", ("bfloat16",))]),
        ("self不支持INT8，数据格式不支持NZ。", [Note(A2_A3, ("self",), "remove", ("int8",))]),
        (
            "self额外支持BFLOAT16，当类型为BFLOAT16时，转化为FLOAT16进行计算。",
            [
                Note(A2_A3, ("self",), "add", ("bfloat16",)),
            ],
        ),
    ],
)
def test_plain_statements(said: str, notes: list[Note]) -> None:
    assert read_notes([f"{PRODUCTS}：{said}"], NAMES) == (notes, [])


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("当self为INT8时，不支持FLOAT", "condition"),
        ("mode为1时，self不支持FLOAT", "condition"),
        ("self不支持FLOAT和别的什么", "form"),
        ("stranger不支持FLOAT", "form"),
        ("数据类型支持FLOAT、FLOAT16", "scope"),
    ],
)
def test_other_sentences_are_left_out_with_a_reason(said: str, reason: str) -> None:
    notes, skipped = read_notes([f"{PRODUCTS}：{said}"], NAMES)
    assert (notes, [s.reason for s in skipped]) == ([], [reason])


def test_a_list_without_a_parameter_is_about_tensors_that_are_alike() -> None:
    notes, skipped = read_notes([f"{PRODUCTS}：数据类型支持FLOAT、FLOAT16"], NAMES, ("self", "out"))
    assert notes == [Note(A2_A3, ("self", "out"), "only", ("float32", "float16"))]
    assert not skipped


def test_a_product_line_governs_the_deeper_lines_below_it() -> None:
    lines = [f"{PRODUCTS}", "    - self不支持BOOL。", "  - other不支持BOOL。", "  - 未知产品：out不支持INT8"]
    notes, skipped = read_notes(lines, NAMES)
    assert notes == [
        Note(A2_A3, ("self",), "remove", ("bool",)),
        Note(frozenset(), ("other",), "remove", ("bool",)),
    ]
    assert [s.reason for s in skipped] == ["form"]


def test_what_only_one_product_has_the_others_have_not() -> None:
    notes, _ = read_notes(["- Ascend 950PR/Ascend 950DT：COMPLEX64仅支持该产品"], NAMES)
    assert [(n.kind, n.dtypes) for n in notes] == [("remove", ("complex64",))]
    assert notes[0].socs >= A2_A3
    assert "ascend950pr" not in notes[0].socs


def test_products_that_are_not_known_are_counted() -> None:
    notes, skipped = read_notes(["- Atlas 某某产品：self不支持INT8"], NAMES)
    assert (notes, [s.reason for s in skipped]) == ([], ["product"])
