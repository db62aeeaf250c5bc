"""An image classifier: residual bottlenecks with squeeze-and-excitation, as a product team would train it.

What it shows: a convolutional model that moves to Ascend as it is. Nothing in it is unsupported, so the scan passes:

    opscan examples/classifier.py --input-shape 1,3,224,224
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F


class ConvNorm(nn.Sequential):
    """Convolution and batch normalisation, with a ReLU unless ``activate`` is false."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1, activate: bool = True) -> None:
        super().__init__(
            nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True) if activate else nn.Identity(),
        )


class SqueezeExcite(nn.Module):
    """Weigh channels by a gate computed from their spatial means (Hu et al., 2018)."""

    def __init__(self, channels: int, reduction: int = 16) -> None:
        super().__init__()
        self.reduce = nn.Conv2d(channels, channels // reduction, 1)
        self.expand = nn.Conv2d(channels // reduction, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        gate = F.relu(self.reduce(x.mean(dim=(2, 3), keepdim=True)))
        return x * self.expand(gate).sigmoid()


class Bottleneck(nn.Module):
    """1×1 → 3×3 → 1×1 with a shortcut, widened by ``expansion`` at its end (He et al., 2016)."""

    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = width * self.expansion
        self.body = nn.Sequential(
            ConvNorm(inputs, width, 1),
            ConvNorm(width, width, 3, stride),
            ConvNorm(width, outputs, 1, activate=False),
        )
        self.attention = SqueezeExcite(outputs)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = ConvNorm(inputs, outputs, 1, stride, activate=False)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.attention(self.body(x)) + self.shortcut(x), inplace=True)


class Classifier(nn.Module):
    """Images ``[N, 3, H, W]`` to class scores ``[N, classes]``; H and W are multiples of 32."""

    def __init__(self, depths: tuple[int, ...] = (2, 2, 2, 2), width: int = 32, classes: int = 1000) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            ConvNorm(3, width, 3, stride=2),
            ConvNorm(width, width, 3),
            nn.MaxPool2d(3, stride=2, padding=1),
        )
        channels = width
        stages = []
        for level, depth in enumerate(depths):
            for block in range(depth):
                stride = 2 if level > 0 and block == 0 else 1
                stages.append(Bottleneck(channels, width << level, stride))
                channels = (width << level) * Bottleneck.expansion
        self.stages = nn.Sequential(*stages)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(channels, classes)
        self.apply(self._initialise)

    @staticmethod
    def _initialise(module: nn.Module) -> None:
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        elif isinstance(module, nn.Linear):
            nn.init.trunc_normal_(module.weight, std=0.02)
            nn.init.zeros_(module.bias)

    def forward(self, images: Tensor) -> Tensor:
        features = self.pool(self.stages(self.stem(images))).flatten(1)
        return self.head(features)


def build_model() -> nn.Module:
    return Classifier().eval()
