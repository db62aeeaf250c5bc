"""A model of diffusers by its configuration."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from opscan.errors import LoadError
from opscan.loading import offered
from opscan.loading.inputs import Input
from opscan.loading.installed import library, unknown_model
from opscan.loading.interface import LoadedModel
from opscan.loading.notes import random_weights

#: Tokens of a prompt: of CLIP, and of T5 as the larger pipelines have it.
_PROMPT = 77
_LONG_PROMPT = 512


def load(path: Path, values: dict[str, Any], inputs: tuple[Input, ...], train: bool) -> LoadedModel:
    """Raises LoadError where diffusers has no class of that name, or where its inputs are not known."""
    import torch

    diffusers = library("diffusers", f"hf:{path}")
    name = str(values["_class_name"])
    cls: Any = getattr(diffusers, name, None)
    if torch.nn.Module not in getattr(cls, "__mro__", ()):
        known = (n for n in dir(diffusers) if n.endswith(("Model", "KL", "Transformer2DModel")))
        raise unknown_model(f"hf:{path} ({name})", name, known)
    model = cls.from_config(values).train(train)
    own: dict[str, Any] = {} if any(spec.name is None for spec in inputs) else _inputs(model)
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


def _inputs(model: Any) -> dict[str, Any]:
    """By the names of the parameters and the numbers of the configuration."""
    import torch

    names = inspect.signature(model.forward).parameters
    number = _reader(model.config)
    is_sequence = "img_ids" in names
    made: dict[str, Any] = {}
    channels, size = number(4, "in_channels"), number(64, "sample_size")
    latent = torch.rand(1, channels, size, size)
    if "sample" in names:
        made["sample"] = latent
    if "hidden_states" in names:
        made["hidden_states"] = torch.rand(1, 1024, channels) if is_sequence else latent
    if "timestep" in names:
        made["timestep"] = torch.ones(1, dtype=torch.float32 if is_sequence else torch.int64)
    if "encoder_hidden_states" in names:
        wide = number(0, "joint_attention_dim", "caption_channels", "cross_attention_dim", "encoder_hid_dim")
        long = _PROMPT if "sample" in names else _LONG_PROMPT
        made |= {"encoder_hidden_states": torch.rand(1, long, wide)} if wide else {}
    if "pooled_projections" in names:
        made["pooled_projections"] = torch.rand(1, number(768, "pooled_projection_dim"))
    if is_sequence:
        axes = len(getattr(model.config, "axes_dims_rope", (0, 0, 0)))
        made |= {"img_ids": torch.zeros(1024, axes), "txt_ids": torch.zeros(_LONG_PROMPT, axes)}
        made |= {"guidance": torch.ones(1)} if getattr(model.config, "guidance_embeds", False) else {}
    if "class_labels" in names and getattr(model.config, "num_embeds_ada_norm", None):
        made["class_labels"] = torch.zeros(1, dtype=torch.int64)
    if "controlnet_cond" in names:
        made["controlnet_cond"] = torch.rand(1, number(3, "conditioning_channels"), 8 * size, 8 * size)
    if getattr(model.config, "addition_embed_type", None) == "text_time":
        of_times = 6 * number(256, "addition_time_embed_dim")
        text = number(2816, "projection_class_embeddings_input_dim") - of_times
        made["added_cond_kwargs"] = {"text_embeds": torch.rand(1, text), "time_ids": torch.ones(1, 6)}
    return made


def _reader(configuration: Any) -> Callable[..., int]:
    def number(otherwise: int, *names: str) -> int:
        for name in names:
            value = getattr(configuration, name, None)
            value = value[0] if isinstance(value, (list, tuple)) and value else value
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        return otherwise

    return number
