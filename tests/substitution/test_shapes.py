from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_calls import spec

from opscan.inventory import TensorSpec
from opscan.substitution.shapes import concrete, size_in_bytes, within_limit


def test_equal_names_get_equal_sizes() -> None:
    assert concrete([spec("float32", "s0", 3), spec("int64", "s0*2 + 1", "u1 // 4")]) == (
        spec("float32", 8, 3),
        spec("int64", 17, 2),
    )


@pytest.mark.parametrize("size", ["s0 % 2", "f(s0)", "not a size", "", "1.5"])
def test_an_unknown_expression_is_refused(size: str) -> None:
    with pytest.raises(ValueError, match=r"size"):
        concrete([spec("float32", size)])


def test_bytes() -> None:
    assert size_in_bytes([spec("complex128", 2, 3), spec("bool", 5), spec("float32")]) == 96 + 5 + 4


def test_small_shapes_stay() -> None:
    assert within_limit([spec("float32", 1024, 1024)], [spec("float32", 1)]) == ((spec("float32", 1024, 1024),), False)


shapes = st.lists(st.lists(st.integers(1, 5000), max_size=4), min_size=1, max_size=3)


@given(shapes)
def test_scaling_keeps_order_equality_and_ones(dims: list[list[int]]) -> None:
    inputs = [TensorSpec("float32", tuple(shape)) for shape in dims]
    shrunk, scaled = within_limit(inputs, [], limit=4096)
    assert size_in_bytes(shrunk) <= 4096
    assert scaled == (size_in_bytes(inputs) > 4096)
    pairs = [
        (int(old), int(new))
        for before, after in zip(inputs, shrunk, strict=True)
        for old, new in zip(before.shape, after.shape, strict=True)
    ]
    for old_a, new_a in pairs:
        assert 1 <= new_a <= old_a
        for old_b, new_b in pairs:
            assert (old_a != old_b) or new_a == new_b
            assert (old_a > old_b) or new_a <= new_b
