"""How much memory an operator is about to touch."""

from __future__ import annotations

import pytest
import torch

from opscan.probing.rehearsal.sizes import bytes_filled, bytes_of


def test_the_largest_argument_counts():
    small, large = torch.ones(2), torch.ones(10, 10, dtype=torch.float64)
    assert bytes_filled((small, large), {}, [small, large]) == 800


def test_what_is_made_counts():
    assert bytes_filled(([1000, 1000],), {"dtype": torch.int8}, []) == 1_000_000
    assert bytes_filled(([1000, 1000],), {}, []) == 4_000_000
    assert bytes_filled(([],), {"dtype": torch.int64}, []) == 8


def test_a_view_counts_every_time_that_it_shows_an_element():
    assert bytes_of(torch.ones(1).expand(1 << 20, 1 << 20)) == 4 << 40
    assert bytes_of(torch.ones(0, 5)) == 0


@pytest.mark.filterwarnings("ignore::UserWarning")  # torch has more to say of nested tensors
def test_nested_and_lazy_tensors_have_a_size():
    assert bytes_of(torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)])) == 36
    assert bytes_of(torch.nn.LazyLinear(3).weight) == 0
