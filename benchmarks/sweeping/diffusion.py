"""Configurations of diffusers: one of each architecture that people run, with the numbers of a released model or the
defaults of its class.
"""

from __future__ import annotations

from typing import Any

_UNET_XL = {
    "_class_name": "UNet2DConditionModel",
    "sample_size": 128,
    "block_out_channels": [320, 640, 1280],
    "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
    "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
    "transformer_layers_per_block": [1, 2, 10],
    "attention_head_dim": [5, 10, 20],
    "cross_attention_dim": 2048,
    "addition_embed_type": "text_time",
    "addition_time_embed_dim": 256,
    "projection_class_embeddings_input_dim": 2816,
    "use_linear_projection": True,
}

_AUTOENCODER = {
    "_class_name": "AutoencoderKL",
    "sample_size": 512,
    "block_out_channels": [128, 256, 512, 512],
    "down_block_types": ["DownEncoderBlock2D"] * 4,
    "up_block_types": ["UpDecoderBlock2D"] * 4,
    "layers_per_block": 2,
}

_HUNYUAN = {
    "_class_name": "HunyuanDiT2DModel",
    "num_attention_heads": 16,
    "attention_head_dim": 88,
    "in_channels": 4,
    "patch_size": 2,
    "hidden_size": 1408,
    "num_layers": 40,
    "mlp_ratio": 4.3637,
    "sample_size": 128,
}

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "AutoencoderKL": _AUTOENCODER,
    "AutoencoderTiny": {"_class_name": "AutoencoderTiny"},
    "AutoencoderDC": {"_class_name": "AutoencoderDC"},
    "AuraFlowTransformer2DModel": {"_class_name": "AuraFlowTransformer2DModel"},
    "CogVideoXTransformer3DModel": {"_class_name": "CogVideoXTransformer3DModel"},
    "ControlNetModel": {"_class_name": "ControlNetModel", "cross_attention_dim": 768},
    "DiTTransformer2DModel": {"_class_name": "DiTTransformer2DModel"},
    "FluxTransformer2DModel": {"_class_name": "FluxTransformer2DModel", "guidance_embeds": True},
    "HunyuanDiT2DModel": _HUNYUAN,
    "LTXVideoTransformer3DModel": {"_class_name": "LTXVideoTransformer3DModel"},
    "Lumina2Transformer2DModel": {"_class_name": "Lumina2Transformer2DModel"},
    "PixArtTransformer2DModel": {"_class_name": "PixArtTransformer2DModel", "caption_channels": 4096},
    "PriorTransformer": {"_class_name": "PriorTransformer"},
    "QwenImageTransformer2DModel": {"_class_name": "QwenImageTransformer2DModel"},
    "SanaTransformer2DModel": {"_class_name": "SanaTransformer2DModel"},
    "SD3Transformer2DModel": {"_class_name": "SD3Transformer2DModel"},
    "UNet2DConditionModel": {"_class_name": "UNet2DConditionModel", "sample_size": 64, "cross_attention_dim": 768},
    "UNet2DConditionModel-XL": _UNET_XL,
    "UNet2DModel": {"_class_name": "UNet2DModel", "sample_size": 64},
    "UNetSpatioTemporalConditionModel": {"_class_name": "UNetSpatioTemporalConditionModel"},
    "VQModel": {"_class_name": "VQModel"},
    "WanTransformer3DModel": {"_class_name": "WanTransformer3DModel"},
}
