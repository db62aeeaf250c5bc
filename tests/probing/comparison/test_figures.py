from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from opscan.probing.comparison.figures import figures, ulp_distance

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
NUMBERS = st.lists(st.floats(width=16, allow_nan=True), min_size=1, max_size=8)


def tensors(one: list[float], other: list[float], dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    count = min(len(one), len(other))
    return torch.tensor(one[:count], dtype=dtype), torch.tensor(other[:count], dtype=dtype)


@settings(max_examples=200, deadline=None)
@given(one=NUMBERS, other=NUMBERS, dtype=st.sampled_from(DTYPES))
def test_the_distance_is_symmetric_and_zero_for_the_same(
    one: list[float], other: list[float], dtype: torch.dtype
) -> None:
    first, second = tensors(one, other, dtype)
    assert torch.equal(ulp_distance(first, second), ulp_distance(second, first))
    assert ulp_distance(first, first).tolist() == [0.0] * first.numel()


@settings(max_examples=200, deadline=None)
@given(
    value=st.floats(width=16, allow_nan=False, allow_infinity=False),
    dtype=st.sampled_from(DTYPES),
    steps=st.integers(0, 5),
)
def test_each_neighbour_is_one_further(value: float, dtype: torch.dtype, steps: int) -> None:
    start = torch.tensor([value], dtype=dtype)
    end = start.clone()
    for _ in range(steps):
        end = torch.nextafter(end, torch.tensor([math.inf], dtype=dtype))
    expected = float(steps) if bool(end.isfinite().all()) else math.inf
    assert ulp_distance(start, end).item() == expected


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("exponent", [-3, 0, 1, 7])
def test_at_a_power_of_two_the_units_on_both_sides_differ(dtype: torch.dtype, exponent: int) -> None:
    power, eps = 2.0**exponent, torch.finfo(dtype).eps
    at = torch.tensor([power], dtype=dtype)
    above = torch.tensor([power * (1 + eps)], dtype=dtype)
    below = torch.tensor([power * (1 - eps / 2)], dtype=dtype)
    assert ulp_distance(at, above).item() == 1
    assert ulp_distance(at, below).item() == 1


def test_zeros_are_one_number_and_signs_are_crossed_there() -> None:
    smallest = torch.finfo(torch.float32).smallest_normal * torch.finfo(torch.float32).eps
    assert ulp_distance(torch.tensor([0.0]), torch.tensor([-0.0])).item() == 0
    assert ulp_distance(torch.tensor([smallest]), torch.tensor([-smallest])).item() == 2
    largest = torch.finfo(torch.float64).max
    apart = ulp_distance(*(torch.tensor([sign * largest], dtype=torch.float64) for sign in (1, -1))).item()
    assert apart == pytest.approx(2.0**64, rel=1e-3)


def test_not_a_number_and_infinity() -> None:
    nan, inf = math.nan, math.inf
    one, other = torch.tensor([nan, nan, 1.0, inf, inf, -inf]), torch.tensor([nan, 1.0, nan, inf, -inf, 3.0e38])
    assert ulp_distance(one, other).tolist() == [0, inf, inf, 0, inf, inf]


def test_complex_numbers_are_as_far_as_their_parts() -> None:
    one = torch.tensor([1 + 1j])
    other = torch.tensor([complex(1 + 2**-23, 1 + 3 * 2**-23)])
    assert ulp_distance(one, other).item() == 3


def test_different_dtypes_have_different_units() -> None:
    with pytest.raises(ValueError, match="different units"):
        ulp_distance(torch.zeros(1), torch.zeros(1).half())


def test_errors_are_against_the_wide_reference() -> None:
    expected = torch.tensor([1.0, 2.0, 0.0], dtype=torch.float64)
    actual = torch.tensor([1.5, 2.0, 1e-6], dtype=torch.float32)
    found = figures(expected, actual, 1e-5, 1e-5)
    assert (found.max_abs, found.max_rel, found.outside, found.elements) == (0.5, 0.5, 1, 3)
    assert found.max_ulp == 2**22
    assert figures(expected, actual, 1e-5, 1e-5, allowed=0.5).outside == 0


def test_what_overflows_the_dtype_is_expected_to() -> None:
    expected = torch.tensor([1e6, 1.0], dtype=torch.float64)
    assert figures(expected, torch.tensor([math.inf, 1.0], dtype=torch.float16), 1e-3, 1e-5).outside == 0
    assert figures(expected, torch.tensor([65504.0, 1.0], dtype=torch.float16), 1e-3, 1e-5).nonfinite == 1


def test_patterns_of_nan_and_infinity_count() -> None:
    expected = torch.tensor([1.0, math.nan, math.inf, -math.inf], dtype=torch.float64)
    actual = torch.tensor([math.nan, math.nan, math.inf, math.inf])
    found = figures(expected, actual, 1e-5, 1e-5)
    assert (found.nonfinite, found.outside, found.max_abs) == (2, 2, 0.0)


def test_integers_and_booleans_are_exact() -> None:
    assert figures(torch.tensor([1, 2]), torch.tensor([1, 3]), 0, 0).unequal == 1
    assert figures(torch.tensor([True, False]), torch.tensor([True, False]), 0, 0).outside == 0


def test_nothing_is_as_it_should_be() -> None:
    found = figures(torch.zeros(0, dtype=torch.float64), torch.zeros(0), 0, 0)
    assert (found.max_abs, found.outside, found.elements) == (0.0, 0, 0)
