"""What the samples of each kind of operator must keep to; that the CPU takes them is asked of each."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from opscan.inventory import OpCall, TensorSpec
from opscan.probing.samples.drawing import draw
from opscan.probing.samples.interface import Derived, Sample, Unsampled
from opscan.probing.samples.trial import try_on_cpu
from opscan.probing.signature import Signature, TensorArgument, signature_of

Parameter = tuple[str, str, tuple[int, ...]]


def signature(operator: str, *tensors: Parameter, **attributes: Any) -> Signature:
    return Signature(
        operator,
        tuple(TensorArgument(*tensor) for tensor in tensors),
        tuple((name, repr(value)) for name, value in attributes.items()),
    )


def call(operator: str, *tensors: Parameter, **attributes: Any) -> OpCall:
    specs = tuple(TensorSpec(dtype, shape) for _, dtype, shape in tensors)
    given = tuple((name, repr(value)) for name, value in attributes.items())
    return OpCall(operator, "forward", specs, (), given, parameters=tuple(name for name, _, _ in tensors))


def argument(sample: Sample, name: str) -> Any:
    names = [a.name for a in sample.operator._schema.arguments]
    return sample.kwargs[name] if name in sample.kwargs else sample.args[names.index(name)]


def f32(name: str, *shape: int) -> Parameter:
    return name, "float32", shape


def i64(name: str, *shape: int) -> Parameter:
    return name, "int64", shape


CALLS = [
    call("aten::index.Tensor", f32("self", 5, 6, 7), i64("indices[0]", 4, 1), i64("indices[2]", 3)),
    call("aten::index.Tensor", f32("self", 5, 6), ("indices[0]", "bool", (5, 6))),
    call("aten::index_put_", f32("self", 5, 6), ("indices[0]", "bool", (5,)), f32("values", 2, 6), accumulate=False),
    call("aten::index_select", f32("self", 3, 2), i64("index", 9), dim=1),
    call("aten::gather", f32("self", 3, 4), i64("index", 3, 9), dim=1),
    call("aten::scatter_.src", f32("self", 3, 9), i64("index", 3, 5), f32("src", 3, 5), dim=1),
    call("aten::take", f32("self", 3, 4), i64("index", 20)),
    call("aten::embedding", f32("weight", 11, 4), i64("indices", 3, 5)),
    call("aten::embedding_dense_backward", f32("grad_output", 3, 5, 4), i64("indices", 3, 5),
         num_weights=11, padding_idx=-1, scale_grad_by_freq=False),
    call("aten::_embedding_bag", f32("weight", 11, 4), i64("indices", 12), i64("offsets", 4)),
    call("aten::nll_loss_forward", f32("self", 6, 10), i64("target", 6), f32("weight", 10), reduction=1,
         ignore_index=-100),
    call("aten::nll_loss2d_backward", f32("grad_output"), f32("self", 2, 5, 3, 3), i64("target", 2, 3, 3),
         f32("total_weight"), reduction=1, ignore_index=-100),
    call("aten::_ctc_loss", f32("log_probs", 12, 3, 6), i64("targets", 3, 4), input_lengths=[12] * 3,
         target_lengths=[4, 3, 4]),
    call("aten::max_unpool2d", f32("self", 2, 3, 4, 4), i64("indices", 2, 3, 4, 4), output_size=[8, 8]),
    call("aten::bincount", i64("self", 20)),
    call("aten::repeat_interleave.Tensor", i64("repeats", 7), output_size=30),
    call("aten::repeat_interleave.self_int", f32("self", 3, 4), repeats=2, dim=1),
    call("aten::linalg_cholesky_ex", f32("self", 4, 4)),
    call("aten::linalg_inv_ex", f32("A", 2, 5, 5)),
    call("aten::linalg_lu_solve", f32("LU", 4, 4), ("pivots", "int32", (4,)), f32("B", 4, 2)),
    call("aten::linalg_householder_product", f32("input", 5, 3), f32("tau", 3)),
    call("aten::binary_cross_entropy", f32("self", 8), f32("target", 8)),
    call("aten::multinomial", f32("self", 3, 6), num_samples=4),
    call("aten::bernoulli", f32("self", 8)),
    call("aten::pow.Tensor_Scalar", f32("self", 8), exponent=0.3),
    call("aten::pow.Tensor_Tensor", i64("self", 8), i64("exponent", 8)),
    call("aten::fmod.Tensor", i64("self", 8), i64("other", 8)),
    call("aten::acosh", f32("self", 8)),
    call("aten::_foreach_sqrt_", f32("self[0]", 3), f32("self[1]", 2, 2)),
    call("aten::_fused_adamw_", *(f32(f"{n}[0]", 4, 3) for n in ("self", "grads", "exp_avgs", "exp_avg_sqs")),
         f32("state_steps[0]"), max_exp_avg_sqs=[], lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.0, eps=1e-8,
         amsgrad=False, maximize=False),
    call("aten::searchsorted.Tensor", f32("sorted_sequence", 2, 9), f32("self", 2, 4)),
    call("aten::native_batch_norm", f32("input", 4, 3, 5), f32("running_mean", 3), f32("running_var", 3),
         training=False, momentum=0.1, eps=1e-5),
    call("aten::native_layer_norm_backward", f32("grad_out", 4, 6), f32("input", 4, 6), f32("mean", 4, 1),
         f32("rstd", 4, 1), normalized_shape=[6], output_mask=[True, False, False]),
    call("aten::native_group_norm_backward", f32("grad_out", 2, 6, 4), f32("input", 2, 6, 4), f32("mean", 2, 3),
         f32("rstd", 2, 3), N=2, C=6, HxW=4, group=3, output_mask=[True, False, False]),
    call("aten::max_pool2d_with_indices_backward", f32("grad_output", 2, 3, 2, 2), f32("self", 2, 3, 4, 4),
         i64("indices", 2, 3, 2, 2), kernel_size=[2, 2], stride=[2, 2], padding=[0, 0], dilation=[1, 1],
         ceil_mode=False),
    call("aten::as_strided", f32("self", 2, 3), size=[4, 4], stride=[1, 2], storage_offset=3),
    call("aten::masked_scatter", f32("self", 4, 4), ("mask", "bool", (4, 4)), f32("source", 5)),
    call("aten::bitwise_left_shift.Tensor", ("self", "int8", (9,)), ("other", "int8", (9,))),
    call("aten::histogram.bins_tensor", f32("self", 9), f32("bins", 5)),
    call("aten::convolution", f32("input", 2, 3, 8, 8), f32("weight", 4, 3, 3, 3), stride=[1, 1], padding=[0, 0],
         dilation=[1, 1], transposed=False, output_padding=[0, 0], groups=1),
]  # fmt: skip


@pytest.mark.parametrize("one", CALLS, ids=lambda one: f"{one.name}")
def test_the_cpu_takes_what_is_drawn(one: OpCall) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [try_on_cpu(one, seed) for seed in range(3)] == ["ok"] * 3


@pytest.mark.parametrize("one", CALLS, ids=lambda one: f"{one.name}")
def test_the_same_seed_draws_the_same(one: OpCall) -> None:
    def values(seed: int) -> list[Tensor]:
        args, kwargs = draw(signature_of(one), seed).placed(lambda tensor: tensor)
        return [t for t in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(t, Tensor)]

    first, second = values(3), values(3)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    for tensor, spec in zip(first, one.inputs, strict=False):
        assert str(tensor.dtype).removeprefix("torch.") in {s.dtype for s in one.inputs}, spec


def test_what_is_written_without_accumulation_is_written_once() -> None:
    index = argument(
        draw(signature("aten::scatter.src", f32("self", 4, 9), i64("index", 4, 6), f32("src", 4, 6), dim=1)), "index"
    )
    assert all(len(set(line.tolist())) == 6 for line in index)
    put = draw(
        signature("aten::index_put", f32("self", 3, 4), i64("indices[0]", 12), i64("indices[1]", 12), f32("values", 12))
    )
    rows, columns = argument(put, "indices")
    assert len(set(zip(rows.tolist(), columns.tolist(), strict=True))) == 12


def test_places_that_must_repeat_are_told() -> None:
    assert draw(signature("aten::index_copy", f32("self", 3), i64("index", 5), f32("source", 5), dim=0)).ties
    assert not draw(signature("aten::index_copy", f32("self", 5), i64("index", 5), f32("source", 5), dim=0)).ties


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32"])
def test_values_to_be_sorted_differ(dtype: str) -> None:
    sample = draw(signature("aten::sort", ("self", dtype, (20, 30)), dim=-1))
    assert argument(sample, "self").unique().numel() == 600
    assert not sample.ties


def test_more_values_than_the_dtype_has_are_told() -> None:
    assert draw(signature("aten::sort", ("self", "int8", (300,)), dim=-1)).ties
    assert draw(signature("aten::argmax", ("self", "bool", (300,)))).ties


def test_saved_statistics_are_those_of_the_input() -> None:
    sample = draw(
        signature("aten::native_layer_norm_backward", f32("grad_out", 4, 6), f32("input", 4, 6), f32("mean", 4, 1),
                  f32("rstd", 4, 1), normalized_shape=[6], output_mask=[True, False, False])
    )  # fmt: skip
    torch.testing.assert_close(argument(sample, "mean"), argument(sample, "input").mean(1, keepdim=True))
    tensors = (TensorArgument("grad_output", "float32", (3, 5)), TensorArgument("output", "float32", (3, 5)))
    softmax = draw(Signature("aten::_softmax_backward_data", tensors, (("dim", "1"), ("input_dtype", "torch.float32"))))
    torch.testing.assert_close(argument(softmax, "output").sum(1), torch.ones(3))


def test_indices_that_only_the_device_can_make_come_from_its_own_forward_run() -> None:
    sample = draw(
        signature("aten::max_pool2d_with_indices_backward", f32("grad_output", 1, 1, 2, 2), f32("self", 1, 1, 4, 4),
                  ("indices", "int8", (1, 1, 2, 2)), kernel_size=[2, 2], stride=[2, 2], padding=[0, 0],
                  dilation=[1, 1], ceil_mode=False)
    )  # fmt: skip
    assert isinstance(argument(sample, "indices"), Derived)
    placed: list[Tensor] = []

    def place(tensor: Tensor) -> Tensor:
        placed.append(tensor)
        return tensor

    args, _ = sample.placed(place)
    assert args[-1].dtype == torch.int64  # what this forward run returns
    assert any(tensor.shape == (1, 1, 4, 4) for tensor in placed)


def test_a_placement_leaves_the_sample_as_it_is() -> None:
    sample = draw(signature("aten::relu_", f32("self", 50)))
    before = argument(sample, "self").clone()
    args, kwargs = sample.placed(lambda tensor: tensor)
    sample.operator(*args, **kwargs)
    assert torch.equal(argument(sample, "self"), before)


def test_a_device_among_the_arguments_becomes_the_one_of_the_run() -> None:
    sample = draw(Signature("aten::ones", (), (("size", "[2]"), ("device", "device(type='npu', index=0)"))))
    _, kwargs = sample.placed(lambda tensor: tensor, "meta")
    assert kwargs["device"] == torch.device("meta")


@pytest.mark.parametrize(
    ("given_", "reason"),
    [
        (signature("own::mystery", f32("self", 2)), "has no operator own::mystery"),
        (Signature("aten::relu", (TensorArgument("self", "float32", ("s0", 2)),)), "size of self is unknown"),
        (signature("aten::relu", ("self", "hifloat8", (2,))), "hifloat8"),
        (Signature("aten::view", (TensorArgument("self", "float32", (2,)),), (("size", "[1, 2"),)), "size was not"),
        (signature("aten::embedding", f32("weight", 0, 4), i64("indices", 3)), "dimension of size zero"),
        (
            Signature("aten::relu", (TensorArgument("self", "float32", (2,)),), (("layout", "torch.sparse_coo"),)),
            "sparse",
        ),
    ],
)
def test_what_cannot_be_made_has_a_reason(given_: Signature, reason: str) -> None:
    with pytest.raises(Unsampled, match=reason):
        draw(given_)


def test_names_that_a_trace_left_out_are_those_of_the_schema() -> None:
    sample = draw(Signature("aten::mm", (TensorArgument("", "float32", (2, 3)), TensorArgument("", "float32", (3, 4)))))
    assert argument(sample, "mat2").shape == (3, 4)


def test_a_list_of_numbers_cut_by_the_trace_is_filled_up() -> None:
    tensors = tuple(TensorArgument(f"self[{i}]", "float32", (2,)) for i in range(5))
    sample = draw(Signature("aten::_foreach_add.ScalarList", tensors, (("scalars", "[0.5, 1.5, 2."),)))
    assert argument(sample, "scalars") == [0.5, 1.5, 0.5, 1.5, 0.5]


def test_tensors_too_large_for_the_host_are_made_smaller_together() -> None:
    sample = draw(signature("aten::mm", f32("self", 512, 4096), f32("mat2", 4096, 1024)), limit=2**20)
    left, right = argument(sample, "self"), argument(sample, "mat2")
    assert left.shape[1] == right.shape[0]
    assert 8 * (left.numel() + right.numel()) <= 2**20
    assert "sizes above" in sample.scaled


def test_what_does_not_make_sense_when_smaller_is_refused() -> None:
    with pytest.raises(Unsampled, match="does not accept smaller ones"):
        draw(signature("aten::view", f32("self", 4096, 4096), size=[1024, 16384]), limit=2**20)


def test_a_result_too_large_for_the_host_counts_too() -> None:
    with pytest.raises(Unsampled, match="MB in double precision"):
        draw(Signature("aten::zeros", (), (("size", "[1000000, 1000000]"),)))


def test_a_list_of_a_fixed_length_is_not_made_up() -> None:
    with pytest.raises(Unsampled, match="the argument mask was not recorded"):
        draw(signature("aten::matmul_backward", f32("grad", 2, 2), f32("self", 2, 3), f32("other", 3, 2)))


UNARY = ["log", "sqrt", "rsqrt", "lgamma", "digamma", "acos", "asin", "atanh", "acosh", "erfinv", "logit", "reciprocal"]


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(UNARY),
    dtype=st.sampled_from(["float32", "float16", "bfloat16", "float64", "int32", "uint8", "bool"]),
    shape=st.lists(st.integers(0, 7), max_size=4).map(tuple),
    seed=st.integers(0, 2**31),
)
def test_no_domain_is_left(name: str, dtype: str, shape: tuple[int, ...], seed: int) -> None:
    assert try_on_cpu(call(f"aten::{name}", ("self", dtype, shape)), seed) == "ok"
