"""What is known of the values in memory."""

from __future__ import annotations

import pytest
import torch

from opscan.probing.rehearsal.knowledge import Knowledge, Value, is_fresh


def test_memory_that_was_never_told_of_is_constant():
    assert Knowledge().of([torch.ones(2), torch.ones(3)]) is Value.CONSTANT
    assert Knowledge().of([]) is Value.CONSTANT


def test_the_least_that_is_known_counts():
    knowledge = Knowledge()
    data, unknown = torch.ones(2), torch.ones(2)
    knowledge.learn([data], Value.DATA)
    knowledge.learn([unknown], Value.UNKNOWN)
    assert knowledge.of([torch.ones(1), data]) is Value.DATA
    assert knowledge.of([data, unknown]) is Value.UNKNOWN


def test_views_know_what_their_base_knows():
    knowledge = Knowledge()
    base = torch.ones(4, 4)
    knowledge.learn([base[1]], Value.UNKNOWN)
    assert knowledge.of([base.t()]) is Value.UNKNOWN
    knowledge.learn([base], Value.CONSTANT)
    assert knowledge.of([base[2:]]) is Value.CONSTANT


@pytest.mark.filterwarnings("ignore::UserWarning")  # torch has more to say of nested and quantized tensors
def test_nothing_is_known_of_tensors_that_cannot_be_looked_into():
    knowledge = Knowledge()
    sparse = torch.eye(3).to_sparse()
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(1)])
    knowledge.learn([sparse, nested], Value.DATA)
    assert knowledge.of([sparse]) is Value.UNKNOWN
    assert knowledge.of([nested]) is Value.UNKNOWN
    assert knowledge.of([torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)]) is Value.UNKNOWN
    assert knowledge.of([torch.ones(2)]) is Value.CONSTANT


def test_tensors_without_memory():
    knowledge = Knowledge()
    knowledge.learn([torch.empty(0), torch.ones(2, device="meta")], Value.UNKNOWN)
    assert knowledge.of([torch.ones(3, device="meta"), torch.empty(0)]) is Value.CONSTANT


def test_operators_that_only_allocate():
    aten = torch.ops.aten
    assert all(map(is_fresh, (aten.empty.memory_format, aten.empty_strided.default, aten.new_empty.default)))
    assert not any(map(is_fresh, (aten.zeros.default, aten.ones_like.default)))
