"""A model several times over with the same weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from opscan.probing.layers.report import NoLayers
from opscan.tracing.interface import Recipe

#: Bytes of parameters in double precision above which the CPU computes in the model's own dtype alone.
_DOUBLE_LIMIT = 8 * 2**30

#: What double precision makes of a dtype.
WIDE = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}


@dataclass(frozen=True, slots=True)
class Copies:
    """The model three times, with the same weights: for the device, and for the CPU in its own and in double precision.
    ``wide`` is None where the last would not fit.
    """

    device_model: nn.Module
    own: nn.Module
    wide: nn.Module | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, recipe: Recipe, seed: int, train: bool) -> Copies:
        built = [_load(recipe, seed) for _ in range(2)]
        (first, args, kwargs), (own, _, _) = built
        wide: nn.Module | None = None
        notes: tuple[str, ...] = ()
        size = sum(p.numel() * 8 for p in first.parameters())
        if size <= _DOUBLE_LIMIT:
            wide = _load(recipe, seed)[0]
        else:
            notes = (f"the reference has the model's own precision: in double precision it would take {size >> 30} GB",)
        state = first.state_dict()
        for model in filter(None, (own, wide)):
            try:
                model.load_state_dict(state)
            except RuntimeError as error:
                raise NoLayers(
                    "The model is not the same when it is built again, so its layers cannot be compared.",
                    "Build it from fixed numbers, and let nothing about its structure depend on chance.",
                ) from error
        for model in filter(None, (first, own, wide)):
            model.train(train)
        return cls(first, own, None if wide is None else wide.double(), args, kwargs, notes)


def _load(recipe: Recipe, seed: int) -> tuple[nn.Module, tuple[Any, ...], dict[str, Any]]:
    torch.manual_seed(seed)
    model, args, kwargs = recipe.load()
    model = model if isinstance(model, nn.Module) else getattr(model, "__self__", model)
    if not isinstance(model, nn.Module):
        raise NoLayers(
            f"{getattr(model, '__name__', type(model).__name__)} is a function: it has no layers.",
            "Name a torch.nn.Module, as in model.py:Net.",
        )
    return model, args, kwargs
