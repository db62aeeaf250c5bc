"""``--arg`` for what builds a model."""

from __future__ import annotations

import pytest

from opscan.errors import LoadError, UsageError
from opscan.loading.factory_arguments import Argument, call, fits, parse_argument


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=256", 256),
        ("a = [1, 2]", [1, 2]),
        ("a={'x': None}", {"x": None}),
        ("a=relu", "relu"),
        ("a='r e'", "r e"),
        ("a=-1e-3", -0.001),
        ("a=True", True),
    ],
)
def test_literals_and_words(text: str, value: object) -> None:
    argument = parse_argument(text)
    assert (argument.name, argument.value) == ("a", value)


@pytest.mark.parametrize("text", ["", "a", "=1", "1=2", "a b=1", "a=", "a=f()", "a=[1"])
def test_what_is_no_argument(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_argument(text)
    assert raised.value.hint


def make(width: int, depth: int = 2) -> tuple[int, int]:
    return width, depth


def test_calls() -> None:
    assert call(make, (Argument("width", "3"),), "make") == (3, 2)
    with pytest.raises(LoadError, match="make has no parameter of that name") as raised:
        call(make, (Argument("wide", "3"),), "make")
    assert raised.value.hint == "It takes: width, depth=2."
    with pytest.raises(LoadError, match="make needs arguments: width") as raised:
        call(make, (Argument("depth", "3"),), "make")
    assert raised.value.hint.startswith("Give them: --arg width=…")
    assert fits(make, (Argument("width", "1"),))
    assert not fits(make, ())


def test_rests_take_anything() -> None:
    assert call(lambda **rest: rest, (Argument("any", "1"),), "it") == {"any": 1}
