"""CPU kernels and derivatives for torchvision's operators that detectors call, in Python.

A torchvision whose compiled operators load has these. Non-maximum suppression is exact, so that a detector takes its
path; pooled features and their gradients have the right shape alone, on which no detector's path depends.
"""

from __future__ import annotations

import functools
from typing import Any


@functools.cache
def install() -> None:
    """Register them, once a process, beside the declared schemas."""
    import torch
    import torchvision

    torchvision.extension._has_ops = lambda: True  # asked before each call, and else answered by the import alone
    torch.library.impl("torchvision::nms", "CPU")(nms)
    torch.library.impl("torchvision::roi_align", "CPU")(roi_align)
    torch.library.impl("torchvision::_roi_align_backward", "CPU")(roi_align_backward)
    torch.library.register_autograd("torchvision::roi_align", _backward, setup_context=_keep)


def nms(dets: Any, scores: Any, iou_threshold: float) -> Any:
    """Indices of the boxes that are kept, by falling score."""
    import torch
    from torchvision.ops import box_iou

    order = scores.argsort(descending=True)
    overlaps = box_iou(dets, dets) > iou_threshold
    kept: list[int] = []
    dropped = torch.zeros(len(order), dtype=torch.bool)
    for index in order.tolist():
        if not dropped[index]:
            kept.append(index)
            dropped |= overlaps[index]
    return torch.tensor(kept, dtype=torch.long)


def roi_align(
    input: Any,
    rois: Any,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Any:
    return input.new_zeros((rois.shape[0], input.shape[1], pooled_height, pooled_width))


def roi_align_backward(
    grad: Any,
    rois: Any,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Any:
    return grad.new_zeros((batch_size, channels, height, width))


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.shape, ctx.options = inputs[0].shape, inputs[2:]
    ctx.save_for_backward(inputs[1])


def _backward(ctx: Any, grad: Any) -> tuple[Any, ...]:
    import torch

    scale, height, width, ratio, aligned = ctx.options
    of_input = torch.ops.torchvision._roi_align_backward(
        grad, *ctx.saved_tensors, scale, height, width, *ctx.shape, ratio, aligned
    )
    return (of_input, *[None] * 6)
