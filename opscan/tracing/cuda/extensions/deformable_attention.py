"""Deformable attention, as the extension of Deformable DETR and its many users has it."""

from __future__ import annotations

import torch

from opscan.tracing.cuda.extensions.interface import StandIns


def ms_deform_attn_forward(
    value: torch.Tensor,
    value_spatial_shapes: torch.Tensor,
    value_level_start_index: torch.Tensor,
    sampling_locations: torch.Tensor,
    attention_weights: torch.Tensor,
    im2col_step: int = 64,
) -> torch.Tensor:
    """The shapes: ``value`` is ``[batch, keys, heads, size]``, the locations have the queries second."""
    batch, _, heads, size = value.shape
    return value.new_zeros((batch, sampling_locations.shape[1], heads * size))


def ms_deform_attn_backward(
    value: torch.Tensor,
    value_spatial_shapes: torch.Tensor,
    value_level_start_index: torch.Tensor,
    sampling_locations: torch.Tensor,
    attention_weights: torch.Tensor,
    grad_output: torch.Tensor,
    im2col_step: int = 64,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of the values, the locations and the weights."""
    return torch.zeros_like(value), torch.zeros_like(sampling_locations), torch.zeros_like(attention_weights)


STAND_INS = StandIns(
    package="MultiScaleDeformableAttention",
    source="https://github.com/fundamentalvision/Deformable-DETR/blob/main/models/ops/src/ms_deform_attn.h",
    functions={
        "ms_deform_attn_forward": ms_deform_attn_forward,
        "ms_deform_attn_backward": ms_deform_attn_backward,
    },
)
