"""``--dynamic`` as typed."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opscan.errors import UsageError
from opscan.loading.dynamic_sizes import parse_dynamic
from opscan.workload import DynamicInput


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x:0", DynamicInput("x", (0,))),
        ("0:0", DynamicInput("0", (0,))),
        ("x:0,2", DynamicInput("x", (0, 2))),
        ("x:-1", DynamicInput("x", (-1,))),
        ("x:0=1..64,2", DynamicInput("x", (0, 2), ((1, 64), None))),
        ("ids:batch=0,length=1=32..512", DynamicInput("ids", (0, 1), (None, (32, 512)), ("batch", "length"))),
        (" x : 0 , 2 ", DynamicInput("x", (0, 2))),
    ],
)
def test_what_is_meant(text: str, expected: DynamicInput) -> None:
    assert parse_dynamic(text) == expected


@pytest.mark.parametrize(
    "text", ["", "x", "x:", ":0", "x:0,0", "x:a", "x:0=8..8", "x:0=9..2", "x:0=0..4", "x y:0", "x:99", "x:0=1.."]
)
def test_what_is_no_dimension_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_dynamic(text)
    assert caught.value.hint


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(UsageError):
        assert parse_dynamic(text).dimensions


@given(
    st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True),
    st.dictionaries(st.integers(-8, 8), st.none() | st.tuples(st.integers(1, 99), st.integers(100, 999)), min_size=1),
)
def test_what_is_written_is_what_is_read(name: str, dimensions: dict[int, tuple[int, int] | None]) -> None:
    items = [f"{dim}" + (f"={bounds[0]}..{bounds[1]}" if bounds else "") for dim, bounds in dimensions.items()]
    read = parse_dynamic(f"{name}:{','.join(items)}")
    assert read.dimensions == tuple(dimensions)
    assert read.ranges == (tuple(dimensions.values()) if any(dimensions.values()) else ())
