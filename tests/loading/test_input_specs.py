"""``--input-shape`` and ``--input``: what they mean, and that nothing else than a UsageError comes of nonsense."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opscan.errors import UsageError
from opscan.loading.inputs import DTYPES, InputSpec, build, parse_input, parse_input_shape
from opscan.loading.nested_inputs import tensors_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,3,224,224", InputSpec(None, (1, 3, 224, 224), "float32", assumed=True)),
        ("1x3x224x224", InputSpec(None, (1, 3, 224, 224), "float32", assumed=True)),
        ("1,128:int64", InputSpec(None, (1, 128), "int64")),
        (" 1, 3 , 5 ", InputSpec(None, (1, 3, 5), "float32", assumed=True)),
        ("[1, 3]", InputSpec(None, (1, 3), "float32", assumed=True)),
        ("(1, 3):half", InputSpec(None, (1, 3), "float16")),
        ("(7,)", InputSpec(None, (7,), "float32", assumed=True)),
        ("7", InputSpec(None, (7,), "float32", assumed=True)),
        ("0,3", InputSpec(None, (0, 3), "float32", assumed=True)),
        ("[]", InputSpec(None, (), "float32", assumed=True)),
        ("1:BF16", InputSpec(None, (1,), "bfloat16")),
        ("1:long", InputSpec(None, (1,), "int64")),
        ("1:torch.int64", None),
    ],
)
def test_shapes(text: str, expected: InputSpec | None) -> None:
    if expected is None:
        with pytest.raises(UsageError, match="unknown dtype"):
            parse_input_shape(text)
    else:
        assert parse_input_shape(text) == expected


def test_named_inputs() -> None:
    assert parse_input("ids=1x128:int64") == InputSpec("ids", (1, 128), "int64")
    assert parse_input(" mask = 2,3:bool") == InputSpec("mask", (2, 3), "bool")


@pytest.mark.parametrize(
    "text",
    ["", "x", "1,,3", "1,-3", "-1", "1.5", "a,b", "1;3", "1 3", "1,3:", "1e3", "1,3:float", "1x3,", "None", "1,3:int5"],
)
def test_what_is_no_shape_says_how_to_write_one(text: str) -> None:
    if text in ("1,3:", "1,3:float", "1x3,"):
        assert parse_input_shape(text) == InputSpec(None, (1, 3), "float32", assumed="float" not in text)
        return
    with pytest.raises(UsageError) as raised:
        parse_input_shape(text)
    assert raised.value.hint
    assert "--input-shape" in raised.value.message


@pytest.mark.parametrize("text", ["", "=", "=1,2", "x", "1=2", "a b=1", "x=", "x=y"])
def test_what_is_no_named_input_says_how_to_write_one(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_input(text)
    assert raised.value.hint


@pytest.mark.parametrize("text", ["99999999999999999999", "100000,100000,100000,100000", "0,99999999999999999999"])
def test_a_size_that_no_tensor_has(text: str) -> None:
    with pytest.raises(UsageError, match="too large"):
        parse_input_shape(text)


sizes = st.lists(st.integers(0, 2000), min_size=1, max_size=4)


@given(sizes, st.sampled_from(DTYPES), st.sampled_from([",", "x", ", ", " ,"]))
def test_round_trip(shape: list[int], dtype: str, separator: str) -> None:
    text = separator.join(map(str, shape))
    assert parse_input_shape(f"{text}:{dtype}") == InputSpec(None, tuple(shape), dtype)
    assert parse_input(f"name={text}:{dtype}") == InputSpec("name", tuple(shape), dtype)


@given(st.text(max_size=40))
def test_nonsense_raises_nothing_but_a_usage_error(text: str) -> None:
    for parse in (parse_input_shape, parse_input):
        try:
            spec = parse(text)
        except UsageError:
            continue
        assert all(size >= 0 for tensor in tensors_of(spec) for size in tensor.shape)
        assert all(tensor.dtype in DTYPES for tensor in tensors_of(spec))


@given(st.text(alphabet="0123456789,x:[]() -=.afint64bool", max_size=24))
def test_near_misses_raise_nothing_but_a_usage_error(text: str) -> None:
    test_nonsense_raises_nothing_but_a_usage_error.hypothesis.inner_test(text)  # type: ignore[attr-defined]


def test_tensors_of_the_specs() -> None:
    specs = (parse_input_shape("2,3:int64"), parse_input("mask=2:bool"), parse_input_shape("4"))
    positional, keyword = build(specs)
    assert [(tuple(t.shape), str(t.dtype)) for t in positional] == [((2, 3), "torch.int64"), ((4,), "torch.float32")]
    assert {name: str(t.dtype) for name, t in keyword.items()} == {"mask": "torch.bool"}


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_is_torchs(dtype: str) -> None:
    (tensor,), _ = build((InputSpec(None, (1,), dtype),))
    assert str(tensor.dtype) == f"torch.{dtype}"


@pytest.mark.parametrize("text", ["n=[]:int64", "n=():int64", "n=scalar:int64"])
def test_a_scalar_takes_a_dtype(text: str) -> None:
    assert parse_input(text) == InputSpec("n", (), "int64")
