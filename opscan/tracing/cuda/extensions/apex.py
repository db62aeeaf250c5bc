"""Apex: fused norms, and the modules that wrap plain torch."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from opscan.tracing.cuda.extensions.interface import StandIns


class FusedLayerNorm(nn.LayerNorm):
    """``FusedLayerNorm(normalized_shape, eps=1e-5, elementwise_affine=True, memory_efficient=False)``."""

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, memory_efficient: bool = False
    ) -> None:
        super().__init__(normalized_shape, eps, elementwise_affine)


class FusedRMSNorm(nn.RMSNorm):
    """The same without a bias."""

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, memory_efficient: bool = False
    ) -> None:
        super().__init__(normalized_shape, eps, elementwise_affine)


class MixedFusedLayerNorm(FusedLayerNorm):
    """A result of the dtype of its weight."""

    def __init__(self, normalized_shape: Any, eps: float = 1e-5, **kwargs: Any) -> None:
        super().__init__(normalized_shape, eps)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return super().forward(input.to(self.weight.dtype))


def fused_layer_norm_affine(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, normalized_shape: Any, eps: float = 1e-6, *_: Any
) -> torch.Tensor:
    return nn.functional.layer_norm(input, _shape(normalized_shape), weight, bias, eps)


def fused_layer_norm(input: torch.Tensor, normalized_shape: Any, eps: float = 1e-6, *_: Any) -> torch.Tensor:
    return nn.functional.layer_norm(input, _shape(normalized_shape), None, None, eps)


def fused_rms_norm_affine(
    input: torch.Tensor, weight: torch.Tensor, normalized_shape: Any, eps: float = 1e-6, *_: Any
) -> torch.Tensor:
    return nn.functional.rms_norm(input, _shape(normalized_shape), weight, eps)


def _shape(normalized: Any) -> list[int]:
    return [normalized] if isinstance(normalized, int) else list(normalized)


def _unchanged(function: Any) -> Any:
    """Decorators that choose the dtype of a function's arguments."""
    return function


STAND_INS = StandIns(
    package="apex",
    source="https://github.com/NVIDIA/apex/blob/master/apex/normalization/fused_layer_norm.py",
    functions={f.__name__: f for f in (fused_layer_norm, fused_layer_norm_affine, fused_rms_norm_affine)},
    modules={m.__name__: m for m in (FusedLayerNorm, FusedRMSNorm, MixedFusedLayerNorm)},
    plain={
        "SyncBatchNorm": nn.SyncBatchNorm,
        "float_function": _unchanged,
        "half_function": _unchanged,
        "promote_function": _unchanged,
    },
)
