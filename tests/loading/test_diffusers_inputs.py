"""Inputs of diffusers' models, by names of parameters and numbers of a configuration: small models stand for them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from opscan.loading.diffusers_inputs import inputs_for


def shapes(model: Any) -> dict[str, Any]:
    made = inputs_for(model)
    return {name: tuple(v.shape) if isinstance(v, torch.Tensor) else v for name, v in made.items()}


class _Model:
    def __init__(self, **configuration: Any) -> None:
        self.config = SimpleNamespace(**configuration)


class UNet(_Model):
    def forward(self, sample: Any, timestep: Any, encoder_hidden_states: Any, class_labels: Any = None) -> None: ...


class CogVideoXTransformer3DModel(_Model):
    def forward(self, hidden_states: Any, encoder_hidden_states: Any, timestep: Any, ofs: Any = None) -> None: ...


class WanTransformer3DModel(CogVideoXTransformer3DModel): ...


class ImageSequence(_Model):
    def forward(
        self,
        hidden_states: Any,
        encoder_hidden_states: Any = None,
        encoder_hidden_states_mask: Any = None,
        timestep: Any = None,
        img_shapes: Any = None,
        txt_seq_lens: Any = None,
        guidance: Any = None,
    ) -> None: ...


class Prior(_Model):
    def forward(self, hidden_states: Any, timestep: Any, proj_embedding: Any, encoder_hidden_states: Any) -> None: ...


class ControlNet(_Model):
    def forward(self, hidden_states: Any, controlnet_cond: Any, pooled_projections: Any = None) -> None: ...


class PixArt(_Model):
    def forward(self, hidden_states: Any, encoder_hidden_states: Any = None, added_cond_kwargs: Any = None) -> None: ...


def test_an_image() -> None:
    assert shapes(UNet(in_channels=9, sample_size=32, cross_attention_dim=768)) == {
        "sample": (1, 9, 32, 32),
        "timestep": (1,),
        "encoder_hidden_states": (1, 77, 768),
    }
    assert shapes(UNet(num_embeds_ada_norm=1000))["class_labels"] == (1,)


def test_a_video_with_its_frames_before_its_channels_or_behind() -> None:
    numbers = {"in_channels": 16, "sample_height": 60, "sample_width": 90, "sample_frames": 49}
    assert shapes(CogVideoXTransformer3DModel(**numbers))["hidden_states"] == (1, 13, 16, 60, 90)
    assert shapes(WanTransformer3DModel(in_channels=16, text_dim=4096)) == {
        "hidden_states": (1, 16, 5, 32, 32),
        "encoder_hidden_states": (1, 512, 4096),
        "timestep": (1,),
    }


def test_patches_in_a_row_say_the_image_that_they_are_of() -> None:
    made = shapes(ImageSequence(in_channels=64, joint_attention_dim=3584, guidance_embeds=True))
    assert made["hidden_states"] == (1, 1024, 64)
    assert made["img_shapes"] == [[(1, 32, 32)]]
    assert made["txt_seq_lens"] == [512]
    assert made["encoder_hidden_states"] == (1, 512, 3584)
    assert made["encoder_hidden_states_mask"] == (1, 512)
    assert made["guidance"] == (1,)


def test_an_embedding_that_a_prior_refines() -> None:
    made = shapes(Prior(embedding_dim=768, num_embeddings=77))
    assert (made["hidden_states"], made["proj_embedding"]) == ((1, 768), (1, 768))
    assert made["encoder_hidden_states"] == (1, 77, 768)


def test_what_a_model_is_told_of_its_image() -> None:
    large = inputs_for(PixArt(norm_type="ada_norm_single", sample_size=128, use_additional_conditions=None))
    assert set(large["added_cond_kwargs"]) == {"resolution", "aspect_ratio"}
    small = inputs_for(PixArt(norm_type="ada_norm_single", sample_size=64, use_additional_conditions=None))
    assert "added_cond_kwargs" not in small


def test_what_steers_a_transformer_is_as_large_as_its_latents() -> None:
    made = shapes(ControlNet(in_channels=16, sample_size=128, pooled_projection_dim=2048))
    assert made["controlnet_cond"] == made["hidden_states"] == (1, 16, 128, 128)
    assert made["pooled_projections"] == (1, 2048)
