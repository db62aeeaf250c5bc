"""CPU versions of torch_npu's own operators, against torch's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from opscan.probing.rehearsal import references
from opscan.probing.rehearsal.references import REFERENCES

ATTENTION = {"input_layout": "BNSD", "pse": None, "keep_prob": 1.0}


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


# --- attention ------------------------------------------------------------------------------------------------


MASKS: dict[str, dict[str, Any]] = {
    "none": {},
    "causal": {"sparse_mode": 2, "atten_mask": torch.ones(2048, 2048, dtype=torch.bool).triu(1)},
    "mask": {"atten_mask": torch.tensor([[False, False, True, True, False, True, True]]).expand(5, 7)},
    "mask for each head": {"atten_mask": torch.rand(2, 4, 5, 7, generator=torch.Generator().manual_seed(3)) > 0.7},
    "one row of bytes": {"atten_mask": torch.tensor([[[[0, 1, 1, 0, 1, 0, 1]]]], dtype=torch.uint8)},
}


def torchs(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: str) -> torch.Tensor:
    """The same by torch, whose masks say what is kept."""
    given = MASKS[mask]
    left_out = given.get("atten_mask")
    if mask == "causal":
        left_out = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool).triu(1 + key.shape[2] - query.shape[2])
    kept = None if left_out is None else ~left_out.bool()
    return F.scaled_dot_product_attention(query, key, value, kept, scale=0.3, enable_gqa=True)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("key_heads", [4, 2, 1])
@pytest.mark.parametrize("scores", [1 << 30, 100])
def test_attention_forward_and_backward(mask, key_heads, scores, monkeypatch):
    monkeypatch.setattr(references, "_SCORES", scores)  # whole, and a query at a time
    query, key, value = randn(2, 4, 5, 8), randn(2, key_heads, 7, 8, seed=1), randn(2, key_heads, 7, 6, seed=2)
    leaves = [t.requires_grad_() for t in (query, key, value)]
    expected = torchs(query, key, value, mask)
    gradient = randn(2, 4, 5, 6, seed=4)
    gradients = torch.autograd.grad(expected, leaves, gradient)

    given = {"query": query.detach(), "key": key.detach(), "value": value.detach(), **ATTENTION, **MASKS[mask]}
    out, *rest = REFERENCES["npu::npu_fusion_attention_v3"]({**given, "scale": 0.3})
    torch.testing.assert_close(out, expected)
    assert rest == [None] * 5
    found = REFERENCES["npu::npu_fusion_attention_grad_v3"]({**given, "dy": gradient, "scale_value": 0.3})
    for ours, theirs in zip(found[:3], gradients, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


def test_attention_keeps_the_dtype_and_computes_in_float32():
    query = randn(1, 2, 3, 4).to(torch.float16)
    out = references.fusion_attention({"query": query, "key": query, "value": query, "scale": 0.5, **ATTENTION})[0]
    expected = F.scaled_dot_product_attention(query.float(), query.float(), query.float(), scale=0.5)
    assert out.dtype is torch.float16
    torch.testing.assert_close(out, expected.to(torch.float16))


def test_a_query_that_sees_nothing_gets_zeros():
    query = randn(1, 1, 2, 4)
    mask = torch.tensor([[True, True], [False, False]])
    given = {"query": query, "key": query, "value": query, "scale": 1.0, "atten_mask": mask, **ATTENTION}
    assert references.fusion_attention(given)[0][0, 0, 0].tolist() == [0, 0, 0, 0]


def test_layouts_that_torch_never_asks_for_are_left():
    given = {**ATTENTION, "input_layout": "TND"}
    assert references.fusion_attention(given) is None
    assert references.fusion_attention_grad(given) is None


# --- matrix products ------------------------------------------------------------------------------------------


@st.composite
def products(draw) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shapes of two tensors that can be multiplied: vectors, matrices, batches that broadcast."""
    size = st.integers(1, 3)
    inner = draw(size)
    batch = draw(st.lists(size, max_size=2))
    ones = [[1 if draw(st.booleans()) else n for n in batch] for _ in range(2)]
    left = (inner,) if draw(st.booleans()) else (*ones[0][draw(st.integers(0, len(batch))) :], draw(size), inner)
    right = (inner,) if draw(st.booleans()) else (*ones[1][draw(st.integers(0, len(batch))) :], inner, draw(size))
    return left, right


@settings(max_examples=200, deadline=None)
@given(products())
def test_matmul_backward(shapes):
    left, right = (randn(*shape, seed=i).requires_grad_() for i, shape in enumerate(shapes))
    out = torch.matmul(left, right)
    gradient = randn(*out.shape, seed=2)
    expected = torch.autograd.grad(out, (left, right), gradient)
    found = references.matmul_backward({"grad": gradient, "self": left.detach(), "other": right.detach()})
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs)


