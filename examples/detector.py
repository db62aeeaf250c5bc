"""A one-stage detector: deformable convolution written with torch operators, a feature pyramid, box decoding, NMS.

What it shows: post-processing in Python whose course depends on values. The number of candidates comes from a boolean
mask and ``nms`` loops until none is left, so a scan that computes nothing has to assume these sizes. It reports the
lines and says that the trace is incomplete; nothing in the model is unsupported:

    opscan examples/detector.py             # passes, with findings for the loop
    opscan examples/detector.py --strict    # exit code 3: the trace is not complete
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class ConvNorm(nn.Sequential):
    def __init__(self, inputs: int, outputs: int, kernel: int = 3, stride: int = 1) -> None:
        super().__init__(
            nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False),
            nn.BatchNorm2d(outputs),
            nn.SiLU(inplace=True),
        )


class DeformableConv(nn.Module):
    """3×3 convolution that samples each tap at a learned offset and weighs it by a learned gate (Zhu et al., 2019).

    Written with ``grid_sample``, so it needs no compiled extension. The offset convolution starts at zero, which makes
    the layer an ordinary convolution at first.
    """

    taps = 9

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.offset = nn.Conv2d(inputs, 3 * self.taps, 3, padding=1)
        nn.init.zeros_(self.offset.weight)
        nn.init.zeros_(self.offset.bias)
        self.mix = nn.Conv2d(inputs * self.taps, outputs, 1)

    def forward(self, x: Tensor) -> Tensor:
        batch, channels, height, width = x.shape
        shift_x, shift_y, gate = self.offset(x).unflatten(1, (self.taps, 3)).unbind(2)
        tap = torch.arange(-1, 2, device=x.device, dtype=x.dtype)
        tap_y, tap_x = torch.meshgrid(tap, tap, indexing="ij")
        column = torch.arange(width, device=x.device, dtype=x.dtype)
        row = torch.arange(height, device=x.device, dtype=x.dtype)
        at_x = column + tap_x.reshape(1, self.taps, 1, 1) + shift_x
        at_y = row[:, None] + tap_y.reshape(1, self.taps, 1, 1) + shift_y
        grid = torch.stack((2 * at_x / (width - 1) - 1, 2 * at_y / (height - 1) - 1), dim=-1)
        sampled = F.grid_sample(x, grid.flatten(1, 2), align_corners=True).unflatten(2, (self.taps, height))
        weighed = sampled * gate.sigmoid()[:, None]
        return self.mix(weighed.reshape(batch, channels * self.taps, height, width))


class Backbone(nn.Module):
    """Features at strides 8, 16 and 32; the two coarser stages are deformable."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(ConvNorm(3, width, stride=2), ConvNorm(width, width, stride=2))
        self.fine = ConvNorm(width, 2 * width, stride=2)
        self.middle = nn.Sequential(ConvNorm(2 * width, 4 * width, stride=2), DeformableConv(4 * width, 4 * width))
        self.coarse = nn.Sequential(ConvNorm(4 * width, 8 * width, stride=2), DeformableConv(8 * width, 8 * width))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        fine = self.fine(self.stem(x))
        middle = self.middle(fine)
        return fine, middle, self.coarse(middle)


class Pyramid(nn.Module):
    """Top-down feature pyramid: each level adds the upsampled coarser one (Lin et al., 2017)."""

    def __init__(self, inputs: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.lateral = nn.ModuleList(nn.Conv2d(channels, width, 1) for channels in inputs)
        self.smooth = nn.ModuleList(ConvNorm(width, width) for _ in inputs)

    def forward(self, features: tuple[Tensor, ...]) -> list[Tensor]:
        levels = [lateral(feature) for lateral, feature in zip(self.lateral, features)]
        for index in range(len(levels) - 2, -1, -1):
            finer = levels[index]
            levels[index] = finer + F.interpolate(levels[index + 1], size=finer.shape[-2:], mode="nearest")
        return [smooth(level) for smooth, level in zip(self.smooth, levels)]


def cell_centres(height: int, width: int, stride: int, like: Tensor) -> Tensor:
    """Centres of the cells of one level in pixels, ``[height * width, 2]`` as x, y."""
    y = (torch.arange(height, device=like.device, dtype=like.dtype) + 0.5) * stride
    x = (torch.arange(width, device=like.device, dtype=like.dtype) + 0.5) * stride
    grid_y, grid_x = torch.meshgrid(y, x, indexing="ij")
    return torch.stack((grid_x, grid_y), dim=-1).reshape(-1, 2)


def decode(distances: Tensor, centres: Tensor, stride: int) -> Tensor:
    """Distances to left, top, right, bottom in strides to boxes x1, y1, x2, y2 in pixels."""
    left_top, right_bottom = (F.softplus(distances) * stride).chunk(2, dim=-1)
    return torch.cat((centres - left_top, centres + right_bottom), dim=-1)


def overlap(box: Tensor, others: Tensor) -> Tensor:
    """Intersection over union of one box ``[4]`` with others ``[n, 4]``."""
    corner = torch.maximum(box[:2], others[:, :2])
    opposite = torch.minimum(box[2:], others[:, 2:])
    shared = (opposite - corner).clamp(min=0).prod(dim=-1)
    area = (box[2:] - box[:2]).prod()
    areas = (others[:, 2:] - others[:, :2]).prod(dim=-1)
    return shared / (area + areas - shared)


def nms(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    """Indices of the boxes that no better box overlaps by more than ``threshold``, best first."""
    order = scores.argsort(descending=True)
    kept = []
    while order.numel() > 0:
        best, rest = order[0], order[1:]
        kept.append(best)
        order = rest[overlap(boxes[best], boxes[rest]) <= threshold]
    return torch.stack(kept) if kept else order


class Detector(nn.Module):
    """Images ``[1, 3, H, W]`` to boxes ``[n, 4]``, scores ``[n]`` and labels ``[n]``; H and W are multiples of 32."""

    strides = (8, 16, 32)

    def __init__(self, classes: int = 20, width: int = 16, pyramid: int = 64) -> None:
        super().__init__()
        self.backbone = Backbone(width)
        self.pyramid = Pyramid((2 * width, 4 * width, 8 * width), pyramid)
        self.scores = nn.Conv2d(pyramid, classes, 3, padding=1)
        self.distances = nn.Conv2d(pyramid, 4, 3, padding=1)
        self.score_threshold = 0.5
        self.overlap_threshold = 0.6
        self.candidates = 100

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        all_boxes, all_scores = [], []
        for stride, level in zip(self.strides, self.pyramid(self.backbone(image))):
            centres = cell_centres(level.shape[2], level.shape[3], stride, like=level)
            distances = self.distances(level).flatten(2).transpose(1, 2)[0]
            all_boxes.append(decode(distances, centres, stride))
            all_scores.append(self.scores(level).flatten(2).transpose(1, 2)[0].sigmoid())
        boxes = torch.cat(all_boxes)
        scores, labels = torch.cat(all_scores).max(dim=-1)

        scores, best = scores.topk(min(self.candidates, scores.shape[0]))
        boxes, labels = boxes[best], labels[best]
        confident = scores > self.score_threshold
        boxes, scores, labels = boxes[confident], scores[confident], labels[confident]
        kept = nms(boxes, scores, self.overlap_threshold)
        return boxes[kept], scores[kept], labels[kept]


def build_model() -> nn.Module:
    return Detector().eval()


def example_inputs() -> tuple[Tensor]:
    return (torch.rand(1, 3, 256, 256),)
