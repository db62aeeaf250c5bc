from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from recorded_calls import assert_runs_alike, call, spec

from opscan.inventory import OpCall
from opscan.substitution import spelling
from opscan.substitution.checking import check
from opscan.substitution.float64_to_float32 import Float64ToFloat32
from opscan.substitution.interface import Match, Miss

FAMILY = Float64ToFloat32()
F64 = "float64"
sizes = st.integers(1, 6)


def matched(recorded: OpCall, refused: str = F64) -> Match:
    answer = FAMILY.applies(recorded, refused)
    assert isinstance(answer, Match), answer
    return answer


def inputs_for(recorded: OpCall) -> dict[str, Any]:
    tensors = FAMILY.sample_inputs(matched(recorded), recorded.inputs, torch.Generator().manual_seed(2))
    return dict(zip(spelling.variables(recorded), tensors, strict=True))


def assert_replaced(recorded: OpCall) -> None:
    result = check(matched(recorded))
    assert result.check is not None, result.note
    assert result.check.passed
    assert (result.check.tolerance, result.check.absolute_tolerance) == (1.3e-6, 1e-5)
    assert_runs_alike(FAMILY.code(matched(recorded)), **inputs_for(recorded))


@given(st.sampled_from(["expm1", "tanh", "silu", "relu", "gelu", "erf"]), st.lists(sizes, max_size=4))
def test_elementwise(name: str, shape: list[int]) -> None:
    assert_replaced(call(f"aten::{name}", {"self": spec(F64, *shape)}, (spec(F64, *shape),)))


@given(sizes, sizes, sizes)
def test_products_of_matrices(a: int, b: int, c: int) -> None:
    assert_replaced(call("aten::mm", {"self": spec(F64, a, b), "mat2": spec(F64, b, c)}, (spec(F64, a, c),)))


@given(st.lists(st.tuples(sizes, st.booleans()), min_size=1, max_size=4))
def test_a_small_tensor_broadcasts(dims: list[tuple[int, bool]]) -> None:
    shape, small = [size for size, _ in dims], [1 if one else size for size, one in dims]
    assert_replaced(
        call("aten::masked_fill.Scalar", {"self": spec(F64, *shape), "mask": spec("bool", *small)}, value=-float("inf"))
    )


@given(sizes, sizes, sizes, st.booleans())
def test_a_call_with_an_index_before_a_tensor(rows: int, width: int, count: int, negative: bool) -> None:
    recorded = call(
        "aten::index_add",
        {"self": spec(F64, rows, width), "index": spec("int64", count), "source": spec(F64, count, width)},
        dim=-2 if negative else 0,
    )
    assert_replaced(recorded)
    assert "torch.index_add(x.float(), index=index, source=source.float(), dim=" in FAMILY.code(matched(recorded)).after


@pytest.mark.parametrize(
    "recorded",
    [
        call("aten::cat", {"tensors[0]": spec(F64, 2, 3), "tensors[1]": spec(F64, 4, 3)}, dim=0),
        call("aten::index.Tensor", {"self": spec(F64, 3, 5), "indices[1]": spec("int64", 2)}),
        call("aten::repeat_interleave.self_int", {"self": spec(F64, 6, 4)}, repeats=2, dim=1),
        call("aten::convolution", {"input": spec(F64, 1, 2, 5, 5), "weight": spec(F64, 3, 2, 3, 3)},
             stride=[1, 1], padding=[1, 1], dilation=[1, 1], transposed=False, output_padding=[0, 0], groups=1),
        call("aten::native_layer_norm", {"input": spec(F64, 2, 8)}, normalized_shape=[8], eps=1e-5),
        call("aten::_softmax", {"self": spec(F64, 2, 8)}, dim=-1, half_to_float=False),
        call("aten::sum.dim_IntList", {"self": spec(F64, 4, 4)}, dim=[1], keepdim=True, dtype=torch.float64),
        call("aten::arange.start_step", {}, (spec(F64, 4),), start=0, end=8, step=2, dtype=torch.float64),
        call("aten::log", {"self": spec(F64, 9)}),
        call("aten::acosh", {"self": spec(F64, 9)}),
        call("aten::sort", {"self": spec(F64, 9)}, (spec(F64, 9), spec("int64", 9)), dim=-1, descending=True),
        call("aten::_fft_c2c", {"self": spec("complex128", 8)}, (spec("complex128", 8),),
             dim=[0], normalization=0, forward=True),
        call("aten::masked_fill_.Scalar", {"self": spec(F64, 4), "mask": spec("bool", 4)}, value=0.5),
    ],
    ids=lambda recorded: recorded.name,
)  # fmt: skip
def test_calls_of_every_shape(recorded: OpCall) -> None:
    assert_replaced(recorded)


