"""A model of diffusers by its configuration."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from opscan.errors import LoadError
from opscan.loading import offered
from opscan.loading.inputs import Input
from opscan.loading.installed import library, unknown_model
from opscan.loading.interface import LoadedModel
from opscan.loading.notes import random_weights


def load(path: Path, values: dict[str, Any], inputs: tuple[Input, ...], train: bool) -> LoadedModel:
    """Raises LoadError where diffusers has no class of that name, or where its inputs are not known."""
    import torch

    from opscan.loading.diffusers_inputs import inputs_for

    diffusers = library("diffusers", f"hf:{path}")
    name = str(values["_class_name"])
    cls: Any = getattr(diffusers, name, None)
    if torch.nn.Module not in getattr(cls, "__mro__", ()):
        known = (n for n in dir(diffusers) if n.endswith(("Model", "KL", "Transformer2DModel")))
        raise unknown_model(f"hf:{path} ({name})", name, known)
    model = cls.from_config(values).train(train)
    own: dict[str, Any] = {} if any(spec.name is None for spec in inputs) else inputs_for(model)
    missing = [n for n in _required(model) if n not in own and n not in {spec.name for spec in inputs}]
    if missing and not inputs:
        raise LoadError(
            f"The inputs of {name} are not known: it takes {', '.join(missing)}.",
            "Give them: " + " ".join(f"--input {n}=1x16x64" for n in missing),
        )
    args, kwargs = offered.arguments(model, inputs, (), own, f"hf:{path.name}")
    return LoadedModel(model, args, kwargs, (random_weights(None if inputs else own),))


def _required(model: Any) -> list[str]:
    parameters = inspect.signature(model.forward).parameters.values()
    return [p.name for p in parameters if p.default is inspect.Parameter.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
