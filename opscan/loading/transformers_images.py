"""Images and clips for a model of transformers, as its processor would hand them over."""

from __future__ import annotations

import math
from typing import Any

import torch

from opscan.loading.signature import required
from opscan.loading.transformers_call import Call
from opscan.loading.transformers_numbers import VISION, Numbers

_PIXELS = 224

#: Side of the image, in patches, of models that take an image as a row of patches.
_GRID = 16

#: Models whose ``pixel_values`` are frames, each an image.
_OF_FRAMES = ("videomae", "timesformer", "vivit", "xclip", "instructblipvideo", "tvp", "tvlt")

#: Models that compare two images.
_OF_PAIRS = ("lightglue", "superglue", "efficientloftr")

#: Models that take the images of one text together: a dimension more.
_OF_SEVERAL = ("idefics", "idefics2", "idefics3", "smolvlm")


def _numbers(call: Call) -> Numbers:
    return Numbers(call.configuration, VISION)


def size(call: Call) -> tuple[int, int]:
    """Height and width of an image."""
    return _numbers(call).pair(_PIXELS, "image_size", "input_size", "crop_size", "img_size")


def channels(call: Call) -> int:
    return _numbers(call).integer(3, "num_channels", "in_channels", "in_chans")


def pixel_values(call: Call) -> Any:
    if call.takes("spatial_shapes"):
        return torch.rand(1, _patches(call), channels(call) * _numbers(call).integer(16, "patch_size") ** 2)
    if call.takes("image_grid_thw"):
        return torch.rand(int(image_grid(call).prod(-1).sum()), _values_of_a_patch(call))
    image = (channels(call), *size(call))
    numbers = _numbers(call)
    if call.kind in _OF_FRAMES:
        return torch.rand(1, numbers.integer(8, "num_frames", "frames_per_clip"), *image)
    if call.kind in _OF_PAIRS:
        return torch.rand(1, 2, *image)
    if call.takes("aspect_ratio_ids"):
        return torch.rand(1, 1, numbers.integer(4, "max_num_tiles"), *image)
    if _pinpoint(call):
        return torch.rand(1, _tiles(call), *image)
    if call.kind in _OF_SEVERAL:
        return torch.rand(1, 1, *image)
    return torch.rand(1, *image)


def clip(call: Call) -> Any:
    """``pixel_values_videos`` of models that see clips alone."""
    frames = _numbers(call).integer(16, "frames_per_clip", "num_frames")
    return torch.rand(1, frames, channels(call), *size(call))


# --- what goes with an image ------------------------------------------------------------------------------------


def image_grid(call: Call) -> torch.Tensor:
    """Frames, height and width in patches."""
    return torch.tensor([[1, _GRID, _GRID]])


def _values_of_a_patch(call: Call) -> int:
    numbers = _numbers(call)
    frames = numbers.integer(1, "temporal_patch_size")
    return channels(call) * frames * numbers.integer(14, "patch_size", "spatial_patch_size") ** 2


def _patches(call: Call) -> int:
    side = math.isqrt(_numbers(call).integer(_GRID * _GRID, "num_patches"))
    return side * side


def spatial_shapes(call: Call) -> Any:
    side = math.isqrt(_patches(call))
    return torch.tensor([[side, side]])


def patch_mask(call: Call) -> Any:
    return torch.ones(1, _patches(call), dtype=torch.int64) if call.takes("spatial_shapes") else None


def image_sizes(call: Call) -> Any:
    """The size of the image before it was cut into tiles, or padded; for models that ask for it."""
    needed = required(getattr(call.model, "get_image_features", size))
    return torch.tensor([_pinpoint(call) or size(call)]) if _pinpoint(call) or "image_sizes" in needed else None


def _pinpoint(call: Call) -> tuple[int, int] | None:
    """A size that the model cuts into tiles without padding."""
    points = getattr(call.configuration, "image_grid_pinpoints", None)
    return (int(points[0][0]), int(points[0][1])) if points and call.takes("image_sizes") else None


def _tiles(call: Call) -> int:
    """Those of the size above, and the whole image once more."""
    height, width = _pinpoint(call) or (0, 0)
    tall, wide = size(call)
    return (height // tall) * (width // wide) + 1


def aspect_ratio_ids(call: Call) -> Any:
    return torch.ones(1, 1, dtype=torch.int64)


def aspect_ratio_mask(call: Call) -> Any:
    return torch.ones(1, 1, call.get("pixel_values").shape[2], dtype=torch.int64)


def cross_attention_mask(call: Call) -> Any:
    """Every token looks at every tile."""
    return torch.ones(1, call.get("input_ids").shape[1], 1, call.get("pixel_values").shape[2], dtype=torch.int64)


def pixel_mask(call: Call) -> Any:
    if call.kind != "aria":  # elsewhere it is made by the model
        return None
    return torch.ones(1, *call.get("pixel_values").shape[2:], dtype=torch.bool)


# --- images under other names -----------------------------------------------------------------------------------


def whole_image(call: Call) -> Any:
    return torch.rand(1, channels(call), *size(call))


def document(call: Call) -> Any:
    """LayoutLMv2's page, whose size its configuration does not tell."""
    return torch.rand(1, 3, _PIXELS, _PIXELS)


def images_of(call: Call) -> Any:
    """``pixel_values_images`` beside clips under another name."""
    return whole_image(call)


def high_resolution(call: Call) -> Any:
    side, _ = Numbers(getattr(call.configuration, "high_res_vision_config", call.configuration), VISION).pair(
        1024, "image_size"
    )
    return torch.rand(1, 3, side, side)


def flattened_patches(call: Call) -> Any:
    """Row, column and pixels of each patch (Pix2Struct, Kosmos-2.5)."""
    numbers = _numbers(call)
    wide = numbers.integer(_values_of_a_patch(call), "patch_embed_hidden_size")
    count = min(256, numbers.integer(256, "max_num_patches", "seq_len"))
    places = torch.stack([torch.arange(count) // _GRID + 1, torch.arange(count) % _GRID + 1], -1).float()
    return torch.cat([places, torch.rand(count, wide)], -1)[None]


def painted_mask(call: Call) -> Any:
    """The prompt's mask as an image of the same size."""
    return whole_image(call)


def points(call: Call) -> Any:
    """One point in one object of one image."""
    return torch.full((1, 1, 1, 2), 100.0)


def point_labels(call: Call) -> Any:
    return torch.ones(1, 1, 1, dtype=torch.int64)
