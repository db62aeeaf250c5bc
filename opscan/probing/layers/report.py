"""What is known of each layer."""

from __future__ import annotations

from typing import Literal

import msgspec

from opscan.errors import OpscanError
from opscan.probing.protocol import Errors


class Layer(msgspec.Struct, frozen=True):
    """One run of one module. ``order`` counts the ends of modules from 1; ``file`` and ``line`` are where its class is
    defined. ``status`` is ``open`` where it was not compared: ``message`` says why, or what departs.
    """

    order: int
    module: str
    kind: str
    status: Literal["agrees", "departs", "open"]
    file: str = ""
    line: int = 0
    errors: Errors | None = None
    message: str = ""


class LayerReport(msgspec.Struct, frozen=True):
    """``first`` is the first module that departs. ``gradients`` are the parameters whose gradients depart, in the order
    in which the backward pass reaches them. ``notes`` say what was done otherwise than in the model's own run.
    """

    model: str
    device: str
    train: bool
    layers: tuple[Layer, ...]
    first: Layer | None = None
    gradients: tuple[Layer, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        return self.first is None and not self.gradients


class NoLayers(OpscanError):
    """The model cannot be compared layer by layer."""
