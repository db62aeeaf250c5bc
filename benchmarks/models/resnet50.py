"""ResNet-50 (He et al., 2016), written out: the file of the speed benchmark."""

from __future__ import annotations

from torch import Tensor, nn


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = width * self.expansion
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.downsample: nn.Module | None = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        identity = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.relu(self.bn2(self.conv2(x)))
        return self.relu(self.bn3(self.conv3(x)) + identity)


class ResNet(nn.Module):
    """Images ``[N, 3, H, W]`` to class scores ``[N, classes]``."""

    def __init__(self, depths: tuple[int, ...], classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.inputs = 64
        self.layers = nn.Sequential(
            *(self._stage(64 << level, depth, min(level, 1) + 1) for level, depth in enumerate(depths))
        )
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(self.inputs, classes)

    def _stage(self, width: int, depth: int, stride: int) -> nn.Sequential:
        blocks = []
        for index in range(depth):
            blocks.append(Bottleneck(self.inputs, width, stride if index == 0 else 1))
            self.inputs = width * Bottleneck.expansion
        return nn.Sequential(*blocks)

    def forward(self, images: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(images))))
        return self.fc(self.avgpool(self.layers(x)).flatten(1))


def build_model() -> nn.Module:
    return ResNet((3, 4, 6, 3), classes=1000).eval()
