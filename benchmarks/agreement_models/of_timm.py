"""timm: one small model a family."""

from __future__ import annotations

from agreement_models.interface import Built

#: Pixels by model; None for the size that it is configured for.
_SIZES: dict[str, int | None] = {
    "convnextv2_atto": 64, "efficientnetv2_rw_t": 64, "deit3_small_patch16_224": None,
    "beit_base_patch16_224": None, "swinv2_tiny_window8_256": None, "maxvit_nano_rw_256": None,
    "coatnet_nano_rw_224": None, "mobilevit_xxs": 64, "mobilevitv2_050": 64, "ghostnet_100": 64,
    "hrnet_w18_small": 64, "dm_nfnet_f0": 64, "eca_nfnet_l0": 64, "res2net50_14w_8s": 64,
    "eva02_tiny_patch14_224": None, "xcit_nano_12_p8_224": None, "cait_xxs24_224": None, "poolformer_s12": 64,
    "levit_128s": None, "edgenext_xx_small": 64, "repvgg_a0": 64, "mixer_s16_224": None, "resnest14d": 64,
    "skresnet18": 64, "halonet26t": 256, "lambda_resnet26t": 256, "volo_d1_224": None, "crossvit_tiny_240": None,
    "focalnet_tiny_srf": 64, "mambaout_femto": 64, "sequencer2d_s": None, "tiny_vit_5m_224": None,
    "naflexvit_base_patch16_gap": None, "gcvit_xxtiny": None, "convit_tiny": None, "efficientvit_b0": 64,
}  # fmt: skip

NAMES = tuple(_SIZES)


def import_library() -> None:
    import timm  # noqa: F401


def build(name: str, train: bool) -> Built:
    import timm
    import torch

    model = timm.create_model(name, pretrained=False)
    size = _SIZES[name] or model.default_cfg["input_size"][-1]
    return Built(model.train(train), (torch.randn(2, 3, size, size),), {})
