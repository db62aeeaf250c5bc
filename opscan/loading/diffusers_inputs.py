"""Inputs for a model of diffusers, by the names of its parameters and the numbers of its configuration."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

#: Tokens of a prompt: of CLIP, and of T5 as the larger pipelines have it.
_PROMPT = 77
_LONG_PROMPT = 512

#: An image in patches, and frames of a video as an autoencoder leaves them, with height and width.
_PATCHES = (32, 32)
_FRAMES = 5
_VIDEO = (32, 32)

#: Videos whose frames come before their channels, and others whose class name does not say that they are videos.
_FRAMES_FIRST = ("CogVideoXTransformer3DModel", "UNetSpatioTemporalConditionModel")
_PROMPT_A_FRAME = ("UNetMotionModel",)
_OF_VIDEO = ("UNetMotionModel", "I2VGenXLUNet")
_VIDEO_AUTOENCODERS = ("CogVideoX", "Wan", "HunyuanVideo", "LTXVideo", "Mochi", "Allegro", "Magvit", "Cosmos")


def inputs_for(model: Any) -> dict[str, Any]:
    """Keyword arguments for one call; what is not known is left out."""
    return _Made(model).all()


class _Made:
    def __init__(self, model: Any) -> None:
        self.configuration = model.config
        self.kind = type(model).__name__
        self.names = inspect.signature(model.forward).parameters
        self.is_sequence = "img_ids" in self.names or "img_shapes" in self.names
        self.is_tokens = self.is_sequence or "rope_interpolation_scale" in self.names

    def all(self) -> dict[str, Any]:
        made = {name: make(self) for name, make in _MAKERS.items() if name in self.names and self._is_wanted(name)}
        return {name: value for name, value in made.items() if value is not None}

    def _is_wanted(self, name: str) -> bool:
        """What stands in a call always, what has no default, and what this kind of model takes with another input."""
        if name in _ALWAYS or self.names[name].default is inspect.Parameter.empty:
            return True
        return any(other in self.names for other in _WITH.get(name, ()))

    def number(self, otherwise: int, *names: str) -> int:
        for name in names:
            value = getattr(self.configuration, name, None)
            value = value[0] if isinstance(value, (list, tuple)) and value else value
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        return otherwise

    def has(self, name: str) -> bool:
        return bool(getattr(self.configuration, name, None))

    # --- inputs by name ---------------------------------------------------------------------------------------

    def main(self) -> torch.Tensor:
        """Latents: an image, a video, patches in a row, or the embedding that a prior refines."""
        channels, size = self.number(4, "in_channels"), self.number(64, "sample_size")
        if "proj_embedding" in self.names:
            return torch.rand(1, self.number(768, "embedding_dim"))
        if self.is_sequence:
            return torch.rand(1, _PATCHES[0] * _PATCHES[1], channels)
        if self.is_tokens:
            return torch.rand(1, _FRAMES * _VIDEO[0] * _VIDEO[1], channels)
        if not self.is_video():
            return torch.rand(1, channels, size, size)
        frames, height, width = self.clip()
        if self.kind in _FRAMES_FIRST:
            return torch.rand(1, frames, channels, height, width)
        return torch.rand(1, channels, frames, height, width)

    def is_video(self) -> bool:
        if self.kind.startswith("AutoencoderKL"):
            return self.kind.endswith(_VIDEO_AUTOENCODERS)
        return "3D" in self.kind or self.kind in (*_FRAMES_FIRST, *_OF_VIDEO)

    def clip(self) -> tuple[int, int, int]:
        height, width = self.number(_VIDEO[0], "sample_height"), self.number(_VIDEO[1], "sample_width")
        frames = self.number(0, "num_frames")
        whole, every = self.number(0, "sample_frames"), self.number(4, "temporal_compression_ratio")
        return frames or ((whole - 1) // every + 1 if whole else _FRAMES), height, width

    def time(self) -> torch.Tensor:
        return torch.ones(1, dtype=torch.float32 if self.is_sequence else torch.int64)

    def prompt_length(self) -> int:
        given = self.number(0, "max_text_seq_length", "max_sequence_length", "num_embeddings")
        return given or (_PROMPT if "sample" in self.names or self.has("cross_attention_dim_t5") else _LONG_PROMPT)

    def prompt(self) -> torch.Tensor | None:
        if "added_time_ids" in self.names:  # an image stands for the prompt
            return torch.rand(1, 1, self.number(1024, "cross_attention_dim"))
        wide = self.number(0, *_WIDTHS)
        prompts = self.clip()[0] if self.kind in _PROMPT_A_FRAME else 1
        return torch.rand(prompts, self.prompt_length(), wide) if wide else None

    def second_prompt(self) -> torch.Tensor:
        return torch.rand(1, 256, self.number(2048, "cross_attention_dim_t5"))

    def added(self) -> dict[str, torch.Tensor] | None:
        if getattr(self.configuration, "addition_embed_type", None) == "text_time":
            of_times = 6 * self.number(256, "addition_time_embed_dim")
            text = self.number(2816, "projection_class_embeddings_input_dim") - of_times
            return {"text_embeds": torch.rand(1, text), "time_ids": torch.ones(1, 6)}
        if getattr(self.configuration, "norm_type", None) == "ada_norm_single" and self._is_told_its_size():
            return {"resolution": torch.full((1, 2), 1024.0), "aspect_ratio": torch.ones(1, 1)}
        return None

    def _is_told_its_size(self) -> bool:
        """PixArt by itself: where the configuration does not say, at its largest size."""
        told = getattr(self.configuration, "use_additional_conditions", None)
        return self.number(0, "sample_size") == 128 if told is None else bool(told)

    def condition(self) -> torch.Tensor:
        """What steers a ControlNet: an image, or latents where a transformer takes it."""
        if "pooled_projections" in self.names:
            return self.main()
        size = 8 * self.number(64, "sample_size")
        return torch.rand(1, self.number(3, "conditioning_channels"), size, size)

    def places(self, count: int) -> torch.Tensor:
        return torch.zeros(count, len(getattr(self.configuration, "axes_dims_rope", (0, 0, 0))))


#: Widths of a prompt's embeddings, in the order in which they count.
_WIDTHS = (
    "joint_attention_dim",
    "caption_channels",
    "text_embed_dim",
    "text_dim",
    "cap_feat_dim",
    "cross_attention_dim",
    "encoder_hid_dim",
    "embedding_dim",
)

_MAKERS: dict[str, Callable[[_Made], Any]] = {
    "sample": _Made.main,
    "hidden_states": _Made.main,
    "timestep": _Made.time,
    "timestep_ratio": lambda made: torch.rand(1),
    "encoder_hidden_states": _Made.prompt,
    "encoder_attention_mask": lambda made: torch.ones(1, made.prompt_length(), dtype=torch.bool),
    "encoder_hidden_states_mask": lambda made: torch.ones(1, made.prompt_length(), dtype=torch.int64),
    "text_embedding_mask": lambda made: torch.ones(1, made.prompt_length()),
    "encoder_hidden_states_t5": _Made.second_prompt,
    "text_embedding_mask_t5": lambda made: torch.ones(1, 256),
    "image_meta_size": lambda made: torch.full((1, 6), 1024.0),
    "style": lambda made: torch.zeros(1, dtype=torch.int64),
    "pooled_projections": lambda made: torch.rand(1, made.number(768, "pooled_projection_dim")),
    "clip_text_pooled": lambda made: torch.rand(1, 1, made.number(1280, "clip_text_pooled_in_channels")),
    "proj_embedding": lambda made: torch.rand(1, made.number(768, "embedding_proj_dim", "embedding_dim")),
    "img_ids": lambda made: made.places(_PATCHES[0] * _PATCHES[1]),
    "txt_ids": lambda made: made.places(_LONG_PROMPT),
    "img_shapes": lambda made: [[(1, *_PATCHES)]],
    "txt_seq_lens": lambda made: [made.prompt_length()],
    "guidance": lambda made: torch.ones(1) if getattr(made.configuration, "guidance_embeds", True) else None,
    "class_labels": lambda made: torch.zeros(1, dtype=torch.int64) if made.has("num_embeds_ada_norm") else None,
    "controlnet_cond": _Made.condition,
    "added_cond_kwargs": _Made.added,
    "added_time_ids": lambda made: torch.ones(1, 3),
    "num_frames": lambda made: _FRAMES if made.is_tokens else None,
    "height": lambda made: _VIDEO[0],
    "width": lambda made: _VIDEO[1],
    "original_size": lambda made: torch.full((1, 2), 1024.0),
    "target_size": lambda made: torch.full((1, 2), 1024.0),
    "crop_coords": lambda made: torch.zeros(1, 2),
}

#: Given though they have a default: without them a model does not run, or runs without a part of its own.
_ALWAYS = (
    "sample",
    "hidden_states",
    "timestep",
    "encoder_hidden_states",
    "pooled_projections",
    "img_ids",
    "txt_ids",
    "img_shapes",
    "guidance",
    "class_labels",
    "controlnet_cond",
    "added_cond_kwargs",
    "encoder_hidden_states_t5",
)

#: The same, beside one of these.
_WITH = {
    "encoder_hidden_states_mask": ("img_shapes",),
    "txt_seq_lens": ("img_shapes",),
    "text_embedding_mask": ("encoder_hidden_states_t5",),
    "text_embedding_mask_t5": ("encoder_hidden_states_t5",),
    "image_meta_size": ("encoder_hidden_states_t5",),
    "style": ("encoder_hidden_states_t5",),
    "num_frames": ("rope_interpolation_scale",),
    "height": ("rope_interpolation_scale",),
    "width": ("rope_interpolation_scale",),
}
