"""What of a model is run: the forward pass or a training step, in which precision, and which sizes vary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: The dtype of autocast, as trainers spell it; ``off`` leaves the model's own.
Amp = Literal["off", "fp16", "bf16"]


@dataclass(frozen=True, slots=True)
class Optimizer:
    """An optimizer of ``torch.optim`` by its name in lower case, with what its constructor is given besides parameters.

    ``options`` are names and Python literals (``("momentum", "0.9")``). ``clip_grad_norm``: the norm that gradients are
    clipped to before the step; None leaves them as they are.
    """

    name: str = "adamw"
    options: tuple[tuple[str, str], ...] = ()
    clip_grad_norm: float | None = None


@dataclass(frozen=True, slots=True)
class DynamicInput:
    """Dimensions of one input that vary between runs. ``name``: of the parameter, or the position as a number.

    ``ranges`` and ``labels`` are by dimension, in the same order, or empty: the smallest and largest size (None where
    nobody said), and a name that dimensions of equal size share (``""`` where nobody gave one)."""

    name: str
    dimensions: tuple[int, ...]
    ranges: tuple[tuple[int, int] | None, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Workload:
    """``train`` adds the backward pass and a step of ``optimizer``. ``amp``: forward under autocast; in training with
    ``fp16`` the gradients are scaled, too."""

    train: bool = False
    optimizer: Optimizer = Optimizer()
    amp: Amp = "off"
    dynamic: tuple[DynamicInput, ...] = ()


#: The forward pass as the model stands.
INFERENCE = Workload()
