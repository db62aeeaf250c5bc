from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from recorded_calls import assert_runs_alike, call, spec
from torch import Tensor

from opscan.inventory import OpCall, TensorSpec
from opscan.substitution.checking import check
from opscan.substitution.complex_to_real import REWRITES, ComplexToReal
from opscan.substitution.interface import Match, Miss

FAMILY = ComplexToReal()
dtypes = st.sampled_from(["complex64", "complex128"])
sizes = st.integers(1, 5)


def matched(recorded: OpCall) -> Match:
    answer = FAMILY.applies(recorded, recorded.inputs[0].dtype)
    assert isinstance(answer, Match), answer
    return answer


def variables(recorded: OpCall, *tensors: Tensor) -> dict[str, Any]:
    return dict(zip(REWRITES[recorded.name].names(recorded), tensors, strict=True))


def assert_replaced(recorded: OpCall, *tensors: Tensor) -> None:
    """Callable and code give what the original gives, and the check on drawn inputs passes."""
    match = matched(recorded)
    expected = FAMILY.original(match)(*tensors)
    torch.testing.assert_close(FAMILY.replacement(match)(*tensors), expected)
    assert_runs_alike(FAMILY.code(match), **variables(recorded, *tensors))
    result = check(match)
    assert result.check is not None, result.note
    assert result.check.passed


def numbers(dtype: str, *shape: int) -> Tensor:
    return torch.randn(shape, dtype=getattr(torch, dtype))


class TestIndex:
    @given(dtypes, st.lists(sizes, min_size=1, max_size=4), st.data())
    def test_one_index_anywhere_negative_too(self, dtype: str, shape: list[int], data: st.DataObject) -> None:
        place = data.draw(st.integers(0, len(shape) - 1))
        index_shape = data.draw(st.lists(sizes, max_size=2))
        x = numbers(dtype, *shape)
        index = torch.randint(-shape[place], shape[place], index_shape)
        recorded = call(
            "aten::index.Tensor", {"self": spec(dtype, *shape), f"indices[{place}]": spec("int64", *index_shape)}
        )
        assert_replaced(recorded, x, index)

    @given(dtypes, sizes, sizes, sizes, sizes)
    def test_indices_that_broadcast(self, dtype: str, a: int, b: int, rows: int, columns: int) -> None:
        recorded = call(
            "aten::index.Tensor",
            {
                "self": spec(dtype, a, b, 3),
                "indices[0]": spec("int64", rows, 1),
                "indices[1]": spec("int64", columns),
            },
        )
        assert_replaced(
            recorded, numbers(dtype, a, b, 3), torch.randint(-a, a, (rows, 1)), torch.randint(-b, b, (columns,))
        )

    @given(dtypes, sizes, sizes, sizes)
    def test_indices_apart_from_each_other(self, dtype: str, a: int, b: int, count: int) -> None:
        recorded = call(
            "aten::index.Tensor",
            {"self": spec(dtype, a, 2, b), "indices[0]": spec("int64", count), "indices[2]": spec("int64", count)},
        )
        assert_replaced(recorded, numbers(dtype, a, 2, b), torch.randint(a, (count,)), torch.randint(-b, b, (count,)))

    @given(dtypes, sizes, sizes)
    def test_mask_then_index(self, dtype: str, a: int, b: int) -> None:
        recorded = call(
            "aten::index.Tensor",
            {"self": spec(dtype, a, b, 4), "indices[0]": spec("bool", a, b)},
            (spec(dtype, "u0", 4),),
        )
        assert_replaced(recorded, numbers(dtype, a, b, 4), torch.rand(a, b) < 0.5)

    def test_a_transposed_tensor(self) -> None:
        x = numbers("complex64", 3, 5).t()
        recorded = call("aten::index.Tensor", {"self": spec("complex64", 5, 3), "indices[1]": spec("int64", 2)})
        assert_replaced(recorded, x, torch.tensor([2, -3]))

    def test_code_keeps_the_brackets_of_the_call(self) -> None:
        recorded = call("aten::index.Tensor", {"self": spec("complex64", 2, 256, 32), "indices[1]": spec("int64", 16)})
        code = FAMILY.code(matched(recorded))
        assert code.before == "# x: complex64 [2, 256, 32], index: int64 [16]\nout = x[:, index]"
        assert code.after.splitlines()[0] == "out = torch.view_as_complex(torch.view_as_real(x)[:, index])"

    def test_places_are_inferred_only_where_shapes_leave_no_doubt(self) -> None:
        clear = OpCall(
            "aten::index.Tensor", "forward", (spec("complex64", 9, 4), spec("int64", 3)), (spec("complex64", 3, 4),)
        )
        assert FAMILY.code(matched(clear)).before.endswith("out = x[index]")
        square = OpCall(
            "aten::index.Tensor", "forward", (spec("complex64", 4, 4), spec("int64", 4)), (spec("complex64", 4, 4),)
        )
        assert isinstance(FAMILY.applies(square, "complex64"), Miss)


@given(dtypes, st.lists(sizes, min_size=1, max_size=4), st.data())
def test_gather(dtype: str, shape: list[int], data: st.DataObject) -> None:
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    index_shape = [data.draw(st.integers(1, size)) for size in shape]
    recorded = call("aten::gather", {"self": spec(dtype, *shape), "index": spec("int64", *index_shape)}, dim=dim)
    assert_replaced(recorded, numbers(dtype, *shape), torch.randint(shape[dim], index_shape))


@given(dtypes, st.lists(sizes, min_size=1, max_size=4), st.data())
def test_index_select(dtype: str, shape: list[int], data: st.DataObject) -> None:
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    recorded = call("aten::index_select", {"self": spec(dtype, *shape), "index": spec("int64", 3)}, dim=dim)
    assert_replaced(recorded, numbers(dtype, *shape), torch.randint(shape[dim], (3,)))


