"""The causal convolution of Mamba and its kin."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from opscan.tracing.cuda.extensions.interface import StandIns


def causal_conv1d_fn(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    seq_idx: Any = None,
    initial_states: Any = None,
    return_final_states: bool = False,
    final_states_out: Any = None,
    activation: str | None = None,
) -> Any:
    """``[batch, channels, length]``, weight ``[channels, width]``."""
    width = weight.shape[-1]
    padded = F.pad(x, (width - 1, 0)) if initial_states is None else torch.cat([initial_states.to(x.dtype), x], -1)
    bias = None if bias is None else bias.to(x.dtype)
    out = F.conv1d(padded, weight.unsqueeze(1).to(x.dtype), bias, groups=len(weight))
    out = out if activation is None else F.silu(out)
    return (out, padded[..., padded.shape[-1] - width + 1 :].clone()) if return_final_states else out


def causal_conv1d_update(
    x: torch.Tensor,
    conv_state: torch.Tensor,
    weight: torch.Tensor,
    bias: Any = None,
    activation: str | None = None,
    cache_seqlens: Any = None,
    conv_state_indices: Any = None,
) -> torch.Tensor:
    """One step, of which the shapes; the state changes in place."""
    return torch.zeros_like(x)


STAND_INS = StandIns(
    package="causal_conv1d",
    source="https://github.com/Dao-AILab/causal-conv1d/blob/v1.5.0/causal_conv1d/causal_conv1d_interface.py",
    functions={"causal_conv1d_fn": causal_conv1d_fn, "causal_conv1d_update": causal_conv1d_update},
)
