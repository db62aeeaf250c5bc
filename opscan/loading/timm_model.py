"""``timm:vit_tiny_patch16_224``: any model of timm, with random weights and the image size it is for."""

from __future__ import annotations

from opscan.errors import LoadError
from opscan.loading import offered
from opscan.loading.factory_arguments import refuse_names
from opscan.loading.inputs import Input
from opscan.loading.installed import library, unknown_model
from opscan.loading.interface import LoadedModel
from opscan.loading.notes import random_weights
from opscan.loading.reference import LibraryReference


def load(reference: LibraryReference, inputs: tuple[Input, ...], train: bool) -> LoadedModel:
    """Raises LoadError where timm is not installed, or has no such model."""
    import torch

    timm = library("timm", str(reference))
    if not timm.is_model(reference.name):
        raise unknown_model(str(reference), reference.name.partition(".")[0], timm.list_models())
    refuse_names(reference.arguments, ("pretrained", "checkpoint_path"), "A scan uses random weights.")
    options = {a.name: a.value for a in reference.arguments}
    try:
        model = timm.create_model(reference.name, pretrained=False, **options)
    except TypeError as error:
        if not options:
            raise
        raise LoadError(
            f"--arg does not fit {reference}: {error}.", "It takes what timm.create_model and the model take."
        ) from error
    model.train(train)
    images = torch.rand(2 if train else 1, *_size(model))
    args, kwargs = offered.arguments(model, inputs, (images,), {}, str(reference))
    return LoadedModel(model, args, kwargs, (random_weights(None if inputs else args),))


def _size(model: object) -> tuple[int, int, int]:
    """Channels, height and width by the model's own configuration."""
    configuration = getattr(model, "pretrained_cfg", None) or getattr(model, "default_cfg", None) or {}
    size = configuration.get("input_size") or (3, 224, 224)
    channels, height, width = (int(n) for n in size)
    return int(getattr(model, "in_chans", 0) or channels), height, width