@given(dtypes, sizes, sizes, st.lists(sizes, max_size=3))
def test_embedding(dtype: str, rows: int, width: int, index_shape: list[int]) -> None:
    recorded = call("aten::embedding", {"weight": spec(dtype, rows, width), "indices": spec("int64", *index_shape)})
    assert_replaced(recorded, numbers(dtype, rows, width), torch.randint(rows, index_shape))


@given(dtypes, st.lists(sizes, min_size=1, max_size=4))
def test_masked_select(dtype: str, shape: list[int]) -> None:
    recorded = call("aten::masked_select", {"self": spec(dtype, *shape), "mask": spec("bool", *shape)})
    assert_replaced(recorded, numbers(dtype, *shape), torch.rand(shape) < 0.5)


@given(dtypes, st.lists(sizes, min_size=1, max_size=4), st.integers(-6, 6), st.data())
def test_roll(dtype: str, shape: list[int], shift: int, data: st.DataObject) -> None:
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    recorded = call("aten::roll", {"self": spec(dtype, *shape)}, shifts=[shift], dims=[dim])
    assert_replaced(recorded, numbers(dtype, *shape))


@given(dtypes, st.lists(sizes, min_size=1, max_size=4), st.integers(0, 3), st.data())
def test_repeat_interleave(dtype: str, shape: list[int], repeats: int, data: st.DataObject) -> None:
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    recorded = call("aten::repeat_interleave.self_int", {"self": spec(dtype, *shape)}, repeats=repeats, dim=dim)
    assert_replaced(recorded, numbers(dtype, *shape))


broadcast = st.lists(st.tuples(sizes, st.sampled_from(["both", "left", "right"])), max_size=4)


@given(
    dtypes,
    st.sampled_from(["complex64", "complex128", "float32", "float64", "int64"]),
    broadcast,
    st.integers(0, 2),
    st.booleans(),
)
def test_products_broadcast_and_promote(
    left: str, right: str, dims: list[tuple[int, str]], missing: int, swapped: bool
) -> None:
    x_shape = [size if side != "right" else 1 for size, side in dims]
    y_shape = [size if side != "left" else 1 for size, side in dims][missing:]
    x, y = numbers(left, *x_shape), (torch.randn(y_shape) * 4).to(getattr(torch, right))
    specs = {"self": spec(left, *x_shape), "other": spec(right, *y_shape)}
    if swapped:
        x, y, specs = y, x, {"self": specs["other"], "other": specs["self"]}
    recorded = call("aten::mul.Tensor", specs)
    match = matched(recorded)
    torch.testing.assert_close(FAMILY.replacement(match)(x, y), FAMILY.original(match)(x, y))
    assert_runs_alike(FAMILY.code(match), x=x, y=y)
    assert check(match).check is not None


@given(st.sampled_from(["float32", "float64"]), st.lists(sizes, max_size=3))
def test_polar(dtype: str, shape: list[int]) -> None:
    recorded = call("aten::polar", {"abs": spec(dtype, *shape), "angle": spec(dtype, *shape)})
    assert_replaced(recorded, torch.rand(shape, dtype=getattr(torch, dtype)), numbers(dtype, *shape))


def test_replacements_of_selections_are_exact() -> None:
    recorded = call(
        "aten::index.Tensor",
        {"self": spec("complex64", 2048, 64), "indices[0]": spec("int64", 512)},
        (spec("complex64", 512, 64),),
    )
    result = check(matched(recorded))
    assert result.check is not None
    assert (result.check.max_abs_error, result.check.scaled) == (0.0, False)
    assert result.check.shapes == (("complex64", (2048, 64)), ("int64", (512,)))


@pytest.mark.parametrize(
    ("recorded", "why"),
    [
        (call("aten::index.Tensor", {"self": spec("float32", 4), "indices[0]": spec("int64", 2)}), "complex"),
        (call("aten::mul.Tensor", {"self": spec("complex32", 4), "other": spec("complex32", 4)}), "complex"),
        (call("aten::mul.Tensor", {"self": spec("complex64", 4)}, other=2.0), "two tensors"),
        (call("aten::roll", {"self": spec("complex64", 4, 4)}, shifts=[1], dims=[]), "flattens"),
        (call("aten::repeat_interleave.self_int", {"self": spec("complex64", 4)}, repeats=2), "flattens"),
        (call("aten::masked_select", {"self": spec("complex64", 4, 4), "mask": spec("bool", 4)}), "another shape"),
        (call("aten::gather", {"self": spec("complex64"), "index": spec("int64")}, dim=0), "single number"),
        (call("aten::tanh", {"self": spec("complex64", 4)}), "no real form"),
        (
            call("aten::gather", {"self": spec("complex64", 4), "index": spec("int64", 4)}, phase="backward", dim=0),
            "forward",
        ),
    ],
)
def test_what_it_does_not_replace(recorded: OpCall, why: str) -> None:
    answer = FAMILY.applies(recorded, "complex64")
    assert isinstance(answer, Miss)
    assert why in answer.why.en
    assert answer.why.zh


def test_inputs_of_a_check_stay_within_range_when_shapes_shrink() -> None:
    recorded = call("aten::gather", {"self": spec("complex64", 100, 8), "index": spec("int64", 50, 8)}, dim=0)
    shrunk = (TensorSpec("complex64", (4, 4)), TensorSpec("int64", (4, 4)))
    _, index = FAMILY.sample_inputs(matched(recorded), shrunk, torch.Generator().manual_seed(1))
    assert 0 <= int(index.min()) <= int(index.max()) < 4
