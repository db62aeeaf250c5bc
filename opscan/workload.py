"""What of a model is run: the forward pass or a training step, in which precision, and which sizes vary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: The dtype of autocast, as trainers spell it; ``off`` leaves the model's own.
Amp = Literal["off", "fp16", "bf16"]


@dataclass(frozen=True, slots=True)
class DynamicInput:
    """Dimensions of one input that vary between runs. ``name``: of the parameter, or the position as a number."""

    name: str
    dimensions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Workload:
    """``train`` adds the backward pass and a step of ``optimizer``, by its name in lower case (``adamw``)."""

    train: bool = False
    optimizer: str = "adamw"
    amp: Amp = "off"
    dynamic: tuple[DynamicInput, ...] = ()


#: The forward pass as the model stands.
INFERENCE = Workload()
