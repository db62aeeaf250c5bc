"""Layer and RMS norms as the fused packages have them: a norm, sometimes of the sum with a residual."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


class RMSNorm(nn.Module):
    """``RMSNorm(hidden_size, eps=1e-5)`` of flash_attn and mamba_ssm."""

    def __init__(self, hidden_size: int, eps: float = 1e-5, *args: Any, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(hidden_size, device=device, dtype=dtype))

    def forward(self, x: torch.Tensor, residual: Any = None, prenorm: bool = False, **kwargs: Any) -> Any:
        return rms_norm_fn(x, self.weight, None, residual, eps=self.eps, prenorm=prenorm)


def rms_norm(x: torch.Tensor, weight: torch.Tensor, epsilon: float) -> torch.Tensor:
    """Of flash_attn."""
    return F.rms_norm(x, weight.shape, weight, epsilon)


def layer_norm_fn(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    residual: torch.Tensor | None = None,
    eps: float = 1e-6,
    prenorm: bool = False,
    residual_in_fp32: bool = False,
    is_rms_norm: bool = False,
    **kwargs: Any,
) -> Any:
    """The norm of ``x``, or of its sum with the residual; with ``prenorm`` the sum as well."""
    total = x if residual is None else x + residual
    if is_rms_norm:
        out = F.rms_norm(total.to(x.dtype), weight.shape, weight.to(x.dtype), eps)
    else:
        out = F.layer_norm(
            total.to(x.dtype), weight.shape, weight.to(x.dtype), None if bias is None else bias.to(x.dtype), eps
        )
    return (out, total.float() if residual_in_fp32 else total.clone()) if prenorm else out


def rms_norm_fn(x: torch.Tensor, weight: torch.Tensor, bias: Any, residual: Any = None, **kwargs: Any) -> Any:
    return layer_norm_fn(x, weight, bias, residual, is_rms_norm=True, **kwargs)
