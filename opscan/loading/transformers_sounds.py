"""Sound, series of numbers and steps of a game for a model of transformers."""

from __future__ import annotations

from typing import Any

import torch

from opscan.loading.transformers_call import Call
from opscan.loading.transformers_numbers import SOUND, Numbers

#: Samples of a second of sound, and spectra of a sound.
_SAMPLES = 16000
_SPECTRA = 128

#: Whisper's family hears thirty seconds: two spectra for each of its positions.
_POSITIONS = 1500

#: Steps of a series where no context is configured, and of a game.
_STEPS = 64

#: Models whose spectra are bands by time, with as much time as they have positions.
_BANDS_FIRST = ("whisper", "qwen2_audio", "qwen2_audio_encoder", "voxtral", "voxtral_encoder")


def _numbers(call: Call) -> Numbers:
    return Numbers(call.configuration, SOUND)


def features(call: Call) -> Any:
    """A spectrum: bands by time for Whisper's family, time by bands for others."""
    numbers = _numbers(call)
    bands = numbers.integer(80, "num_mel_bins")
    if call.kind in _BANDS_FIRST:
        return torch.rand(1, bands, 2 * numbers.integer(_POSITIONS, "max_source_positions"))
    if call.kind == "clap":
        side = numbers.integer(256, "spec_size")
        return torch.rand(1, 4 if numbers.get("enable_fusion") else 1, side * side // 64, 64)
    if call.kind == "clvp":
        return torch.rand(1, numbers.integer(80, "feature_size"), _SPECTRA)
    wide = numbers.integer(
        80,
        "feature_projection_input_dim",
        "input_feat_per_channel",
        "input_feat_size",
        "input_dim",
        "num_mel_bins",
        "model_in_channels",
        "feature_size",
    )
    return torch.rand(1, _SPECTRA, wide)


def feature_mask(call: Call) -> Any:
    """All of the spectrum is sound."""
    found = call.get("input_features")
    if found is None:
        return None
    time = found.shape[2] if call.kind in _BANDS_FIRST else found.shape[1]
    return torch.ones(1, time, dtype=torch.int64)


def heard(call: Call) -> Any:
    """``input_features_mask`` of Gemma's kind: true where there is sound."""
    mask = feature_mask(call)
    return None if mask is None else mask.bool()


def is_longer(call: Call) -> Any:
    return torch.zeros(1, 1, dtype=torch.bool)


def mel(call: Call) -> Any:
    return torch.rand(1, _SPECTRA, _numbers(call).integer(128, "input_feat_size"))


def mel_mask(call: Call) -> Any:
    return torch.zeros(1, _SPECTRA, dtype=torch.bool)


def sound(call: Call) -> Any:
    """A second of sound; a spectrum for models that are told how many bands it has."""
    numbers = _numbers(call)
    bands, longest = numbers.get("num_mel_bins"), numbers.get("max_length")
    if bands and call.kind == "audio-spectrogram-transformer":
        return torch.rand(1, int(longest or 1024), int(bands))
    codec = call.kind in ("dac", "xcodec", "mimi", "kyutai_speech_to_text")
    count = numbers.get("audio_channels")
    return torch.rand(1, int(count or 1), _whole_frames(numbers)) if count or codec else torch.rand(1, _SAMPLES)


def _whole_frames(numbers: Numbers) -> int:
    """About a second, in whole frames of a codec."""
    frame = numbers.get("hop_length")
    return _SAMPLES // int(frame) * int(frame) if isinstance(frame, (int, float)) else _SAMPLES


def audio_values(call: Call) -> Any:
    numbers = _numbers(call)
    return torch.rand(
        1,
        numbers.integer(1, "num_audio_channels"),
        numbers.integer(2048, "audio_size"),
        numbers.integer(128, "frequency_length"),
    )


def spoken(call: Call) -> Any:
    """What a decoder of speech has said so far, as spectra."""
    return torch.rand(1, 16, _numbers(call).integer(80, "num_mel_bins"))


# --- series -----------------------------------------------------------------------------------------------------


def past(call: Call) -> Any:
    numbers = Numbers(call.configuration)
    if call.takes("past_values_padding"):
        return torch.rand(1, numbers.integer(512, "context_length"))
    length = numbers.integer(_STEPS, "context_length") + (_lags(numbers) if call.takes("past_time_features") else 0)
    count = numbers.integer(1, "num_input_channels", "input_size")
    if call.takes("past_time_features"):
        return torch.rand(1, length, count) if count > 1 else torch.rand(1, length)
    return torch.rand(1, length, count)


def _lags(numbers: Numbers) -> int:
    lags = numbers.get("lags_sequence")
    return max(int(lag) for lag in lags) if isinstance(lags, (list, tuple)) else 0


def observed(call: Call) -> Any:
    return torch.ones_like(call.get("past_values"), dtype=torch.bool).float()


def past_padding(call: Call) -> Any:
    return torch.zeros_like(call.get("past_values"))


def frequency(call: Call) -> Any:
    return torch.zeros(1, 1, dtype=torch.int64)


def past_times(call: Call) -> Any:
    return torch.rand(1, call.get("past_values").shape[1], _time_features(call))


def future(call: Call) -> Any:
    length = Numbers(call.configuration).integer(0, "prediction_length")
    found = call.get("past_values")
    return torch.rand(1, length, *found.shape[2:]) if length and call.takes("future_time_features") else None


def future_times(call: Call) -> Any:
    length = Numbers(call.configuration).integer(0, "prediction_length")
    return torch.rand(1, length, _time_features(call)) if length else None


def _time_features(call: Call) -> int:
    return Numbers(call.configuration).integer(0, "num_time_features")


# --- games ------------------------------------------------------------------------------------------------------


def states(call: Call) -> Any:
    return torch.rand(1, _STEPS, Numbers(call.configuration).integer(17, "state_dim"))


def actions(call: Call) -> Any:
    return torch.rand(1, _STEPS, Numbers(call.configuration).integer(4, "act_dim"))


def rewards(call: Call) -> Any:
    return torch.rand(1, _STEPS, 1)


def timesteps(call: Call) -> Any:
    return torch.arange(_STEPS)[None]


def trajectories(call: Call) -> Any:
    numbers = Numbers(call.configuration)
    return torch.zeros(1, 3 * numbers.integer(25, "transition_dim"), dtype=torch.int64)
