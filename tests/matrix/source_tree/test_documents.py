"""API pages in three layouts: what they say of products, parameters, signatures, with the notes applied."""

from __future__ import annotations

import pytest

from opscan.matrix.build.source_tree.documents import Api, read_document
from opscan.matrix.build.source_tree.notes import Skipped
from tests.matrix.source_tree.pages import BULLET_PAGE, LIST_OF_PRODUCTS, TABLE_PAGE


def _api(text: str, name: str) -> Api:
    return next(api for api in read_document(text).apis if api.name == name)


def test_one_yes_among_the_lines_of_a_chip_is_a_yes() -> None:
    supported = read_document(TABLE_PAGE).supported
    assert supported == {
        "ascend950pr": True,
        "ascend950dt": True,
        "ascend910_93": True,
        "ascend910b": True,  # the training line; the inference line of the same chip says no
        "ascend310b": False,
        "ascend310p": True,
        "ascend910": True,
    }


@pytest.mark.parametrize(
    ("soc", "self_", "other"),
    [
        ("ascend910_93", {"float32", "float16", "int32", "bool", "bfloat16"}, {"float32", "bfloat16"}),
        ("ascend910b", {"float32", "float16", "int32", "bool", "bfloat16"}, {"float32", "bfloat16"}),  # as A3
        ("ascend950dt", {"float32", "float16", "int32", "bool", "bfloat16"}, {"float32", "bfloat16"}),
        ("ascend910", {"float32", "float16", "int32"}, {"float32"}),
        ("ascend310b", {"float32", "float16", "int32", "bool"}, {"float32", "bfloat16"}),
    ],
)
def test_notes_change_lists_for_their_products_alone(soc: str, self_: set[str], other: set[str]) -> None:
    accepted = _api(TABLE_PAGE, "aclnnFold").accepted(soc)
    assert set(accepted["self"] or ()) == self_
    assert set(accepted["other"] or ()) == other
    assert accepted["out"] is None  # "as self" is no list


def test_what_a_page_leaves_to_conditions_is_counted() -> None:
    document = read_document(TABLE_PAGE)
    assert document.skipped == (Skipped("condition", "当self为FLOAT16时，other不支持FLOAT"),)


def test_parameters_in_order_with_ranks_and_without_plumbing() -> None:
    fold, inplace = _api(TABLE_PAGE, "aclnnFold"), _api(TABLE_PAGE, "aclnnInplaceFold")
    assert [(p.name, p.io, p.ranks) for p in fold.parameters] == [
        ("self", "in", "0-8"),
        ("other", "in", ""),
        ("out", "out", ""),
    ]
    assert [(p.name, p.io, p.listed) for p in inplace.parameters] == [("selfRef", "in", ("float32", "float16"))]


def test_signatures_even_where_a_fence_is_not_closed() -> None:
    assert read_document(TABLE_PAGE).signatures == {
        "aclnnFold": ("aclTensor* self", "aclScalar* other", "double eps", "aclTensor* out"),
        "aclnnInplaceFold": ("aclTensor* selfRef",),
    }


def test_bullets_list_dtypes_by_product() -> None:
    bend = _api(BULLET_PAGE, "aclnnBend")
    assert [p.name for p in bend.parameters] == ["self", "dim", "out"]
    assert bend.accepted("ascend910_93")["self"] == ("float32", "float16")
    assert bend.accepted("ascend910b")["self"] == ("float32", "float16")  # A3 stands for A2
    assert bend.accepted("ascend950pr")["self"] == ("float32", "int32")  # a misprint does not end the list
    assert bend.accepted("ascend950pr")["dim"] == ("int64",)


def test_products_as_a_list_and_a_heading_without_suffix() -> None:
    document = read_document(LIST_OF_PRODUCTS)
    assert document.supported == {"ascend910_93": True, "ascend310b": False}
    assert [api.name for api in document.apis] == ["aclnnTilt"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# aclnnFold\n\nsome words\n", "no product table"),
        (TABLE_PAGE.partition("## aclnnFoldGet")[0], "no parameter list"),
    ],
)
def test_other_pages_say_why_they_are_not_used(text: str, problem: str) -> None:
    document = read_document(text)
    assert (document.problem, document.apis) == (problem, ())
