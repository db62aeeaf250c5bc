"""Inputs of single model types: those whose shapes or meaning the name of the parameter does not tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch

from opscan.loading import transformers_images as images
from opscan.loading import transformers_texts as texts
from opscan.loading.transformers_call import Call
from opscan.loading.transformers_numbers import SOUND, TEXT, VISION, Numbers, special_tokens

#: Regions that a detector has found in an image.
_REGIONS = 36

#: Frames of a codec, each with a code of every codebook.
_FRAMES = 16


def _text(call: Call) -> Numbers:
    return Numbers(call.configuration, TEXT)


def _vision(call: Call) -> Numbers:
    return Numbers(call.configuration, VISION)


def _sound(call: Call) -> Numbers:
    return Numbers(call.configuration, SOUND)


# --- text and images --------------------------------------------------------------------------------------------


def _ids_behind_queries(call: Call) -> Any:
    """Kosmos: places for as many features as the model has queries, told by a mask besides."""
    plain = texts.plain(call.configuration)
    return torch.cat([plain[:, :1].expand(1, _text(call).integer(64, "latent_query_num")), plain], dim=1)


def _places_of_queries(call: Call) -> Any:
    found = torch.zeros_like(call.get("input_ids"))
    found[:, : _text(call).integer(64, "latent_query_num")] = 1
    return found.bool() if call.kind == "kosmos-2" else found


def _fuyu_ids(call: Call) -> Any:
    plain = texts.plain(call.configuration)
    token = special_tokens(call.configuration).get("image_token_id", 0)
    return torch.cat([plain.new_full((1, call.get("image_patches").shape[1]), token), plain], dim=1)


def _fuyu_patches(call: Call) -> Any:
    return torch.rand(1, _FRAMES, images.channels(call) * _vision(call).integer(30, "patch_size") ** 2)


def _image_of_each_token(call: Call) -> Any:
    """Idefics: every token looks at the one image."""
    return torch.ones(1, call.get("input_ids").shape[1], 1, dtype=torch.int64)


def _regions(call: Call) -> Any:
    return torch.rand(1, _REGIONS, _vision(call).integer(2048, "visual_feat_dim", "visual_embedding_dim"))


def _places_of_regions(call: Call) -> Any:
    return torch.rand(1, _REGIONS, 4)


def _looks_everywhere(call: Call) -> Any:
    """The first token attends to all, as a question or a class does."""
    found = torch.zeros_like(call.get("input_ids"))
    found[:, 0] = 1
    return found


def _entities(call: Call) -> Any:
    return torch.arange(1, 5)[None]


def _mentions(call: Call) -> Any:
    """Which tokens mention each entity; what is left of the longest mention is -1."""
    found = torch.full((1, 4, _text(call).integer(30, "max_mention_length")), -1)
    found[..., :2] = torch.arange(8).reshape(4, 2)
    return found


def _depth_prompt(call: Call) -> Any:
    """What a sensor measures, in fewer pixels than the image has."""
    return torch.rand(1, 1, 192, 256)


def _path(call: Call) -> Any:
    """Tags from a page's root to each token, none of them padding."""
    return torch.zeros(1, call.get("input_ids").shape[1], _text(call).integer(50, "max_depth"), dtype=torch.int64)


def _task(call: Call) -> Any:
    return texts.plain(call.configuration, _text(call).integer(77, "task_seq_len"))


def _scaled_image(call: Call) -> Any:
    """Depth Pro: large enough that its smallest copy is still a patch."""
    ratio = min(_vision(call).get("scaled_images_ratios") or (0.25,))
    side = int(_vision(call).integer(384, "patch_size") / ratio)
    return torch.rand(1, 3, side, side)


