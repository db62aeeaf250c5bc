"""torchvision: every family of classifiers, segmentation, detection, video, optical flow."""

from __future__ import annotations

from typing import Any

from agreement_models.interface import Built

CLASSIFIERS = (
    "resnet18", "resnet50", "resnext50_32x4d", "wide_resnet50_2", "vgg11_bn", "alexnet", "densenet121", "googlenet",
    "inception_v3", "mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large", "squeezenet1_0", "shufflenet_v2_x1_0",
    "mnasnet1_0", "efficientnet_b0", "efficientnet_v2_s", "regnet_y_400mf", "convnext_tiny", "swin_t", "swin_v2_t",
    "vit_b_16", "maxvit_t",
)  # fmt: skip
SEGMENTERS = ("fcn_resnet50", "deeplabv3_resnet50", "lraspp_mobilenet_v3_large")
DETECTORS = (
    "fasterrcnn_mobilenet_v3_large_320_fpn", "maskrcnn_resnet50_fpn", "keypointrcnn_resnet50_fpn",
    "retinanet_resnet50_fpn", "fcos_resnet50_fpn", "ssd300_vgg16", "ssdlite320_mobilenet_v3_large",
)  # fmt: skip
VIDEO = ("r3d_18", "mc3_18", "r2plus1d_18", "s3d", "mvit_v1_b", "swin3d_t")
FLOW = ("raft_small",)

NAMES = (*CLASSIFIERS, *SEGMENTERS, *DETECTORS, *VIDEO, *FLOW)

#: Pixels, where a model does not take 64.
_SIZES = {"inception_v3": 299, "vit_b_16": 224, "maxvit_t": 224}

#: Frames and pixels of a clip.
_CLIPS = {"s3d": (16, 224), "mvit_v1_b": (16, 224), "swin3d_t": (4, 64)}


def import_library() -> None:
    import torchvision  # noqa: F401


def build(name: str, train: bool) -> Built:
    import torch
    from torchvision import models

    if name in DETECTORS:
        return _detector(name, train)
    if name in VIDEO:
        frames, size = _CLIPS.get(name, (4, 64))
        model = getattr(models.video, name)(weights=None)
        return Built(model.train(train), (torch.randn(1, 3, frames, size, size),), {})
    if name in FLOW:
        pair = (torch.randn(1, 3, 128, 128), torch.randn(1, 3, 128, 128))
        return Built(getattr(models.optical_flow, name)(weights=None).train(train), pair, {"num_flow_updates": 3})
    if name in SEGMENTERS:
        model = getattr(models.segmentation, name)(weights=None, weights_backbone=None)
    else:
        extra = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
        model = getattr(models, name)(weights=None, **extra)
    size = _SIZES.get(name, 64)
    return Built(model.train(train), (torch.randn(2, 3, size, size),), {})


def _detector(name: str, train: bool) -> Built:
    import torch
    from torchvision import models

    size = 320
    options: dict[str, Any] = {} if "320" in name or "300" in name else {"min_size": 128, "max_size": 192}
    if name.startswith(("retinanet", "fcos")):  # untrained, they are sure of nothing: their first bias says 0.01
        options["score_thresh"] = 0.001
    model = getattr(models.detection, name)(weights=None, weights_backbone=None, num_classes=5, **options)
    images = [torch.rand(3, size, size), torch.rand(3, size // 2, size)]
    if not train:
        return Built(model.eval(), (images,), {})
    target = {
        "boxes": torch.tensor([[10.0, 20.0, 80.0, 90.0], [40.0, 30.0, 140.0, 150.0]]),
        "labels": torch.tensor([1, 1]),
        "masks": torch.ones(2, size, size, dtype=torch.uint8),
        "keypoints": torch.tensor([[[30.0, 40.0, 1.0]] * 17] * 2),
    }
    second = {**target, "masks": target["masks"][:, : size // 2]}
    return Built(model.train(), (images, [target, second]), {})
