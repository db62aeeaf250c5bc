"""Token ids for a model of transformers, with a place for each feature of an image or a sound among them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from opscan.loading.notes import in_one_line
from opscan.loading.transformers_call import Call
from opscan.loading.transformers_numbers import TEXT, Numbers, special_tokens
from opscan.text import Text

#: Tokens of a text, and of what a decoder has written so far.
_TOKENS = 128
_WRITTEN = 16

#: Models that go through a text token by token, where their kernels for CUDA are missing: each token costs a whole run
#: of their operators, and shows no others.
_STEP_BY_STEP = ("rwkv", "mamba", "falcon_mamba", "jamba", "zamba")
_STEPS = 32

#: Names of the token that stands for one feature of each modality, and of those that stand around them.
_IMAGE = ("image_token_id", "image_token_index", "image_token")
_IMAGE_AROUND = (("vision_start_token_id", "image_start_token_id"), ("vision_end_token_id", "image_end_token_id"))
_SOUND = ("audio_token_id", "audio_token_index")
_SOUND_AROUND = (("audio_start_token_id",), ("audio_end_token_id",))

#: Where a configuration itself tells how many features there are.
_FEATURES_OF_IMAGE = (
    "vision_soft_tokens_per_image", "mm_tokens_per_image", "image_seq_length", "num_query_tokens", "num_image_tokens",
    "latent_query_num",
)  # fmt: skip
_FEATURES_OF_SOUND = ("audio_soft_tokens_per_image",)


def ids(call: Call) -> Any:
    """A text, behind what is seen and heard."""
    text = plain(call.configuration)
    before = [*_seen(call), *_heard(call)]
    if not before:
        return text
    return torch.cat([text[:, :1], torch.tensor([before]), text[:, 1:]], dim=1)


def plain(configuration: Any, length: int = _TOKENS) -> torch.Tensor:
    """Different tokens, none of them with a meaning of its own to the model."""
    numbers = Numbers(configuration, TEXT)
    vocabulary = numbers.integer(1000, "vocab_size")
    length = min(length, _STEPS) if getattr(configuration, "model_type", "") in _STEP_BY_STEP else length
    longest = numbers.get("max_position_embeddings", "n_positions", "max_seq_len")
    length = min(length, int(longest) - 2) if isinstance(longest, int) and longest > 4 else length
    special = set(special_tokens(configuration).values())
    usual = [token for token in range(3, min(vocabulary, 2 * _TOKENS + 64)) if token not in special] or [0]
    return torch.tensor([[usual[i % len(usual)] for i in range(length)]])


def opened_tokens(configuration: Any) -> list[Text]:
    """Where a configuration leaves open which token stands for an image or a sound, one of the last of the vocabulary
    does."""
    notes = []
    vocabulary = Numbers(configuration, TEXT).integer(0, "vocab_size")
    for place, kind in enumerate(("image", "video", "audio"), 1):
        for name in (f"{kind}_token_id", f"{kind}_token_index"):
            if not vocabulary or getattr(configuration, name, 0) is not None:
                continue
            token = vocabulary - place
            setattr(configuration, name, token)
            notes.append(
                Text(f"The configuration has no {name}: {token} was taken.", f"配置中没有 {name}：取 {token}。")
            )
    return notes


def written(call: Call) -> Any:
    return plain(call.configuration, _WRITTEN)


def mask(call: Call) -> Any:
    found = call.get("input_ids")
    return None if found is None or found.dim() != 2 else torch.ones_like(found)


def kinds_of_tokens(call: Call) -> Any:
    """Of one text, all the same."""
    found = call.get("input_ids")
    return None if found is None else torch.zeros_like(found)


def boxes(call: Call) -> Any:
    """Where each token stands on a page; relative to it where the model takes numbers of any kind."""
    count = call.get("input_ids").shape[1]
    if call.kind == "udop":
        return torch.zeros(1, count, 4)
    if call.kind == "bros":
        return torch.zeros(1, count, 8)
    return torch.zeros(1, count, 4, dtype=torch.int64)


# --- places for features ----------------------------------------------------------------------------------------


def _seen(call: Call) -> Iterator[int]:
    image = next((name for name in ("pixel_values", "pixel_values_images") if call.get(name) is not None), None)
    if image is not None:
        yield from _places(call, _IMAGE, _IMAGE_AROUND, "get_image_features", _FEATURES_OF_IMAGE)


def _heard(call: Call) -> Iterator[int]:
    if call.get("input_features") is not None:
        yield from _places(call, _SOUND, _SOUND_AROUND, "get_audio_features", _FEATURES_OF_SOUND)


def has_places(configuration: Any) -> bool:
    """Whether features of images or sounds stand among the tokens."""
    return not special_tokens(configuration).keys().isdisjoint((*_IMAGE, *_SOUND))


def _places(
    call: Call,
    names: tuple[str, ...],
    around: tuple[tuple[str, ...], tuple[str, ...]],
    method: str,
    configured: tuple[str, ...],
) -> Iterator[int]:
    """The model's own method tells how many features there are, else its configuration."""
    special = special_tokens(call.configuration)
    token = next((special[name] for name in names if name in special), None)
    if token is None:
        return
    before, after = ([special[n] for n in names if n in special][:1] for names in around)
    count = _counted(call, method)
    if method == "get_audio_features":  # Gemma 3n pads what it heard to this number
        count = Numbers(call.configuration).integer(0, *_FEATURES_OF_SOUND) or count
    if count is None:
        return
    yield from (*before, *[token] * (count or Numbers(call.configuration).integer(0, *configured)), *after)


def _counted(call: Call, method: str) -> int | None:
    """Features that the model makes of its inputs; 0 where it does not tell. None where they do not fit the text, as in
    configurations of which only a part is given: the inputs are then left out of the call.
    """
    for owner in (call.model, getattr(call.model, "model", None)):
        function = getattr(owner, method, None)
        arguments = call.of_the_same_name(function) if function is not None else None
        if function is None or not arguments:
            continue
        try:
            with torch.no_grad():
                rows, width = _rows(function(**arguments))
        except Exception as error:
            call.leave_out(arguments, f"{method}() raises {in_one_line(error)}")
            return None
        wanted = _width(call.model)
        if rows and wanted and width != wanted:
            call.leave_out(arguments, f"their features have {width} numbers each, those of a token {wanted}")
            return None
        return rows
    return 0


def _width(model: Any) -> int:
    """Of a token's embedding; 0 where the model does not tell."""
    try:
        weight = model.get_input_embeddings().weight
    except (AttributeError, NotImplementedError):
        return 0
    return int(weight.shape[-1])


def _rows(features: Any) -> tuple[int, int]:
    """How many features there are, and how many numbers each has: in one tensor, or in one for each image. What stands
    behind a list of them is of inner layers; transformers 5 keeps them as ``pooler_output``.
    """
    features = getattr(features, "pooler_output", features)
    if isinstance(features, torch.Tensor):
        width = features.shape[-1]
        return features.numel() // width, width
    if not isinstance(features, (list, tuple)) or not features:
        return 0, 0
    if isinstance(features[0], (list, tuple)):
        return _rows(features[0])
    found = [_rows(feature) for feature in features]
    return sum(rows for rows, _ in found), found[0][1]