def _half_image(call: Call) -> Any:
    """SegGPT stacks a prompt and the image: each has half of the height."""
    height, width = images.size(call)
    return torch.rand(1, images.channels(call), height // 2, width)


def _images_padded(call: Call) -> Any:
    """ColQwen2: the patches of each image as a row."""
    return images.pixel_values(call)[None]


def _square_of_queries(call: Call) -> Any:
    """Aria: as many patches as its projector has queries for."""
    known = getattr(call.configuration, "projector_patch_to_query_dict", None) or {1225: 128}
    side = math.isqrt(int(next(iter(known)))) * _vision(call).integer(14, "patch_size")
    return torch.rand(1, 3, side, side)


def _classes(call: Call) -> Any:
    return texts.plain(call.configuration, _FRAMES).expand(2, _FRAMES)


def _class_mask(call: Call) -> Any:
    return torch.ones(2, _FRAMES, dtype=torch.int64)


def _query_embeds(call: Call) -> Any:
    return torch.rand(1, 32, _text(call).integer(768, "hidden_size"))


def _image_states(call: Call) -> Any:
    return torch.rand(1, 257, _text(call).integer(1408, "encoder_hidden_size"))


def _latents_input(call: Call) -> Any:
    """Perceiver without a preprocessor: features of its width."""
    return torch.rand(1, 512, _text(call).integer(768, "d_model"))


def _proteins(call: Call) -> Any:
    return texts.plain(getattr(call.configuration, "protein_encoder_config", call.configuration), 64) % 20 + 4


def _protein_mask(call: Call) -> Any:
    return torch.ones_like(call.get("protein_input_ids"))


# --- sound ------------------------------------------------------------------------------------------------------


def _codes(call: Call) -> Any:
    """Codes of every codebook, a row each."""
    return torch.zeros(_text(call).integer(4, "num_codebooks"), _FRAMES, dtype=torch.int64)


def _frames_of_codes(call: Call) -> Any:
    """One frame after another, with the codes of every codebook (and of a text, for speech models that mix them)."""
    count = _text(call).integer(1, "num_codebooks", "num_channels")
    return torch.zeros(1, _FRAMES, count + (call.kind == "kyutai_speech_to_text"), dtype=torch.int64)


def _text_of_frames(call: Call) -> Any:
    return texts.plain(call.configuration, _FRAMES)


def _codes_as_text(call: Call) -> Any:
    return torch.zeros(1, _text(call).integer(8, "num_codebooks"), _FRAMES, dtype=torch.int64)


def _ids_behind_sound(call: Call) -> Any:
    """Qwen2-Audio has no method that tells how many features it makes: of four spectra one, by two strides."""
    plain = texts.plain(call.configuration)
    spectra = call.get("input_features").shape[-1]
    special = special_tokens(call.configuration)
    token = special.get("audio_token_index", special.get("audio_token_id", 0))
    places = plain.new_full((1, ((spectra - 1) // 2 - 1) // 2 + 1), token)
    return torch.cat([plain[:, :1], places, plain[:, 1:]], dim=1)


def _hidden_speech(call: Call) -> Any:
    """SpeechT5 without its prenets takes what they would give."""
    return torch.rand(1, 64, _text(call).integer(768, "hidden_size"))


def _embedded_spectrum(call: Call) -> Any:
    """Pop2Piano's processor makes features as wide as its encoder."""
    return torch.rand(1, 64, _text(call).integer(512, "d_model"))


def _spectrum(call: Call) -> Any:
    return torch.rand(1, 64, _sound(call).integer(80, "num_mel_channels", "model_in_dim", "num_mel_bins"))


# --- graphs, queries, languages ---------------------------------------------------------------------------------

_NODES = 8


def _graph(*shape: int, dtype: torch.dtype = torch.int64) -> Callable[[Call], Any]:
    return lambda call: torch.zeros(shape, dtype=dtype)


def _plain(call: Call) -> Any:
    return texts.plain(call.configuration)


def _all_of_it(name: str) -> Callable[[Call], Any]:
    return lambda call: torch.ones_like(call.get(name))


def _one_language(call: Call) -> Any:
    return torch.zeros(1, dtype=torch.int64)


#: By model type; these come before the makers by name, and are part of every call.
MAKERS: Mapping[str, Mapping[str, Callable[[Call], Any]]] = {
    "kosmos-2": {"input_ids": _ids_behind_queries, "image_embeds_position_mask": _places_of_queries},
    "kosmos-2.5": {"input_ids": _ids_behind_queries, "image_embeds_position_mask": _places_of_queries},
    "fuyu": {"input_ids": _fuyu_ids, "image_patches": _fuyu_patches},
    "idefics": {"image_attention_mask": _image_of_each_token},
    "lxmert": {"visual_feats": _regions, "visual_pos": _places_of_regions},
    "visual_bert": {"visual_embeds": _regions},
    "seggpt": {"pixel_values": _half_image, "prompt_pixel_values": _half_image, "prompt_masks": _half_image},
    "colqwen2": {"pixel_values": _images_padded},
    "led": {"global_attention_mask": _looks_everywhere},
    "longformer": {"global_attention_mask": _looks_everywhere},
    "luke": {
        "entity_ids": _entities,
        "entity_attention_mask": _all_of_it("entity_ids"),
        "entity_position_ids": _mentions,
    },
    "markuplm": {"xpath_tags_seq": _path, "xpath_subs_seq": _path},
    "prompt_depth_anything": {"prompt_depth": _depth_prompt},
    "aria": {"pixel_values": _square_of_queries},
    "oneformer": {"task_inputs": _task},
    "depth_pro": {"pixel_values": _scaled_image},
    "omdet-turbo": {
        "classes_input_ids": _classes,
        "classes_attention_mask": _class_mask,
        "tasks_input_ids": _text_of_frames,
        "tasks_attention_mask": _all_of_it("tasks_input_ids"),
        "classes_structure": lambda call: torch.tensor([2]),
    },
    "blip_2_qformer": {"query_embeds": _query_embeds, "encoder_hidden_states": _image_states},
    "perceiver": {"inputs": _latents_input},
    "evolla": {"protein_input_ids": _proteins, "protein_attention_mask": _protein_mask},
    "qwen2_audio": {"input_ids": _ids_behind_sound},
    "musicgen": {"input_ids": _codes},
    "musicgen_melody": {"input_ids": _codes},
    "csm": {"input_ids": _frames_of_codes},
    "kyutai_speech_to_text": {"input_ids": _frames_of_codes},
    "dia": {"decoder_input_ids": _frames_of_codes},
    "speecht5": {"input_values": _hidden_speech, "decoder_input_values": _hidden_speech},
    "pop2piano": {"input_features": _embedded_spectrum},
    "univnet": {"input_features": _spectrum},
    "graphormer": {
        "input_nodes": _graph(1, _NODES, 1),
        "input_edges": _graph(1, _NODES, _NODES, 5, 1),
        "attn_bias": _graph(1, _NODES + 1, _NODES + 1, dtype=torch.float32),
        "in_degree": _graph(1, _NODES),
        "out_degree": _graph(1, _NODES),
        "spatial_pos": _graph(1, _NODES, _NODES),
        "attn_edge_type": _graph(1, _NODES, _NODES, 1),
    },
    "retribert": {
        "input_ids_query": _plain,
        "attention_mask_query": _all_of_it("input_ids_query"),
        "input_ids_doc": _plain,
        "attention_mask_doc": _all_of_it("input_ids_doc"),
    },
    "xmod": {"lang_ids": _one_language},
}

#: What excludes another input.
LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    "pop2piano": ("input_ids",),
    "seamless_m4t": ("input_features",),
    "seamless_m4t_v2": ("input_features",),
}
