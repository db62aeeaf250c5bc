"""What the CPU computes beside the device, here with CPU tensors that a device has made and left as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves

from opscan.probing.rehearsal import shadow as module
from opscan.probing.rehearsal.knowledge import Knowledge, Value
from opscan.probing.rehearsal.shadow import Expected, Shadow, written_by

aten = torch.ops.aten


@pytest.fixture
def shadow() -> Shadow:
    return Shadow(Knowledge(), 1 << 40)


def run(shadow: Shadow, func: Any, args: tuple[Any, ...], make: Callable[[], Any], **kwargs: Any) -> Any:
    """One call, as the recorder makes it; ``make`` returns what the device has made."""
    expected, out = called(shadow, func, args, make, **kwargs)
    return shadow.settle(func, out, expected)


def called(
    shadow: Shadow, func: Any, args: tuple[Any, ...], make: Callable[[], Any], **kwargs: Any
) -> tuple[Expected, Any]:
    inputs = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    expected = shadow.expect(func, args, kwargs, inputs)
    if func._schema.is_mutable:
        shadow.compute(expected, func, args, kwargs, ())
    out = make()
    shadow.compute(expected, func, args, kwargs, out)
    return expected, out


def test_the_result_is_written_into_the_devices_memory(shadow):
    made = torch.zeros(3)
    out = run(shadow, aten.add.Tensor, (torch.arange(3.0), torch.ones(3)), lambda: made)
    assert out is made
    assert made.tolist() == [1, 2, 3]
    assert shadow.knowledge.of([out]) is Value.CONSTANT
    assert not shadow.is_partial


def test_strides_of_the_device_are_kept(shadow):
    made = torch.zeros(3, 2).t()
    run(shadow, aten.neg.default, (torch.ones(2, 3),), lambda: made)
    assert made.stride() == (1, 2)
    assert made.tolist() == [[-1] * 3] * 2


def test_in_place_operators_are_computed_first_and_written_behind_the_device(shadow):
    tensor = torch.arange(4.0)
    seen = []

    def device():
        seen.append(tensor.tolist())
        return tensor

    assert run(shadow, aten.add_.Tensor, (tensor, tensor[1:2]), device) is tensor
    assert seen == [[0, 1, 2, 3]]
    assert tensor.tolist() == [1, 2, 3, 4]


def test_views_that_are_written_to_change_their_base(shadow):
    base = torch.zeros(2, 3)
    view = base[:, 1]
    run(shadow, aten.fill_.Scalar, (view, 7), lambda: view)
    assert base.tolist() == [[0, 7, 0], [0, 7, 0]]


def test_lists_that_are_written_to(shadow):
    tensors = [torch.ones(2), torch.ones(3)]
    assert run(shadow, aten._foreach_mul_.Scalar, (tensors, 3), lambda: None) is None
    assert [t.tolist() for t in tensors] == [[3, 3], [3, 3, 3]]


def test_a_result_given_by_the_caller(shadow):
    out = torch.zeros(2)
    run(shadow, aten.add.out, (torch.ones(2), torch.ones(2)), lambda: out, out=out)
    assert out.tolist() == [2, 2]


def test_statistics_that_batch_norm_updates(shadow):
    mean, variance = torch.zeros(3), torch.ones(3)
    tensor = torch.arange(12.0).reshape(4, 3)
    made = tuple(torch.zeros(n) for n in ((4, 3), (3,), (3,)))
    args = (tensor, None, None, mean, variance, True, 0.5, 1e-5)
    run(shadow, aten._native_batch_norm_legit.default, args, lambda: made)
    assert mean.tolist() == [2.25, 2.75, 3.25]
    torch.testing.assert_close(made[0].mean(0), torch.zeros(3))


def test_results_whose_shape_depends_on_data_are_replaced(shadow):
    out = run(shadow, aten.nonzero.default, (torch.tensor([0, 5, 0, 7]),), lambda: torch.zeros(4, 1, dtype=torch.long))
    assert out.tolist() == [[1], [3]]


def test_numbers_are_the_cpus(shadow):
    assert run(shadow, aten._local_scalar_dense.default, (torch.tensor(4.5),), lambda: 0.0) == 4.5


def test_another_shape_where_it_may_not_be_is_not_known(shadow):
    made = torch.zeros(7)
    out = run(shadow, aten.neg.default, (torch.ones(3),), lambda: made)
    assert out is made
    assert shadow.knowledge.of([out]) is Value.UNKNOWN


def test_a_float64_that_the_device_narrows_is_known(shadow):
    made = torch.zeros(2)
    run(shadow, aten.neg.default, (torch.ones(2, dtype=torch.float64),), lambda: made)
    assert made.tolist() == [-1, -1]


def test_indices_that_the_device_keeps_in_another_form_are_left_alone(shadow):
    values, mask = torch.zeros(1), torch.full((1,), 9, dtype=torch.int8)
    tensor = torch.zeros(300)
    tensor[299] = 1
    run(shadow, aten.max.dim, (tensor, 0, True), lambda: (values, mask))
    assert values.tolist() == [1]
    assert mask.tolist() == [9]
    assert shadow.knowledge.of([values]) is Value.CONSTANT
    assert shadow.knowledge.of([mask]) is Value.UNKNOWN


def test_narrower_indices_that_fit_are_known(shadow):
    values, indices = torch.zeros(1), torch.zeros(1, dtype=torch.int32)
    run(shadow, aten.max.dim, (torch.tensor([3.0, 9.0]), 0, True), lambda: (values, indices))
    assert indices.tolist() == [1]
    assert shadow.knowledge.of([indices]) is Value.CONSTANT


@pytest.mark.filterwarnings("ignore::UserWarning")  # torch has more to say of quantized tensors
def test_sparse_and_quantized_results_are_not_known(shadow):
    made = torch.quantize_per_tensor(torch.zeros(2), 0.1, 0, torch.qint8)
    out = run(shadow, aten.quantize_per_tensor.default, (torch.ones(2), 0.1, 0, torch.qint8), lambda: made)
    assert out is made
    assert shadow.knowledge.of([out]) is Value.UNKNOWN
    plain = run(shadow, aten.dequantize.self, (out,), lambda: torch.zeros(2))
    assert shadow.knowledge.of([plain]) is Value.UNKNOWN
    assert shadow.is_partial


def test_nothing_is_computed_from_what_is_not_known(shadow):
    unknown, made = torch.ones(2), torch.zeros(2)
    shadow.knowledge.learn([unknown], Value.UNKNOWN)
    run(shadow, aten.neg.default, (unknown,), lambda: made)
    assert made.tolist() == [0, 0]
    assert shadow.knowledge.of([made]) is Value.UNKNOWN
    assert shadow.is_partial


def test_what_is_written_to_unseen_is_not_known(shadow):
    unknown, tensor, other = torch.ones(2), torch.ones(2), torch.ones(2)
    shadow.knowledge.learn([unknown], Value.UNKNOWN)
    run(shadow, aten.add_.Tensor, (tensor, unknown), lambda: tensor)
    run(shadow, aten._foreach_add_.List, ([other], [unknown]), lambda: None)
    assert shadow.knowledge.of([tensor]) is Value.UNKNOWN
    assert shadow.knowledge.of([other]) is Value.UNKNOWN
    assert tensor.tolist() == other.tolist() == [1, 1]


def test_what_a_reference_does_not_read_need_not_be_known(shadow):
    tensor, mask, made = torch.rand(1, 1, 4, 4), torch.zeros(1, dtype=torch.int8), torch.zeros(1, 1, 4, 4)
    shadow.knowledge.learn([mask], Value.UNKNOWN)
    args = (torch.ones(1, 1, 2, 2), tensor, [2, 2], [2, 2], [0, 0], [1, 1], False, mask)
    run(shadow, aten.max_pool2d_with_indices_backward.default, args, lambda: made)
    assert made.sum() == 4
    assert shadow.knowledge.of([made]) is Value.CONSTANT


def test_random_numbers_are_data(shadow):
    made = torch.zeros(100)
    out = run(shadow, aten.bernoulli.default, (torch.full((100,), 0.5),), lambda: made)
    assert 0 < made.sum() < 100
    assert shadow.knowledge.of([out]) is Value.DATA


def test_a_generator_of_the_devices_draws_no_numbers_here(shadow):
    generator = torch.Generator().manual_seed(3)
    before = generator.get_state()
    made = torch.zeros(5)
    run(shadow, aten.rand.generator, ([5],), lambda: made, generator=generator, device=torch.device("meta"))
    assert made.min() > 0
    assert torch.equal(generator.get_state(), before)


def test_views_and_fresh_memory_need_nothing(shadow):
    tensor = torch.ones(2, 2)
    view = tensor.t()
    shadow.knowledge.learn([tensor], Value.DATA)
    assert run(shadow, aten.t.default, (tensor,), lambda: view) is view
    assert shadow.knowledge.of([view]) is Value.DATA
    fresh = run(shadow, aten.empty.memory_format, ([2],), lambda: torch.zeros(2))
    assert shadow.knowledge.of([fresh]) is Value.CONSTANT
    assert not shadow.is_partial


def test_an_error_of_the_cpus_is_kept(shadow):
    expected, _ = called(shadow, aten.mm.default, (torch.ones(2, 3), torch.ones(2, 3)), lambda: None)
    assert not expected.computed
    assert "cannot be multiplied" in str(expected.error)
    assert "aten::mm" in shadow.missing


def test_an_operator_without_a_cpu_kernel_is_named(shadow):
    library = torch.library.Library("opscan_shadow_test", "DEF")
    library.define("none(Tensor x) -> Tensor")
    made = torch.zeros(2)
    out = run(shadow, torch.ops.opscan_shadow_test.none.default, (torch.ones(2),), lambda: made)
    assert shadow.knowledge.of([out]) is Value.UNKNOWN
    assert list(shadow.missing) == ["opscan_shadow_test::none"]


# --- how much is computed -------------------------------------------------------------------------------------


def test_a_view_of_a_terabyte_is_not_computed(shadow):
    made = torch.zeros(())
    big = torch.ones(1).expand(1 << 20, 1 << 18)
    run(shadow, aten.sum.default, (big,), lambda: made)
    assert shadow.knowledge.of([made]) is Value.UNKNOWN
    assert shadow.largest == 1 << 40


def test_a_result_of_a_terabyte_is_not_computed(shadow):
    made = torch.zeros(1).expand(1 << 20, 1 << 18)
    tensor = torch.ones(1 << 18)
    run(shadow, aten.mul.Tensor, (torch.ones(1 << 20, 1), tensor), lambda: made)
    assert made[0, 0] == 0
    assert shadow.knowledge.of([made]) is Value.UNKNOWN
    assert shadow.largest == 1 << 40


def test_many_tensors_of_a_list_count_together(shadow, monkeypatch):
    monkeypatch.setattr(module, "_LARGEST", 1000)
    tensors = [torch.ones(100) for _ in range(3)]
    run(shadow, aten._foreach_mul_.Scalar, (tensors, 3), lambda: None)
    assert tensors[0][0] == 1
    assert shadow.knowledge.of(tensors) is Value.UNKNOWN


def test_time_that_is_spent_leaves_small_operators():
    shadow = Shadow(Knowledge(), 1 << 40, seconds=-1.0)
    large, small = torch.zeros(1 << 19), torch.zeros(2)
    run(shadow, aten.neg.default, (torch.ones(1 << 19),), lambda: large)
    run(shadow, aten.neg.default, (torch.ones(2),), lambda: small)
    assert large[0] == 0
    assert small[0] == -1
    assert "seconds" in shadow.reason


def test_memory_that_is_used_up_leaves_small_operators():
    shadow = Shadow(Knowledge(), 1)
    large, small = torch.zeros(1 << 25), torch.zeros(2)
    run(shadow, aten.neg.default, (torch.ones(1 << 25),), lambda: large)
    run(shadow, aten.neg.default, (torch.ones(2),), lambda: small)
    assert large[0] == 0
    assert small[0] == -1
    assert "memory" in shadow.reason


def test_weights_that_were_not_filled_leave_small_operators(shadow):
    shadow.only_small = True
    large, small = torch.zeros(1 << 19), torch.zeros(2)
    run(shadow, aten.neg.default, (torch.ones(1 << 19),), lambda: large)
    run(shadow, aten.neg.default, (torch.ones(2),), lambda: small)
    assert (large[0], small[0]) == (0, -1)


# --- what else an expectation says ----------------------------------------------------------------------------


def of(*leaves: Any) -> Expected:
    return Expected(Value.DATA, computed=True, leaves=list(leaves))


def test_the_first_result_may_be_of_another_kind():
    whole, real = torch.zeros(1, dtype=torch.int64), torch.zeros(1)
    assert of(real).other_kind(whole) == (torch.float32, torch.int64)
    assert of(real).other_kind(real.to(torch.complex64)) == (torch.float32, torch.complex64)
    assert of(real.double()).other_kind(real) is None
    assert of(real, whole).other_kind((real, real)) is None
    assert of(None).other_kind(None) is None
    assert Expected(Value.DATA).other_kind(whole) is None


def test_the_arguments_that_an_operator_writes_to():
    a, b = torch.ones(2), torch.ones(2)
    assert written_by(aten.add_.Tensor, (a, b), {})[0] is a
    assert written_by(aten.add.out, (a, a), {"out": b})[0] is b
    assert len(written_by(aten._foreach_add_.List, ([a, b], [b, a]), {})) == 2
    assert written_by(aten.add.Tensor, (a, b), {}) == []
