"""Inputs for a model of transformers: by the names of its parameters and the numbers of its configuration; by its type
where these do not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from opscan.loading import transformers_images as images
from opscan.loading import transformers_particular as particular
from opscan.loading import transformers_sounds as sounds
from opscan.loading import transformers_texts as texts
from opscan.loading.signature import parameters_of, required
from opscan.loading.transformers_call import Call
from opscan.text import Text

_Maker = Callable[[Call], Any]

#: By the name of the parameter. None from a maker leaves the input out.
_MAKERS: Mapping[str, _Maker] = {
    "input_ids": texts.ids,
    "attention_mask": texts.mask,
    "decoder_input_ids": texts.written,
    "qformer_input_ids": texts.written,
    "token_type_ids": texts.kinds_of_tokens,
    "bbox": texts.boxes,
    "pixel_values": images.pixel_values,
    "pixel_values_images": images.images_of,
    "pixel_values_videos": images.clip,
    "high_res_pixel_values": images.high_resolution,
    "prompt_pixel_values": images.whole_image,
    "prompt_masks": images.painted_mask,
    "image": images.document,
    "image_grid_thw": images.image_grid,
    "image_sizes": images.image_sizes,
    "spatial_shapes": images.spatial_shapes,
    "pixel_attention_mask": images.patch_mask,
    "pixel_mask": images.pixel_mask,
    "aspect_ratio_ids": images.aspect_ratio_ids,
    "aspect_ratio_mask": images.aspect_ratio_mask,
    "cross_attention_mask": images.cross_attention_mask,
    "flattened_patches": images.flattened_patches,
    "input_points": images.points,
    "input_labels": images.point_labels,
    "input_features": sounds.features,
    "input_features_mask": sounds.heard,
    "feature_attention_mask": sounds.feature_mask,
    "is_longer": sounds.is_longer,
    "input_values": sounds.sound,
    "audio_values": sounds.audio_values,
    "audio_mel": sounds.mel,
    "audio_mel_mask": sounds.mel_mask,
    "decoder_input_values": sounds.spoken,
    "past_values": sounds.past,
    "past_observed_mask": sounds.observed,
    "past_values_padding": sounds.past_padding,
    "past_time_features": sounds.past_times,
    "future_values": sounds.future,
    "future_time_features": sounds.future_times,
    "freq": sounds.frequency,
    "states": sounds.states,
    "actions": sounds.actions,
    "rewards": sounds.rewards,
    "returns_to_go": sounds.rewards,
    "timesteps": sounds.timesteps,
    "trajectories": sounds.trajectories,
}

#: Optional to the signature, and part of every call that is worth scanning.
_GIVEN = frozenset(
    {
        "input_ids", "attention_mask", "bbox", "pixel_values", "pixel_values_images", "high_res_pixel_values", "image",
        "image_grid_thw", "image_sizes", "spatial_shapes", "pixel_attention_mask", "pixel_mask", "aspect_ratio_ids",
        "aspect_ratio_mask", "cross_attention_mask", "flattened_patches", "input_points", "input_labels",
        "input_features", "input_features_mask", "feature_attention_mask", "is_longer", "decoder_input_values",
        "past_values", "future_values", "future_time_features", "states", "actions", "rewards", "returns_to_go",
        "timesteps", "trajectories",
    }
)  # fmt: skip


#: What speaks for itself: other inputs stand among a text that has places for them.
_OF_TEXT = frozenset({"input_ids", "attention_mask", "decoder_input_ids", "token_type_ids", "inputs_embeds"})


def inputs_for(model: Any, given: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], tuple[Text, ...]]:
    """Keyword arguments for one call, none where nothing is known; and what was left out of it. They fit those that are
    ``given``, and have them too.
    """
    given = given or {}
    kind = str(getattr(model.config, "model_type", ""))
    own = particular.MAKERS.get(kind, {})
    wanted = _wanted(model, own, particular.LEFT_OUT.get(kind, ()))
    if "input_ids" in given and texts.has_places(model.config):  # nobody knows whether that text has them
        wanted = tuple(name for name in wanted if name in _OF_TEXT)
    call = Call(model, {**_MAKERS, **own}, wanted)
    call.made.update(given)
    return call.arguments() or dict(getattr(model, "dummy_inputs", {}) or {}), tuple(call.notes)


def _wanted(model: Any, own: Mapping[str, _Maker], left_out: tuple[str, ...]) -> tuple[str, ...]:
    """What a call needs, what its model calls its main input, and what belongs to every call."""
    parameters = tuple(parameters_of(model.forward) or ())
    main = getattr(model, "main_input_name", "input_ids")
    needed = {main} if isinstance(main, str) else set(main)
    needed.update(required(model.forward), own, _GIVEN)
    if getattr(model.config, "is_encoder_decoder", False):
        needed.add("decoder_input_ids")
    return tuple(name for name in parameters if name in needed and name not in left_out)
