"""Inputs for a model of transformers, by the names of its parameters and the numbers of its configuration."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

#: Tokens of a text, of what a decoder has written so far, and samples of a second of sound.
_TOKENS = 128
_WRITTEN = 16
_SAMPLES = 16000
_PIXELS = 224

#: Parts of a configuration in which a number may stand.
_PARTS = ("text_config", "vision_config", "audio_config", "encoder", "decoder", "backbone_config", "speech_config")


class _Numbers:
    """Numbers of a configuration, or of one of its parts."""

    def __init__(self, configuration: Any, parts: tuple[str, ...] = _PARTS) -> None:
        found = [getattr(configuration, part, None) for part in parts]
        self._places = [configuration, *(part for part in found if part is not None and not isinstance(part, dict))]

    def get(self, *names: str) -> Any:
        for place in self._places:
            for name in names:
                value = getattr(place, name, None)
                if isinstance(value, (int, float, list, tuple)) and not isinstance(value, bool) and value:
                    return value
        return None


def inputs_for(model: Any) -> dict[str, Any]:
    """Keyword arguments for one call. What a model's class offers itself comes first; empty where nothing is known."""
    configuration = model.config
    names = list(inspect.signature(model.forward).parameters)
    main = getattr(model, "main_input_name", "input_ids")
    made: dict[str, Any] = {}
    for name in (main, *_ALWAYS):
        if name in names and name in _MAKERS and name not in made and _is_wanted(name, main, names, configuration):
            made[name] = _MAKERS[name](configuration, names)
    if "input_ids" in made and "attention_mask" in names:
        made["attention_mask"] = torch.ones_like(made["input_ids"])
    if getattr(configuration, "is_encoder_decoder", False) and "decoder_input_ids" in names:
        made["decoder_input_ids"] = _ids(configuration, _WRITTEN)
    return made or dict(getattr(model, "dummy_inputs", {}) or {})


#: Inputs that a model needs besides its main one, where it takes them.
_ALWAYS = ("input_ids", "pixel_values", "input_features", "input_values", "bbox", "past_values")

#: Models that take frames, each an image.
_OF_VIDEO = ("videomae", "timesformer", "vivit", "vjepa2", "xclip")

#: Families whose text and images are separate inputs, both needed.
_OF_TWO = ("projection_dim", "image_text_hidden_size", "logit_scale_init_value")


def _is_wanted(name: str, main: str, names: list[str], configuration: Any) -> bool:
    """The main input always; another where both kinds belong to every call."""
    if name == main:
        return True
    if name in ("bbox", "past_values"):
        return name == "bbox" or main == "past_values"
    if {name, main} != {"input_ids", "pixel_values"}:
        return False
    has_tokens = hasattr(configuration, "image_token_id") or hasattr(configuration, "image_token_index")
    both = hasattr(configuration, "text_config") and hasattr(configuration, "vision_config")
    if both and any(hasattr(configuration, n) for n in _OF_TWO):
        return not has_tokens
    return getattr(configuration, "model_type", "") in ("vilt", "bridgetower", "flava")


def _ids(
    configuration: Any, length: int = _TOKENS, parts: tuple[str, ...] = ("text_config", "decoder", "encoder")
) -> Any:
    """Different tokens, none of them special to most vocabularies."""
    numbers = _Numbers(configuration, parts)
    vocabulary = int(numbers.get("vocab_size") or 1000)
    longest = numbers.get("max_position_embeddings", "n_positions", "max_seq_len")
    length = min(length, int(longest) - 2) if isinstance(longest, int) and longest > 4 else length
    ids = torch.arange(length) % max(vocabulary - 10, 1) + min(5, vocabulary - 1)
    return ids.clamp(max=vocabulary - 1).reshape(1, length)


def _image(configuration: Any, names: list[str]) -> Any:
    numbers = _Numbers(configuration, ("vision_config", "backbone_config", "encoder"))
    size = numbers.get("image_size", "input_size", "crop_size") or _PIXELS
    height, width = (int(size), int(size)) if isinstance(size, (int, float)) else (int(size[-2]), int(size[-1]))
    channels = numbers.get("num_channels", "in_channels", "in_chans") or 3
    frames = numbers.get("num_frames", "frames_per_clip")
    is_video = frames and getattr(configuration, "model_type", "") in (
        "videomae",
        "timesformer",
        "vivit",
        "vjepa2",
        "xclip",
    )
    shape = (1, int(frames), int(channels), height, width) if is_video else (1, int(channels), height, width)
    return torch.rand(shape)


def _features(configuration: Any, names: list[str]) -> Any:
    """A spectrum: bands by time for Whisper's family, time by bands for others."""
    numbers = _Numbers(configuration, ("audio_config", "speech_config", "encoder"))
    positions = numbers.get("max_source_positions")
    bands = numbers.get("num_mel_bins")
    if bands and positions:
        return torch.rand(1, int(bands), 2 * int(positions))
    wide = numbers.get(
        "feature_projection_input_dim", "input_feat_per_channel", "input_dim", "num_mel_bins", "feature_size"
    )
    return torch.rand(1, _TOKENS, int(wide or 80))


def _sound(configuration: Any, names: list[str]) -> Any:
    """A second of sound; a spectrum for models that are told how many bands it has."""
    numbers = _Numbers(configuration, ("audio_config", "speech_config", "encoder"))
    bands, longest = numbers.get("num_mel_bins"), numbers.get("max_length")
    if bands and getattr(configuration, "model_type", "") == "audio-spectrogram-transformer":
        return torch.rand(1, int(longest or 1024), int(bands))
    channels = numbers.get("audio_channels")
    return torch.rand(1, int(channels), _SAMPLES) if channels else torch.rand(1, _SAMPLES)


def _boxes(configuration: Any, names: list[str]) -> Any:
    return torch.zeros(1, _ids(configuration).shape[1], 4, dtype=torch.int64)


def _series(configuration: Any, names: list[str]) -> Any:
    numbers = _Numbers(configuration)
    length = numbers.get("context_length") or 64
    return torch.rand(1, int(length), int(numbers.get("num_input_channels", "input_size") or 1))


_MAKERS: dict[str, Callable[[Any, list[str]], Any]] = {
    "input_ids": lambda configuration, names: _ids(configuration),
    "pixel_values": _image,
    "input_features": _features,
    "input_values": _sound,
    "bbox": _boxes,
    "past_values": _series,
}
