"""xFormers: its attention, and the masks that it takes."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from opscan.tracing.cuda.extensions.attention import attend, one_sequence
from opscan.tracing.cuda.extensions.interface import StandIns


class LowerTriangularMask:
    """Causal, from the first token on."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...


def memory_efficient_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: Any = None,
    p: float = 0.0,
    scale: float | None = None,
    *,
    op: Any = None,
    output_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """``[batch, length, heads, size]``, without the heads, or with a group of them before."""
    flat = query.dim() == 3
    q, k, v = (t.unsqueeze(2) for t in (query, key, value)) if flat else (query, key, value)
    if not isinstance(attn_bias, (torch.Tensor, LowerTriangularMask, type(None))) or query.dim() == 5:
        # A mask of sequences that are packed, or heads in groups: the shapes only.
        out = query.new_zeros((*query.shape[:-1], value.shape[-1]))
        return out if output_dtype is None else out.to(output_dtype)
    rows = one_sequence(q.shape[1], q.device), one_sequence(k.shape[1], q.device)
    bias = attn_bias if isinstance(attn_bias, torch.Tensor) and not flat else None
    out, _ = attend(q, k, v, rows, scale, isinstance(attn_bias, LowerTriangularMask), bias=bias)
    out = out.squeeze(2) if flat else out
    return out if output_dtype is None else out.to(output_dtype)


class SwiGLU(nn.Module):
    """``SwiGLU(in_features, hidden_features, out_features=None, bias=True, *, _pack_weights=True)``."""

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        out_features: int | None = None,
        bias: bool = True,
        *,
        _pack_weights: bool = True,
    ) -> None:
        super().__init__()
        self.hidden_features = hidden_features
        self.w12 = nn.Linear(in_features, 2 * hidden_features, bias=bias)
        self.w3 = nn.Linear(hidden_features, out_features or in_features, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate, up = self.w12(x).chunk(2, -1)
        out: torch.Tensor = self.w3(nn.functional.silu(gate) * up)
        return out


STAND_INS = StandIns(
    package="xformers",
    source="https://github.com/facebookresearch/xformers/blob/v0.0.30/xformers/ops/fmha/__init__.py",
    functions={"memory_efficient_attention": memory_efficient_attention},
    modules={"SwiGLU": SwiGLU},
    plain={"LowerTriangularMask": LowerTriangularMask, "unbind": torch.unbind},
)
