"""Gears, what padding to them costs, and the options that ATC and torchair take."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from opscan.inventory import VaryingInput
from opscan.sizes.atc import gear_options, range_option
from opscan.sizes.gears import RECOMMENDED, combined, gears, padding, proposed
from opscan.sizes.torchair import SMALLEST, gear_calls


def image(*shape: int | str, sizes: tuple[int, ...] = (1, 3, 224, 224), **more: object) -> VaryingInput:
    return VaryingInput("x", "float32", shape, sizes, **more)  # type: ignore[arg-type]


def test_gears_of_a_range_grow_by_one_factor() -> None:
    assert gears(1, (1, 64)) == (1, 4, 16, 64)
    assert gears(128, (32, 512)) == (32, 96, 224, 512)
    assert gears(0, (100, 120)) == (112, 120)


def test_gears_without_a_range_lie_around_the_given_size() -> None:
    assert gears(1, None) == (1, 2, 4, 8)
    assert gears(3, None) == (3, 6, 12, 24)
    assert gears(224, None) == (112, 224, 448)
    assert gears(0, None) == ()


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(0, 600), st.integers(2, 6))
def test_every_size_of_a_range_has_a_gear(one: int, other: int, size: int, count: int) -> None:
    low, high = sorted((one, one + other))
    found = gears(size, (low, high), count)
    assert found[-1] == high
    assert list(found) == sorted(set(found))
    assert 1 <= len(found) <= count + 1
    cost = padding(found, low)
    assert 0 <= cost.average <= cost.worst < 1


def test_padding_is_what_is_added_among_what_is_computed() -> None:
    assert padding((2, 4), 1) == padding((2, 4), 1)
    cost = padding((4,), 1)
    assert cost.worst == 0.75
    assert cost.average == (0.75 + 0.5 + 0.25 + 0) / 4


def test_all_combinations_are_proposed_where_they_are_few() -> None:
    two = tuple(VaryingInput(f"x{i}", "float32", (f"x{i}.0",), (1,)) for i in range(2))
    assert len(combined(proposed(two))) == 9


def test_of_many_symbols_all_grow_at_once() -> None:
    many = tuple(VaryingInput(f"x{i}", "float32", (f"x{i}.0",), (1,)) for i in range(6))
    assert combined(proposed(many)) == [{f"x{i}.0": size for i in range(6)} for size in ("1", "2")]
    assert max(len(each.gears) for each in proposed(many)) <= RECOMMENDED


def test_options_for_a_batch_that_varies() -> None:
    inputs = (image("x.0", 3, 224, 224),)
    expected = '--input_shape="x:-1,3,224,224" --dynamic_batch_size="1,2,4,8"'
    assert gear_options(inputs, proposed(inputs)) == expected


def test_options_for_pictures_of_any_size() -> None:
    inputs = (image(1, 3, "h", "w", ranges=((224, 448), (224, 448))),)
    assert gear_options(inputs, proposed(inputs)).startswith(
        '--input_format=NCHW --input_shape="x:1,3,-1,-1" --dynamic_image_size="224,224;224,'
    )
    assert range_option(inputs) == '--input_shape="x:1,3,224~448,224~448"'


def test_options_for_other_dimensions_repeat_a_size_that_two_inputs_share() -> None:
    inputs = tuple(VaryingInput(n, "int64", (1, "length"), (1, 128), ((16, 128),)) for n in ("ids", "mask"))
    assert gear_options(inputs, proposed(inputs)) == (
        '--input_format=ND --input_shape="ids:1,-1;mask:1,-1" --dynamic_dims="16,16;32,32;64,64;128,128"'
    )


def test_sizes_that_nobody_knows_stand_by_their_names() -> None:
    inputs = (VaryingInput("x", "float32", ("N", 3, "H", "W"), (0, 3, 0, 0)),)
    assert gear_options(inputs, proposed(inputs)) == (
        '--input_format=ND --input_shape="x:-1,3,-1,-1" --dynamic_dims="<N>,<H>,<W>;<N>,<H>,<W>"'
    )


def test_sizes_of_which_some_are_known() -> None:
    inputs = (VaryingInput("x", "float32", ("N", 3, "H"), (0, 3, 0), ((1, 4), None)),)
    assert gear_options(inputs, proposed(inputs)).endswith('--dynamic_dims="1,<H>;2,<H>;4,<H>"')


def test_gears_of_torchair_leave_a_size_of_one_out() -> None:
    inputs = (image("x.0", 3, 224, 224),)
    assert gear_calls(inputs, proposed(inputs, SMALLEST)) == "set_dim_gears(x, {0: [2, 4, 8]})"
