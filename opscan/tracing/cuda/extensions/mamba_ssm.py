"""Mamba: the selective scan, its layer, and the norms beside it."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn

from opscan.tracing.cuda.extensions.interface import StandIns
from opscan.tracing.cuda.extensions.norms import RMSNorm, layer_norm_fn, rms_norm_fn


def selective_scan_fn(
    u: torch.Tensor,
    delta: torch.Tensor,
    A: torch.Tensor,
    B: torch.Tensor,
    C: torch.Tensor,
    D: Any = None,
    z: Any = None,
    delta_bias: Any = None,
    delta_softplus: bool = False,
    return_last_state: bool = False,
) -> Any:
    """The shapes: ``u`` is ``[batch, size, length]``, the last state ``[batch, size, states]``."""
    out = torch.zeros_like(u)
    return (out, u.new_zeros((u.shape[0], *A.shape), dtype=torch.float32)) if return_last_state else out


def selective_state_update(
    state: torch.Tensor, x: torch.Tensor, dt: Any, A: Any, B: Any, C: Any, *args: Any, **kwargs: Any
) -> torch.Tensor:
    """One step; the state changes in place."""
    return torch.zeros_like(x)


def mamba_chunk_scan_combined(
    x: torch.Tensor,
    dt: torch.Tensor,
    A: torch.Tensor,
    B: torch.Tensor,
    C: torch.Tensor,
    chunk_size: int,
    D: Any = None,
    z: Any = None,
    dt_bias: Any = None,
    initial_states: Any = None,
    seq_idx: Any = None,
    cu_seqlens: Any = None,
    dt_softplus: bool = False,
    dt_limit: Any = (0.0, math.inf),
    return_final_states: bool = False,
    return_varlen_states: bool = False,
) -> Any:
    """The shapes: ``x`` is ``[batch, length, heads, size]``, ``B`` has the states last."""
    out = torch.zeros_like(x)
    if not return_final_states:
        return out
    return out, x.new_zeros((x.shape[0], x.shape[2], x.shape[3], B.shape[-1]), dtype=torch.float32)


class Mamba(nn.Module):
    """``[batch, length, d_model]`` in and out, with the layer's own parameters."""

    def __init__(
        self,
        d_model: int,
        d_state: int = 16,
        d_conv: int = 4,
        expand: int = 2,
        dt_rank: Any = "auto",
        *args: Any,
        conv_bias: bool = True,
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        where = {"device": device, "dtype": dtype}
        inner, rank = int(expand * d_model), math.ceil(d_model / 16) if dt_rank == "auto" else dt_rank
        self.in_proj = nn.Linear(d_model, inner * 2, bias=bias, **where)
        self.conv1d = nn.Conv1d(inner, inner, d_conv, groups=inner, padding=d_conv - 1, bias=conv_bias, **where)
        self.x_proj = nn.Linear(inner, rank + d_state * 2, bias=False, **where)
        self.dt_proj = nn.Linear(rank, inner, bias=True, **where)
        self.A_log = nn.Parameter(torch.zeros(inner, d_state, device=device))
        self.D = nn.Parameter(torch.ones(inner, device=device))
        self.out_proj = nn.Linear(inner, d_model, bias=bias, **where)

    def forward(self, hidden_states: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        return torch.zeros_like(hidden_states)


STAND_INS = StandIns(
    package="mamba_ssm",
    source="https://github.com/state-spaces/mamba/blob/v2.2.4/mamba_ssm/ops/selective_scan_interface.py",
    functions={
        f.__name__: f
        for f in (
            selective_scan_fn,
            selective_state_update,
            mamba_chunk_scan_combined,
            layer_norm_fn,
            rms_norm_fn,
        )
    },
    modules={"Mamba": Mamba, "RMSNorm": RMSNorm},
)
