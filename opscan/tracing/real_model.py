"""A model with its weights, for what runs it for real: exporters of ONNX and ``torch.jit.trace``."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from opscan.errors import OpscanError
from opscan.tracing.interface import Recipe
from opscan.tracing.source import SourceLocator
from opscan.tracing.user_error import model_error

#: Bytes of weights up to which a model is built and run with them; a larger one is built without.
MOST_WEIGHTS = 1 << 30


@dataclass(frozen=True, slots=True)
class Built:
    """``fake``: there are no values behind the weights and inputs."""

    model: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    fake: FakeTensorMode | None

    @property
    def parameters(self) -> int:
        return sum(p.numel() for p in self.model.parameters()) if isinstance(self.model, nn.Module) else 0

    @property
    def weights(self) -> int:
        """Their bytes."""
        return sum(p.nbytes for p in self.model.parameters()) if isinstance(self.model, nn.Module) else 0

    @property
    def module(self) -> nn.Module:
        """What takes modules only is given one."""
        return self.model if isinstance(self.model, nn.Module) else AsModule(self.model)


class AsModule(nn.Module):
    """A function as a module that is not in training."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function
        self.train(False)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


def build(recipe: Recipe) -> Built:
    """The model with its weights, or without where they are large, or where a file does not bear a second import."""
    light: Built | None = None
    with suppress(Exception):  # some models are built from values; what is wrong with others, the next attempt tells
        fake = FakeTensorMode(allow_non_fake_inputs=True)
        with fake:
            light = Built(*recipe.load(), fake)
    if light is not None and light.weights > MOST_WEIGHTS:
        return light
    try:
        return Built(*recipe.load(), None)
    except OpscanError:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        if light is not None:
            return light
        locator = SourceLocator(recipe.root, os.path.dirname(os.path.realpath(torch.__file__)))
        raise model_error(error, locator, "building", "") from error
