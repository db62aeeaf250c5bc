"""transformers: small configurations with random weights, most with the heads and masks that training uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from agreement_models.interface import Built

_SMALL: dict[str, Any] = {
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 500,
}  # fmt: skip
_GROUPED: dict[str, Any] = {**_SMALL, "num_key_value_heads": 2, "head_dim": 16, "pad_token_id": 0}
_HEADS = {k: v for k, v in _GROUPED.items() if k != "head_dim"}
_DISENTANGLED: dict[str, Any] = {
    **_SMALL, "relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": 16,
}  # fmt: skip
_LAYERS: dict[str, Any] = {"n_layer": 2, "n_head": 4, "vocab_size": 500}
_STATES: dict[str, Any] = {"hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 500}
_EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
_ENCODER_DECODER: dict[str, Any] = {
    "d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128,
}  # fmt: skip
_T5: dict[str, Any] = {"d_model": 64, "num_layers": 2, "num_heads": 4, "d_ff": 128, "d_kv": 16, "vocab_size": 500}
_VISION: dict[str, Any] = {**_SMALL, "image_size": 64}
_SPEECH: dict[str, Any] = {
    **_SMALL, "conv_dim": (32, 32, 32), "conv_stride": (5, 4, 4), "conv_kernel": (10, 8, 4),
    "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4, "mask_time_prob": 0.0,
}  # fmt: skip
_STAGES: dict[str, Any] = {"embed_dim": 16, "depths": [1, 1, 2, 1], "num_heads": [1, 2, 4, 8], "image_size": 64}


class _Entry(NamedTuple):
    family: str  # of the configuration: FamilyConfig
    model: str
    config: dict[str, Any]
    inputs: Callable[[], dict[str, Any]]


def ids(length: int = 16) -> dict[str, Any]:
    import torch

    return {"input_ids": torch.arange(2 * length).reshape(2, length) % 97 + 3}


def padded() -> dict[str, Any]:
    """Two sentences, of which one is shorter."""
    import torch

    mask = torch.ones(2, 16, dtype=torch.long)
    mask[1, 10:] = 0
    return {**ids(), "attention_mask": mask}


def padded_left() -> dict[str, Any]:
    import torch

    mask = torch.ones(2, 16, dtype=torch.long)
    mask[1, :5] = 0
    return {**ids(), "attention_mask": mask}


def labelled() -> dict[str, Any]:
    return {**padded(), "labels": ids()["input_ids"]}


def labelled_left() -> dict[str, Any]:
    return {**padded_left(), "labels": ids()["input_ids"]}


def both() -> dict[str, Any]:
    return {**padded(), "decoder_input_ids": ids(8)["input_ids"]}


def image(size: int = 64) -> dict[str, Any]:
    import torch

    return {"pixel_values": torch.randn(1, 3, size, size)}


def image_and_text() -> dict[str, Any]:
    return {**padded(), **image()}


def sound() -> dict[str, Any]:
    import torch

    return {"input_values": torch.randn(2, 4000)}


def sound_of_two_lengths() -> dict[str, Any]:
    import torch

    mask = torch.ones(2, 4000, dtype=torch.long)
    mask[1, 3000:] = 0
    return {**sound(), "attention_mask": mask}


def spectrum() -> dict[str, Any]:
    import torch

    return {"input_features": torch.randn(2, 80, 100), "decoder_input_ids": ids(8)["input_ids"]}


def clip_of_frames() -> dict[str, Any]:
    import torch

    return {"pixel_values": torch.randn(1, 4, 3, 64, 64)}


def series() -> dict[str, Any]:
    import torch

    return {"past_values": torch.randn(2, 64, 3)}


_MODELS: dict[str, _Entry] = {
    # encoders
    "bert": _Entry("Bert", "BertForMaskedLM", _SMALL, labelled),
    "bert_unmasked": _Entry("Bert", "BertModel", _SMALL, ids),
    "roberta": _Entry("Roberta", "RobertaModel", {**_SMALL, "pad_token_id": 1}, padded),
    "distilbert": _Entry(
        "DistilBert", "DistilBertModel", {"dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128}, padded
    ),
    "albert": _Entry("Albert", "AlbertModel", {**_SMALL, "embedding_size": 32}, padded),
    "electra": _Entry("Electra", "ElectraModel", {**_SMALL, "embedding_size": 32}, padded),
    "deberta": _Entry("Deberta", "DebertaModel", _DISENTANGLED, padded),
    "deberta_v2": _Entry("DebertaV2", "DebertaV2Model", _DISENTANGLED, padded),
    "xlnet": _Entry(
        "XLNet", "XLNetModel", {"d_model": 64, "n_layer": 2, "n_head": 4, "d_inner": 128, "vocab_size": 500}, padded
    ),
    "mpnet": _Entry("MPNet", "MPNetModel", _SMALL, padded),
    "mobilebert": _Entry(
        "MobileBert", "MobileBertModel", {**_SMALL, "embedding_size": 32, "intra_bottleneck_size": 32}, padded
    ),
    "fnet": _Entry("FNet", "FNetModel", {k: v for k, v in _SMALL.items() if k != "num_attention_heads"}, ids),
    "roformer": _Entry("RoFormer", "RoFormerModel", _SMALL, padded),
    "longformer": _Entry("Longformer", "LongformerModel", {**_SMALL, "attention_window": 8}, padded),
    "big_bird": _Entry("BigBird", "BigBirdModel", {**_SMALL, "attention_type": "original_full"}, padded),
    "funnel": _Entry(
        "Funnel",
        "FunnelModel",
        {"d_model": 64, "n_head": 4, "d_head": 16, "d_inner": 128, "block_sizes": [1, 1], "vocab_size": 500},
        padded,
    ),
    # decoders
    "gpt2": _Entry("GPT2", "GPT2LMHeadModel", {"n_embd": 64, **_LAYERS}, labelled_left),
    "gpt_neo": _Entry(
        "GPTNeo",
        "GPTNeoModel",
        {
            "hidden_size": 64,
            "num_layers": 2,
            "num_heads": 4,
            "attention_types": [[["global", "local"], 1]],
            "vocab_size": 500,
        },
        padded,
    ),
    "gpt_neox": _Entry("GPTNeoX", "GPTNeoXForCausalLM", _SMALL, labelled),
    "gptj": _Entry("GPTJ", "GPTJModel", {"n_embd": 64, **_LAYERS, "rotary_dim": 8}, padded),
    "opt": _Entry(
        "OPT",
        "OPTForCausalLM",
        {
            "hidden_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "ffn_dim": 128,
            "vocab_size": 500,
            "word_embed_proj_dim": 64,
        },
        labelled,
    ),
    "bloom": _Entry("Bloom", "BloomForCausalLM", {"hidden_size": 64, **_LAYERS}, labelled_left),
    "falcon": _Entry("Falcon", "FalconForCausalLM", _SMALL, labelled),
    "mpt": _Entry("Mpt", "MptModel", {"d_model": 64, "n_layers": 2, "n_heads": 4, "vocab_size": 500}, padded),
    "llama": _Entry("Llama", "LlamaForCausalLM", _GROUPED, labelled_left),
    "llama_eager": _Entry("Llama", "LlamaForCausalLM", {**_GROUPED, "attn_implementation": "eager"}, labelled),
    "mistral": _Entry("Mistral", "MistralForCausalLM", {**_GROUPED, "sliding_window": 8}, labelled),
    "mixtral": _Entry("Mixtral", "MixtralForCausalLM", {**_GROUPED, "num_local_experts": 4}, labelled),
    "qwen2": _Entry("Qwen2", "Qwen2ForCausalLM", _GROUPED, ids),
    "qwen2_moe": _Entry(
        "Qwen2Moe", "Qwen2MoeForCausalLM", {**_GROUPED, **_EXPERTS, "shared_expert_intermediate_size": 64}, labelled
    ),
    "qwen3": _Entry("Qwen3", "Qwen3ForCausalLM", _GROUPED, labelled),
    "gemma2": _Entry("Gemma2", "Gemma2ForCausalLM", _GROUPED, labelled),
    "phi3": _Entry("Phi3", "Phi3ForCausalLM", _GROUPED, labelled),
    "deepseek_v3": _Entry(
        "DeepseekV3",
        "DeepseekV3ForCausalLM",
        {
            **_SMALL,
            "num_key_value_heads": 4,
            "n_routed_experts": 8,
            "num_experts_per_tok": 2,
            "n_group": 2,
            "topk_group": 1,
            "moe_intermediate_size": 32,
            "q_lora_rank": 32,
            "kv_lora_rank": 16,
            "qk_rope_head_dim": 8,
            "qk_nope_head_dim": 16,
            "v_head_dim": 16,
            "first_k_dense_replace": 1,
            "pad_token_id": 0,
        },
        labelled,
    ),
    "olmo2": _Entry("Olmo2", "Olmo2ForCausalLM", _HEADS, labelled),
    "cohere": _Entry("Cohere", "CohereForCausalLM", _HEADS, labelled),
    "starcoder2": _Entry("Starcoder2", "Starcoder2ForCausalLM", _HEADS, labelled),
    "gpt_oss": _Entry(
        "GptOss", "GptOssForCausalLM", {**_GROUPED, "num_local_experts": 4, "num_experts_per_tok": 2}, labelled
    ),
    "mamba": _Entry("Mamba", "MambaForCausalLM", _STATES, ids),
    "mamba2": _Entry(
        "Mamba2",
        "Mamba2ForCausalLM",
        {**_STATES, "num_heads": 8, "head_dim": 16, "n_groups": 1, "state_size": 16, "chunk_size": 8},
        ids,
    ),
    "rwkv": _Entry(
        "Rwkv",
        "RwkvModel",
        {"hidden_size": 64, "num_hidden_layers": 2, "attention_hidden_size": 64, "vocab_size": 500},
        ids,
    ),
    "recurrent_gemma": _Entry(
        "RecurrentGemma",
        "RecurrentGemmaForCausalLM",
        {**_HEADS, "num_hidden_layers": 3, "lru_width": 64, "attention_window_size": 8},
        ids,
    ),
    # encoder and decoder
    "t5": _Entry("T5", "T5Model", _T5, both),
    "mt5": _Entry("MT5", "MT5ForConditionalGeneration", _T5, labelled),
    "bart": _Entry("Bart", "BartForConditionalGeneration", {**_ENCODER_DECODER, "vocab_size": 500}, labelled),
    "pegasus": _Entry("Pegasus", "PegasusModel", {**_ENCODER_DECODER, "vocab_size": 500}, both),
    "m2m_100": _Entry("M2M100", "M2M100Model", {**_ENCODER_DECODER, "vocab_size": 500}, both),
    "whisper": _Entry("Whisper", "WhisperModel", {**_ENCODER_DECODER, "max_source_positions": 50}, spectrum),
    # sound
    "wav2vec2": _Entry("Wav2Vec2", "Wav2Vec2Model", _SPEECH, sound_of_two_lengths),
    "hubert": _Entry("Hubert", "HubertModel", _SPEECH, sound),
    # images
    "vit": _Entry("ViT", "ViTForImageClassification", _VISION, image),
    "deit": _Entry("DeiT", "DeiTModel", _VISION, image),
    "beit": _Entry("Beit", "BeitModel", _VISION, image),
    "dinov2": _Entry("Dinov2", "Dinov2Model", {**_VISION, "patch_size": 8}, image),
    "swin": _Entry("Swin", "SwinModel", {**_STAGES, "window_size": 4, "patch_size": 2}, image),
    "segformer": _Entry(
        "Segformer",
        "SegformerForSemanticSegmentation",
        {"hidden_sizes": [16, 32, 80, 128], "depths": [1, 1, 1, 1], "decoder_hidden_size": 32},
        image,
    ),
    "detr": _Entry("Detr", "DetrModel", _ENCODER_DECODER, image),
    "yolos": _Entry("Yolos", "YolosModel", {**_SMALL, "image_size": [64, 64]}, image),
    "dpt": _Entry(
        "DPT",
        "DPTForDepthEstimation",
        {
            **_VISION,
            "num_hidden_layers": 4,
            "backbone_out_indices": [0, 1, 2, 3],
            "neck_hidden_sizes": [16, 32, 64, 64],
            "fusion_hidden_size": 32,
            "is_hybrid": False,
        },
        image,
    ),
    "videomae": _Entry("VideoMAE", "VideoMAEModel", {**_VISION, "num_frames": 4}, clip_of_frames),
    "clip": _Entry("CLIP", "CLIPModel", {"text_config": _SMALL, "vision_config": _VISION}, image_and_text),
    "siglip": _Entry("Siglip", "SiglipModel", {"text_config": _SMALL, "vision_config": _VISION}, image_and_text),
    "blip": _Entry("Blip", "BlipModel", {"text_config": _SMALL, "vision_config": _VISION}, image_and_text),
    # time series
    "patchtst": _Entry(
        "PatchTST",
        "PatchTSTModel",
        {
            "num_input_channels": 3,
            "context_length": 64,
            "d_model": 32,
            "patch_length": 8,
            "patch_stride": 8,
            "num_hidden_layers": 2,
        },
        series,
    ),
}

NAMES = tuple(_MODELS)


def import_library() -> None:
    import transformers  # noqa: F401


def build(name: str, train: bool) -> Built:
    import transformers

    entry = _MODELS[name]
    options = dict(entry.config)
    if name == "detr":
        backbone = transformers.ResNetConfig(out_features=["stage4"])
        options |= {"use_timm_backbone": False, "backbone": None, "backbone_config": backbone}
        options |= {"use_pretrained_backbone": False}
    config = getattr(transformers, f"{entry.family}Config")(**options)
    model = getattr(transformers, entry.model)(config)
    return Built(model.train(train), (), entry.inputs())