def test_the_code_to_paste() -> None:
    code = FAMILY.code(matched(call("aten::expm1", {"self": spec(F64, 1)}, (spec(F64, 1),))))
    assert code.before == "# x: float64 [1]\nout = torch.expm1(x)"
    assert code.after == (
        "out = torch.expm1(x.float())\n# out is float32: write out.double() only where the caller needs it"
    )


def test_no_cast_back_where_the_result_is_not_float64() -> None:
    code = FAMILY.code(matched(call("aten::isposinf", {"self": spec(F64, 3)}, (spec("bool", 3),))))
    assert code.after == "out = torch.isposinf(x.float())"


def test_a_dtype_argument_changes_too_and_a_device_stays() -> None:
    recorded = call(
        "aten::full", {}, (spec(F64, 2),), size=[2], fill_value=1.5, dtype=torch.float64, device=torch.device("cuda", 1)
    )
    code = FAMILY.code(matched(recorded))
    assert code.after.startswith(
        "out = torch.ops.aten.full.default(size=[2], fill_value=1.5, dtype=torch.float32, device='cuda:1')"
    )


def test_the_precision_that_is_lost_shows() -> None:
    result = check(matched(call("aten::tan", {"self": spec(F64, 10_000)}, (spec(F64, 10_000),))))
    assert result.check is not None
    assert result.check.max_abs_error is not None
    assert result.check.max_abs_error > 1e-5
    assert not result.check.passed


def test_backward_calls_follow_their_forward_call() -> None:
    recorded = call(
        "aten::_softmax_backward_data",
        {"grad_output": spec(F64, 2, 3), "output": spec(F64, 2, 3)},
        phase="backward",
        dim=1,
        input_dtype=torch.float64,
    )
    assert all(line.startswith("#") for line in FAMILY.code(matched(recorded)).after.splitlines())
    result = check(matched(recorded))
    assert result.check is not None
    assert result.check.passed


@pytest.mark.parametrize(
    ("recorded", "refused", "why"),
    [
        (call("aten::expm1", {"self": spec("float32", 1)}), "float32", "not float64"),
        (call("aten::expm1", {"self": spec("float32", 1)}), F64, "no argument"),
        (call("aten::_to_copy", {"self": spec(F64, 1)}, dtype=torch.float16), F64, "casts"),
    ],
)
def test_what_it_does_not_replace(recorded: OpCall, refused: str, why: str) -> None:
    answer = FAMILY.applies(recorded, refused)
    assert isinstance(answer, Miss)
    assert why in answer.why.en


@pytest.mark.parametrize(
    ("recorded", "why"),
    [
        (call("aten::bernoulli", {"self": spec(F64, 4)}), "random"),
        (call("aten::no_such_operator", {"self": spec(F64, 4)}), "no aten::no_such_operator"),
        (OpCall("aten::expm1", "forward", (spec(F64, 1),), (), (("generator", "<Generator at 0x7f>"),)), "as a value"),
        (OpCall("aten::cat", "forward", (spec(F64, 1), spec(F64, 1)), ()), "does not name the parameters"),
        (call("aten::cholesky", {"self": spec(F64, 5, 5)}), "does not run on sample inputs"),
        (call("aten::expm1", {"self": spec(F64, "s0 % 2")}), "size is unknown"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_not_checked_and_says_why(recorded: OpCall, why: str) -> None:
    result = check(matched(recorded))
    assert result.check is None
    assert why in result.note.en
    assert result.note.zh


def test_code_without_parameter_names_is_advice() -> None:
    recorded = OpCall("aten::index_add", "forward", (spec(F64, 4), spec("int64", 2), spec(F64, 2)), (), (("dim", "0"),))
    code = FAMILY.code(matched(recorded))
    assert code.before == "# aten::index_add on float64"
    assert ".float()" in code.after


def test_a_call_without_parameter_names_runs_where_the_schema_leaves_no_doubt() -> None:
    result = check(matched(OpCall("aten::mm", "forward", (spec(F64, 2, 3), spec(F64, 3, 4)), (spec(F64, 2, 4),))))
    assert result.check is not None
    assert result.check.passed
