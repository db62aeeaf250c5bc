"""``torchvision:resnet50``: any model that torchvision builds by name, with random weights and the inputs it is for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opscan.loading import offered
from opscan.loading.factory_arguments import Argument, call
from opscan.loading.inputs import Input
from opscan.loading.installed import library, unknown_model
from opscan.loading.interface import LoadedModel
from opscan.loading.reference import LibraryReference
from opscan.loading.signature import parameters_of
from opscan.text import Text

#: Pixels of an image, where a model's weights do not say what they were trained on.
_PIXELS = 224
_CLIP_FRAMES = 16


def load(reference: LibraryReference, inputs: tuple[Input, ...], train: bool) -> LoadedModel:
    """Raises LoadError where torchvision is not installed, or has no such model."""
    library("torchvision", str(reference))
    from torchvision import models

    name = reference.name.lower()
    if name not in models.list_models():
        raise unknown_model(str(reference), reference.name, models.list_models())
    builder = models.get_model_builder(name)
    model = call(builder, _without_weights(builder, reference.arguments), str(reference)).train(train)
    args = _inputs(name, builder, model, reference.arguments, train)
    args, kwargs = offered.arguments(model, inputs, args, {}, str(reference))
    return LoadedModel(model, args, kwargs, (_note(inputs, args),))


def _without_weights(builder: Callable[..., Any], arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """No weights are downloaded, and none drawn where a slow initialisation can be left out."""
    parameters = parameters_of(builder) or {}
    own = {"weights": "None", "weights_backbone": "None", "init_weights": "False"}
    taken = {*parameters, *({"init_weights"} if builder.__name__ in ("googlenet", "inception_v3") else ())}
    taken -= {a.name for a in arguments}
    return (*arguments, *(Argument(name, value) for name, value in own.items() if name in taken))


def _inputs(
    name: str, builder: Callable[..., Any], model: Any, arguments: tuple[Argument, ...], train: bool
) -> tuple[Any, ...]:
    import torch

    kind = builder.__module__.split(".")[2:-1]
    if "detection" in kind:
        return _detection(name, arguments, train)
    if "optical_flow" in kind:
        return torch.rand(1, 3, 360, 520), torch.rand(1, 3, 360, 520)
    height, width, frames = _trained_on(name)
    if isinstance(built_for := getattr(model, "image_size", None), int):  # its weights may be for larger images
        height = width = built_for
    batch = 2 if train else 1
    if "video" in kind:
        return (torch.rand(batch, 3, frames, height, width),)
    return (torch.rand(batch, 3, height, width),)


def _trained_on(name: str) -> tuple[int, int, int]:
    """Height and width that the transforms of the model's default weights yield, and the least frames of a clip."""
    from torchvision import models

    weights = getattr(models.get_model_weights(name), "DEFAULT", None)
    preset = weights.transforms() if weights is not None else None
    size = getattr(preset, "crop_size", None) or getattr(preset, "resize_size", None) or [_PIXELS]
    sizes = [size] if isinstance(size, int) else list(size)
    frames = max(_CLIP_FRAMES, (weights.meta.get("min_temporal_size") or 0) if weights is not None else 0)
    return sizes[0], sizes[-1], frames


def _detection(name: str, arguments: tuple[Argument, ...], train: bool) -> tuple[Any, ...]:
    """A list of images; to train, what is to be found in them besides."""
    import torch

    pixels = next((size for size in (300, 320) if str(size) in name), 640)
    images = [torch.rand(3, pixels, pixels) for _ in range(2 if train else 1)]
    if not train:
        return (images,)
    target = {
        "boxes": torch.tensor([[16.0, 32.0, 128.0, 144.0], [64.0, 48.0, 224.0, 240.0]]),
        "labels": torch.tensor([1, 1]),
    }
    if name.startswith("maskrcnn"):
        target["masks"] = torch.ones(2, pixels, pixels, dtype=torch.uint8)
    if name.startswith("keypointrcnn"):
        count = next((a.value for a in arguments if a.name == "num_keypoints"), 17)
        target["keypoints"] = torch.tensor([[[40.0, 50.0, 1.0]] * count, [[80.0, 90.0, 1.0]] * count])
    return images, [dict(target) for _ in images]


def _note(inputs: tuple[Input, ...], args: tuple[Any, ...]) -> Text:
    from opscan.loading.notes import random_weights

    return random_weights(None if inputs else args)
