"""Schemas of torchvision's compiled operators.

PyPI's torchvision imports beside a CPU build of torch only when they are declared. Names and arguments are those of
torchvision's meta registrations (torchvision 0.28).
"""

from __future__ import annotations

import functools

SCHEMAS = """
nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor
qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor
roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int
    sampling_ratio, bool aligned) -> Tensor
_roi_align_backward(Tensor grad, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width,
    SymInt batch_size, SymInt channels, SymInt height, SymInt width, int sampling_ratio, bool aligned) ->
    Tensor
roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) ->
    (Tensor, Tensor)
_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, float spatial_scale, SymInt pooled_height, SymInt
    pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor
ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int
    sampling_ratio) -> (Tensor, Tensor)
_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, SymInt
    pooled_height, SymInt pooled_width, int sampling_ratio, SymInt batch_size, SymInt channels, SymInt height,
    SymInt width) -> Tensor
ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) ->
    (Tensor, Tensor)
_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, SymInt
    pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width) ->
    Tensor
deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt
    stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt
    offset_groups, bool use_mask) -> Tensor
_deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias,
    SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt
    groups, SymInt offset_groups, bool use_mask) -> (Tensor, Tensor, Tensor, Tensor, Tensor)
"""


@functools.cache
def declare() -> None:
    """Define the operators, once a process; they have no kernels."""
    import torch

    for text in SCHEMAS.replace("\n    ", " ").strip().splitlines():
        name, _, signature = text.partition("(")
        torch.library.define(f"torchvision::{name}", f"({signature}")
