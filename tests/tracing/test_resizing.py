"""Inputs found by name or position, and made of other sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from opscan.errors import UsageError
from opscan.tracing.interface import Recipe
from opscan.tracing.sizes.resizing import Resizing, Symbol, candidates, resized
from opscan.workload import DynamicInput


def resizing(args: tuple[Any, ...], kwargs: dict[str, Any], *dynamic: DynamicInput, names: str = "x y z") -> Resizing:
    made = Resizing(Recipe(lambda: (print, args, kwargs), Path()), lambda: names.split(), dynamic)
    made.at({}).load()
    return made


def test_an_input_by_name_or_position_given_either_way() -> None:
    x, y = torch.zeros(2, 3), torch.zeros(4)
    expected = (Symbol("y.0", ((1, 0),), 4),)
    assert resizing((x, y), {}, DynamicInput("y", (0,))).symbols == expected
    assert resizing((x, y), {}, DynamicInput("1", (0,))).symbols == expected
    assert resizing((x,), {"y": y}, DynamicInput("1", (-1,))).symbols == expected


def test_only_what_is_named_changes() -> None:
    made = resizing((torch.zeros(2, 3), torch.ones(4)), {}, DynamicInput("x", (0, 1)))
    _, (x, y), _ = made.at({"x.1": 5}).load()
    assert (x.shape, y.shape) == ((2, 5), (4,))
    assert [each.shape for each in made.inputs] == [("x.0", "x.1"), (4,)]


def test_equal_sizes_at_the_same_position_of_two_inputs_are_one() -> None:
    ids = torch.zeros(1, 16, dtype=torch.int64)
    made = resizing((ids, ids.clone()), {}, DynamicInput("x", (1,)), DynamicInput("y", (1,)))
    assert made.symbols == (Symbol("x.1", ((0, 1), (1, 1)), 16, also=("y.1",)),)


def test_an_input_that_nobody_named_goes_with_the_others() -> None:
    ids, mask, table = torch.zeros(1, 16, dtype=torch.int64), torch.ones(1, 16), torch.zeros(16, 4)
    made = resizing((ids, mask, table), {}, DynamicInput("x", (1,)))
    assert made.symbols == (Symbol("x.1", ((0, 1), (1, 1)), 16, also=("y.1",)),)
    assert [each.shape for each in made.inputs] == [(1, "x.1"), (1, "x.1"), (16, 4)]


def test_an_input_that_is_named_varies_where_it_is_named() -> None:
    one = torch.zeros(4, 16)
    made = resizing((one, one.clone()), {}, DynamicInput("x", (0, 1)), DynamicInput("y", (0,)))
    assert [each.shape for each in made.inputs] == [("x.0", "x.1"), ("x.0", 16)]


def test_height_and_width_of_one_input_are_two() -> None:
    made = resizing((torch.zeros(1, 3, 8, 8),), {}, DynamicInput("x", (2, 3)))
    assert [symbol.name for symbol in made.symbols] == ["x.2", "x.3"]


def test_names_join_what_positions_do_not() -> None:
    made = resizing(
        (torch.zeros(4, 3), torch.zeros(3, 4)),
        {},
        DynamicInput("x", (0,), labels=("n",)),
        DynamicInput("y", (1,), ((2, 9),), labels=("n",)),
    )
    assert made.symbols == (Symbol("n", ((0, 0), (1, 1)), 4, (2, 9), ("y.1",)),)
    assert made.inputs[1].shape == (3, "n")


def test_tensors_within_a_container_vary_together() -> None:
    made = resizing(([torch.zeros(1, 8), torch.zeros(1, 8)],), {}, DynamicInput("x", (1,)))
    _, (pair,), _ = made.at({made.symbols[0].name: 9}).load()
    assert [tensor.shape for tensor in pair] == [(1, 9), (1, 9)]


def test_keys_cannot_be_taken_for_formulas() -> None:
    made = resizing(({"a-b*(c)": torch.zeros(1, 8)},), {}, DynamicInput("x", (1,)))
    assert made.symbols[0].name == "x[a_b_c_].1"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (DynamicInput("w", (0,)), "no tensor"),
        (DynamicInput("3", (0,)), "no tensor"),
        (DynamicInput("x", (2,)), "the shape [2, 3]"),
        (DynamicInput("x", (0, -2)), "twice"),
    ],
)
def test_what_is_not_there_is_refused(asked: DynamicInput, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        resizing((torch.zeros(2, 3),), {}, asked)
    assert said in caught.value.message
    assert caught.value.hint


def test_two_sizes_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="n is 2 in one input and 3"):
        resizing((torch.zeros(2, 3),), {}, DynamicInput("x", (0, 1), labels=("n", "n")))


def test_what_an_input_holds_is_repeated_or_cut() -> None:
    ids = torch.tensor([[5, 6, 7]])
    assert resized(ids, 1, 5).tolist() == [[5, 6, 7, 5, 6]]
    assert resized(ids, 1, 2).tolist() == [[5, 6]]
    assert resized(ids, 1, 3) is ids
    assert resized(torch.ones(2, requires_grad=True), 0, 3).requires_grad


def test_sizes_to_try_keep_what_pictures_are_divided_by() -> None:
    assert candidates(224, None)[:3] == [256, 288, 448]
    assert candidates(1, None)[:2] == [2, 3]
    assert candidates(128, (16, 512))[:2] == [512, 16]


@given(st.integers(1, 5000), st.none() | st.tuples(st.integers(1, 50), st.integers(51, 5000)))
def test_sizes_to_try_are_others_within_the_range(size: int, bounds: tuple[int, int] | None) -> None:
    found = candidates(size, bounds)
    assert found
    assert len(set(found)) == len(found)
    assert size not in found
    assert all(bounds[0] <= n <= bounds[1] for n in found) if bounds else all(n >= 1 for n in found)