# --- dropout --------------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(st.lists(st.booleans(), max_size=2100))
def test_a_mask_of_bits_comes_back(kept):
    packed = references._packed(torch.tensor(kept, dtype=torch.bool))
    assert packed.dtype is torch.uint8
    assert packed.numel() == -(-len(kept) // 128) * 16
    assert references._unpacked(packed, len(kept)).bool().tolist() == kept


def test_dropout_scales_what_it_keeps_and_backward_uses_its_mask():
    torch.manual_seed(0)
    tensor = torch.full((40, 50), 2.0)
    out, mask = references.dropout({"input": tensor, "p": 0.25, "train": True})
    assert out.unique().tolist() == [0.0, pytest.approx(2 / 0.75)]
    assert 0.7 < (out != 0).float().mean() < 0.8
    given = {"grad_output": torch.ones(40, 50), "mask": mask, "scale": 1 / 0.75}
    (gradient,) = references.dropout_backward(given)
    torch.testing.assert_close(gradient, out / 2)


def test_dropout_of_everything_and_of_nothing():
    tensor = torch.ones(3)
    assert references.dropout({"input": tensor, "p": 1.0, "train": True})[0].tolist() == [0, 0, 0]
    for options in ({"p": 0.0, "train": True}, {"p": 0.5, "train": False}):
        out, mask = references.dropout({"input": tensor, **options})
        assert out.tolist() == [1, 1, 1]
        assert out is not tensor
        assert mask is None


# --- others ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [None, 0, 1, -1, -2])
def test_repeat_backward(dim):
    tensor = randn(3, 4).requires_grad_()
    out = tensor.repeat_interleave(2, dim)
    gradient = randn(*out.shape, seed=1)
    (expected,) = torch.autograd.grad(out, tensor, gradient)
    (found,) = references.repeat_backward({"grad": gradient, "input": tensor.detach(), "repeats": 2, "dim": dim})
    torch.testing.assert_close(found, expected)


def test_max_pool2d_backward_needs_no_indices():
    tensor = randn(2, 3, 9, 9).requires_grad_()
    out = F.max_pool2d(tensor, 3, 2, 1)
    gradient = randn(*out.shape, seed=1)
    (expected,) = torch.autograd.grad(out, tensor, gradient)
    window = {"kernel_size": [3, 3], "stride": [2, 2], "padding": [1, 1], "dilation": [1, 1], "ceil_mode": False}
    mask = torch.zeros(1, dtype=torch.int8)
    given = {"grad_output": gradient, "self": tensor.detach(), **window, "indices": mask}
    torch.testing.assert_close(references.max_pool2d_backward(given)[0], expected)


@pytest.mark.parametrize("size", [(8,), (4, 8)])
def test_rms_norm(size):
    tensor, gamma = randn(2, 4, 8), randn(*size, seed=1)
    out, inverse = references.rms_norm({"input": tensor, "gamma": gamma, "epsilon": 1e-5})
    torch.testing.assert_close(out, F.rms_norm(tensor, size, gamma, 1e-5))
    assert inverse.shape == (2, 4, 1) if len(size) == 1 else (2, 1, 1)


def test_activations():
    tensor = randn(2, 8)
    gate, value = tensor.chunk(2, -1)
    torch.testing.assert_close(references.swiglu({"input": tensor})[0], F.silu(gate) * value)
    torch.testing.assert_close(references.fast_gelu({"input": tensor})[0], F.gelu(tensor), atol=0.03, rtol=0)


def test_rotary_positions_turn_pairs():
    tensor, angle = randn(1, 2, 3, 4), torch.tensor(0.5)
    cos, sin = angle.cos().expand(1, 1, 3, 4), angle.sin().expand(1, 1, 3, 4)
    (out,) = references.rotary_mul({"input": tensor, "r1": cos, "r2": sin})
    as_complex = torch.complex(tensor[..., :2], tensor[..., 2:]) * torch.polar(torch.tensor(1.0), angle)
    torch.testing.assert_close(out, torch.cat((as_complex.real, as_complex.imag), -1))
    assert references.rotary_mul({"input": tensor, "r1": cos, "r2": sin, "rotary_mode": "interleave"}) is None


@pytest.mark.parametrize("dtype", [torch.float16, 5])
def test_casts_take_a_dtype_or_its_number(dtype):
    (out,) = references.cast({"input": torch.ones(2), "dtype": dtype})
    assert out.dtype is torch.float16


def test_casts_to_a_dtype_that_torch_has_not_are_left():
    assert references.cast({"input": torch.ones(2), "dtype": 290}) is None


def test_a_format_is_a_copy():
    tensor = torch.ones(2)
    (out,) = references.same({"input": tensor, "acl_format": 29})
    assert out.tolist() == [1, 1]
    assert out.data_ptr() != tensor.data_ptr()
