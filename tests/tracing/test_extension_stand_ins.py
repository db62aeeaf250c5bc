"""What stand-ins compute: what the kernels compute, where that is said."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from opscan.tracing.cuda.extensions import attention
from opscan.tracing.cuda.extensions.causal_conv1d import causal_conv1d_fn
from opscan.tracing.cuda.extensions.flash_attn import (
    flash_attn_func,
    flash_attn_qkvpacked_func,
    flash_attn_varlen_func,
)
from opscan.tracing.cuda.extensions.norms import layer_norm_fn, rms_norm_fn
from opscan.tracing.cuda.extensions.registry import STAND_INS
from opscan.tracing.cuda.extensions.torch_scatter import scatter, scatter_max
from opscan.tracing.cuda.extensions.xformers import memory_efficient_attention


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def sdpa(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **options: object) -> torch.Tensor:
    """torch's own, with heads third."""
    out = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), **options)  # type: ignore[arg-type]
    return out.transpose(1, 2)


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal: bool) -> None:
    q, k, v = (torch.randn(2, 7, 4, 8) for _ in range(3))
    torch.testing.assert_close(flash_attn_func(q, k, v, causal=causal), sdpa(q, k, v, is_causal=causal))
    packed = flash_attn_qkvpacked_func(torch.stack([q, k, v], 2), causal=causal)
    torch.testing.assert_close(packed, sdpa(q, k, v, is_causal=causal))


def test_fewer_heads_of_keys() -> None:
    q, k, v = torch.randn(2, 7, 4, 8), torch.randn(2, 7, 2, 8), torch.randn(2, 7, 2, 8)
    torch.testing.assert_close(flash_attn_func(q, k, v), sdpa(q, k, v, enable_gqa=True))


def test_a_causal_mask_ends_where_both_end() -> None:
    q, k, v = torch.randn(1, 2, 1, 4), torch.randn(1, 5, 1, 4), torch.randn(1, 5, 1, 4)
    mask = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]], dtype=torch.bool)
    torch.testing.assert_close(flash_attn_func(q, k, v, causal=True), sdpa(q, k, v, attn_mask=mask))


def test_a_window() -> None:
    q, k, v = (torch.randn(1, 4, 1, 4) for _ in range(3))
    mask = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]], dtype=torch.bool)
    torch.testing.assert_close(flash_attn_func(q, k, v, window_size=(1, 0)), sdpa(q, k, v, attn_mask=mask))


@pytest.mark.parametrize("causal", [False, True])
def test_sequences_one_after_the_other(causal: bool) -> None:
    q, k, v = (torch.randn(7, 2, 4) for _ in range(3))
    ends = torch.tensor([0, 3, 7], dtype=torch.int32)
    out = flash_attn_varlen_func(q, k, v, ends, ends, 4, 4, causal=causal)
    for rows in (slice(0, 3), slice(3, 7)):
        alone = sdpa(q[None, rows], k[None, rows], v[None, rows], is_causal=causal)[0]
        torch.testing.assert_close(out[rows], alone)


def test_too_many_scores_are_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "_MOST_SCORES", 10)
    out, sums, _ = flash_attn_func(*(torch.randn(1, 8, 2, 4) for _ in range(3)), return_attn_probs=True)
    assert (out.shape, sums.shape) == ((1, 8, 2, 4), (1, 2, 8))
    assert not out.any()


def test_attention_with_a_bias() -> None:
    q, k, v = (torch.randn(2, 7, 4, 8) for _ in range(3))
    bias = torch.randn(2, 4, 7, 7)
    torch.testing.assert_close(
        memory_efficient_attention(q, k, v, bias, scale=0.5), sdpa(q, k, v, attn_mask=bias, scale=0.5)
    )


def test_norms() -> None:
    x, residual, weight, bias = torch.randn(3, 8), torch.randn(3, 8), torch.randn(8), torch.randn(8)
    out, total = layer_norm_fn(x, weight, bias, residual, prenorm=True)
    torch.testing.assert_close(total, x + residual)
    torch.testing.assert_close(out, F.layer_norm(x + residual, (8,), weight, bias, 1e-6))
    torch.testing.assert_close(rms_norm_fn(x, weight, None), F.rms_norm(x, (8,), weight, 1e-6))


def test_a_causal_convolution() -> None:
    x, weight = torch.randn(1, 2, 5), torch.randn(2, 3)
    out, states = causal_conv1d_fn(x, weight, return_final_states=True)
    torch.testing.assert_close(out[0, 0, 0], x[0, 0, 0] * weight[0, 2])
    torch.testing.assert_close(out[0, 1, 4], (x[0, 1, 2:] * weight[1]).sum())
    torch.testing.assert_close(states, x[..., 3:])


def test_scatter() -> None:
    src, index = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), torch.tensor([1, 0, 1])
    torch.testing.assert_close(scatter(src, index, 0), torch.tensor([[3.0, 4.0], [6.0, 8.0]]))
    torch.testing.assert_close(scatter(src, index, 0, reduce="mean"), torch.tensor([[3.0, 4.0], [3.0, 4.0]]))
    torch.testing.assert_close(scatter_max(src, index, 0, dim_size=3)[0][1], torch.tensor([5.0, 6.0]))


@pytest.mark.parametrize("package", sorted(STAND_INS))
def test_every_family_says_where_its_signatures_are_from(package: str) -> None:
    family = STAND_INS[package]
    assert family.package == package
    assert family.source.startswith("https://")
