"""Going on behind a call that the adapter refused."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from opscan.probing.rehearsal.knowledge import Value
from opscan.probing.rehearsal.refusals import has_kernel, in_one_line, is_wrong, result_behind, shaped_like
from opscan.probing.rehearsal.shadow import Expected

aten = torch.ops.aten
CPU = torch.device("cpu")


def computed(*leaves: Any, written: tuple[torch.Tensor, ...] = ()) -> Expected:
    return Expected(Value.DATA, list(written), computed=True, leaves=list(leaves))


def unknown(*written: torch.Tensor) -> Expected:
    return Expected(Value.UNKNOWN, list(written))


def wrong(*written: torch.Tensor) -> Expected:
    return Expected(Value.DATA, list(written), error=RuntimeError("wrong on any device"))


def test_shapes_of_what_the_cpu_computed():
    found = result_behind(aten.nonzero.default, computed(torch.ones(2, 1, dtype=torch.long)), None, CPU)
    assert found is not None
    assert (found[0].shape, found[0].dtype) == ((2, 1), torch.int64)


def test_several_results_one_of_them_nothing():
    expected = computed(torch.ones(2), None, torch.ones(3))
    (made,) = result_behind(aten.convolution_backward.default, expected, None, CPU)
    assert [None if t is None else tuple(t.shape) for t in made] == [(2,), None, (3,)]


def test_shapes_of_the_shape_function_where_nothing_was_computed():
    args = (torch.ones(2, 3), torch.ones(3, 4))
    (made,) = result_behind(aten.mm.default, unknown(), shaped_like(aten.mm.default, args, {}), CPU)
    assert made.shape == (2, 4)


def test_a_list_of_results():
    like = shaped_like(aten._foreach_add.Scalar, ([torch.ones(2), torch.ones(3)], 1), {})
    (made,) = result_behind(aten._foreach_add.Scalar, unknown(), like, CPU)
    assert [tuple(t.shape) for t in made] == [(2,), (3,)]


def test_factories_are_asked_for_their_shape_elsewhere():
    like = shaped_like(aten.zeros.default, ([2, 2],), {"device": CPU})
    assert like.device.type == "meta"


@pytest.mark.parametrize("expected", [wrong(), unknown()])
def test_no_result_of_a_call_that_is_wrong_on_any_device(expected):
    args = (torch.ones(2, 3), torch.ones(2, 3))
    like = shaped_like(aten.mm.default, args, {})
    assert like is None
    assert result_behind(aten.mm.default, expected, like, CPU) is None


def test_in_place_operators_return_what_they_write_to():
    tensor = torch.ones(2)
    (found,) = result_behind(aten.relu_.default, computed(tensor.clone(), written=(tensor,)), None, CPU)
    assert found is tensor
    like = shaped_like(aten.relu_.default, (tensor,), {})
    (found,) = result_behind(aten.relu_.default, unknown(tensor), like, CPU)
    assert found is tensor


def test_some_results_are_arguments_and_others_are_not():
    values, indices = torch.ones(1), torch.ones(1, dtype=torch.long)
    leaves = (values.clone(), indices.clone())
    (made,) = result_behind(aten.max.dim_max, computed(*leaves, written=(values, indices)), None, CPU)
    assert made[0] is values
    assert made[1] is indices
    mean, variance = torch.ones(3), torch.ones(3)
    (made,) = result_behind(
        aten._native_batch_norm_legit.default,
        computed(torch.ones(4, 3), torch.ones(3), torch.ones(3), written=(mean, variance)),
        None,
        CPU,
    )
    assert [tuple(t.shape) for t in made] == [(4, 3), (3,), (3,)]


def test_operators_that_return_nothing():
    assert result_behind(aten._foreach_add_.Scalar, unknown(torch.ones(2)), None, CPU) == (None,)
    assert result_behind(aten._foreach_add_.Scalar, wrong(torch.ones(2)), None, CPU) is None
    assert result_behind(aten._linalg_check_errors.default, computed(None), None, CPU) == (None,)


def test_no_result_that_the_device_has_no_memory_for():
    assert result_behind(aten.to_sparse.default, computed(torch.eye(2).to_sparse()), None, CPU) is None


# --- calls that the adapter lets pass ---------------------------------------------------------------------------


def failed(func: Any, *args: Any) -> Expected:
    """What the CPU says to a call."""
    with pytest.raises(Exception) as raised:  # noqa: PT011
        func(*args)
    assert isinstance(raised.value, Exception)
    return Expected(Value.DATA, error=raised.value)


@pytest.mark.parametrize(
    ("func", "args"),
    [
        (aten.mm.default, (torch.ones(2, 3), torch.ones(2, 3))),
        (aten.add.Tensor, (torch.ones(2), torch.ones(3))),
        (aten.embedding.default, (torch.ones(4, 2), torch.tensor([9]))),
        (aten.gather.default, (torch.ones(4), 0, torch.tensor([9]))),
        (aten.index.Tensor, (torch.ones(4), [torch.tensor([9])])),
    ],
)
def test_shapes_and_indices_that_are_wrong_anywhere(func, args):
    assert is_wrong(func, args, {}, failed(func, *args))


@pytest.mark.parametrize(
    ("func", "args"),
    [
        (aten.mm.default, (torch.ones(2, 3), torch.ones(3, 2).half())),  # dtypes are the device's own matter
        (aten.bitwise_and.Tensor, (torch.ones(2), torch.ones(2))),
        (aten.linalg_cholesky.default, (-torch.eye(2),)),  # the shape is right, the numbers are not
    ],
)
def test_what_another_device_may_take(func, args):
    assert not is_wrong(func, args, {}, failed(func, *args))


def test_an_operator_without_a_kernel_is_no_wrong_call():
    library = torch.library.Library("opscan_refusals_test", "DEF")
    library.define("none(Tensor x) -> Tensor")
    func = torch.ops.opscan_refusals_test.none.default
    expected = failed(func, torch.ones(2))
    assert not has_kernel(expected)
    assert not is_wrong(func, (torch.ones(2),), {}, expected)
    assert has_kernel(wrong())


# --- the adapter's words --------------------------------------------------------------------------------------


def test_words_without_stamp_and_stack():
    text = "call aclnnFoo failed, detail:EZ1001\n[ERROR] 2025-01-01-10:00:00 (PID:1, Device:0, RankID:-1) ERR01100\n"
    assert in_one_line(RuntimeError(text)) == "call aclnnFoo failed, detail:EZ1001"


def test_the_code_is_added_where_it_comes_later():
    text = "Expected x.\n[ERROR] 2025-01-01-10:00:00 (PID:1, Device:0, RankID:-1) ERR01007 OPS feature not supported\n"
    assert in_one_line(RuntimeError(text)) == "Expected x (ERR01007)"


def test_a_message_that_begins_with_a_stamp():
    text = "[ERROR] 2025-01-01-10:00:00 (PID:1, Device:0, RankID:-1) ERR00100 PTA call acl api failed"
    assert in_one_line(RuntimeError(text)) == "ERR00100 PTA call acl api failed"


def test_words_are_never_empty_or_endless():
    assert in_one_line(ValueError("")) == "ValueError"
    assert len(in_one_line(ValueError("x" * 5000))) == 200
