"""Values and containers on the command line."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from opscan.errors import UsageError
from opscan.loading.inputs import ContainerSpec, InputSpec, ValueSpec, build, parse_input, parse_input_shape


def built(text: str) -> Any:
    return build([parse_input_shape(text)])[0][0]


def shape(tensor: torch.Tensor) -> tuple[int, ...]:
    return tuple(tensor.shape)


@pytest.mark.parametrize(
    ("text", "value"),
    [("2.0:value", 2.0), ("3:value", 3), ("None:value", None), ("mean:value", "mean"), ("'a b':value", "a b")],
)
def test_values(text: str, value: object) -> None:
    assert built(text) == value
    assert parse_input(f"x={text}").name == "x"


def test_lists_and_tuples() -> None:
    images = built("[3x8x8, 3x6x7:uint8]")
    assert [shape(i) for i in images] == [(3, 8, 8), (3, 6, 7)]
    assert images[1].dtype == torch.uint8
    assert isinstance(built("(1x2,)"), tuple)
    past = built("[(1x8, None), (1x8, 0.5)]")
    assert past[0][1] is None
    assert past[1][1] == 0.5
    assert [shape(i) for i in built("[[2,3],[4]]")] == [(2, 3), (4,)]


def test_one_image_in_a_list_is_no_shape() -> None:
    assert parse_input_shape("[3x8x8]") == ContainerSpec(None, "list", (InputSpec(None, (3, 8, 8), "float32", True),))
    assert parse_input_shape("[3, 8, 8]") == InputSpec(None, (3, 8, 8), "float32", True)


def test_dicts() -> None:
    made = built("{boxes: 4x4, 'labels': 4:int64, ('n', 'to', 'n'): 2x3:long, mode: 'mean'}")
    assert list(made) == ["boxes", "labels", ("n", "to", "n"), "mode"]
    assert made["labels"].dtype == torch.int64
    assert shape(made[("n", "to", "n")]) == (2, 3)
    assert made["mode"] == "mean"
    assert built("{}") == {}


def test_a_literal_inside_a_container_stands_for_itself() -> None:
    assert parse_input("x=[True, 7:value]") == ContainerSpec(
        "x", "list", (ValueSpec(None, "True"), ValueSpec(None, "7"))
    )


@pytest.mark.parametrize(
    "text", ["{a}", "{[1]: 2}", "[1x2, y]", "[1x2, (3]", "f():value", ":value", "[" * 40 + "1x2" + "]" * 40, "[1x2:]"]
)
def test_what_is_neither_says_how_to_write_it(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_input_shape(text)
    assert raised.value.hint


@given(st.text(alphabet="[](){}1x2,:'ab =", max_size=30))
def test_nonsense_raises_nothing_but_a_usage_error(text: str) -> None:
    with suppress(UsageError):
        build([parse_input_shape(text)]) if len(text) < 12 else parse_input_shape(text)


def test_integers_are_valid_indices() -> None:
    assert built("2x3:int64").eq(0).all()
