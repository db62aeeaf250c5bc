"""Building a model on the host: what would not fit is reserved only."""

from __future__ import annotations

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from opscan.probing.rehearsal.construction import Construction
from opscan.probing.rehearsal.knowledge import Knowledge, Value
from opscan.probing.rehearsal.sizes import resident

MB = 1 << 20


class Building(TorchDispatchMode):
    """Every operator goes through a construction with so many bytes to fill."""

    def __init__(self, budget: int) -> None:
        super().__init__()
        self.knowledge = Knowledge()
        self.construction = Construction(self.knowledge, budget)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        inputs = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        return self.construction.run(func, args, kwargs, inputs)


def test_small_tensors_are_filled_whatever_the_budget():
    with Building(0) as building:
        layer = torch.nn.Linear(16, 16)
        torch.nn.init.ones_(layer.weight)
    assert layer.weight.sum() == 256
    assert building.knowledge.of([layer.weight]) is Value.CONSTANT
    assert not building.construction.left_out


def test_large_tensors_within_the_budget_are_filled():
    with Building(64 * MB) as building:
        tensor = torch.ones(4, MB)
    assert tensor[3, MB - 1] == 1
    assert building.knowledge.of([tensor]) is Value.CONSTANT
    assert not building.construction.given_up


def test_beyond_the_budget_values_are_unknown_and_memory_is_not_touched():
    before = resident()
    with Building(64 * MB) as building:
        filled = torch.ones(16 * MB)
        layer = torch.nn.Linear(16_384, 16_384)  # 1 GB, and initialised
        sums = layer.weight + layer.weight
    assert resident() - before < 200 * MB
    assert filled[-1] == 1
    assert layer.weight.shape == (16_384, 16_384)
    assert building.construction.given_up
    assert building.knowledge.of([layer.weight]) is Value.UNKNOWN
    assert building.knowledge.of([sums]) is Value.UNKNOWN
    assert sum(building.construction.left_out.values()) >= 2 << 30


def test_once_a_model_is_too_large_nothing_large_is_filled():
    with Building(64 * MB) as building:
        torch.ones(32 * MB)
        late = torch.zeros(4 * MB)
        small = torch.zeros(4)
    assert building.knowledge.of([late]) is Value.UNKNOWN
    assert building.knowledge.of([small]) is Value.CONSTANT


def test_a_tensor_of_a_gigabyte_is_never_filled():
    with Building(1 << 60) as building:
        torch.zeros(1 << 28)
    assert building.construction.given_up


def test_filling_the_same_memory_again_costs_nothing_more():
    with Building(40 * MB) as building:
        tensor = torch.empty(8 * MB)
        for _ in range(5):
            tensor.fill_(2)
    assert tensor[-1] == 2
    assert not building.construction.given_up


def test_in_place_operators_return_their_argument():
    with Building(8 * MB) as building:
        tensor = torch.empty(16 * MB)
        assert tensor.normal_() is tensor
        assert tensor.mul_(2) is tensor
        torch._foreach_mul_([tensor], 2)
    assert building.knowledge.of([tensor]) is Value.UNKNOWN


def test_empty_large_memory_is_fresh_and_can_be_written_to():
    with Building(64 * MB) as building:
        tensor = torch.empty(2 * MB, 4)
        tensor[0] = torch.arange(4.0)
    assert tensor[0].tolist() == [0, 1, 2, 3]
    assert building.knowledge.of([tensor]) is Value.CONSTANT


def test_reserved_tensors_have_the_strides_of_the_result():
    with Building(0):
        tensor = torch.empty(4, 1024, 1024).transpose(0, 2)
        like = torch.zeros_like(tensor)
    assert like.stride() == tensor.stride()
    assert like.dtype is torch.float32


def test_views_of_what_was_left_out_stay_views():
    with Building(0) as building:
        tensor = torch.zeros(4, MB)
        view = tensor[1:].t()
    assert view.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()
    assert building.knowledge.of([view]) is Value.UNKNOWN
