"""A model's run without dropout: two runs on different devices would never draw the same numbers."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

#: Functions that drop elements, and the position and name of the probability among their arguments.
_DROPPING: dict[Any, tuple[int, str]] = {
    functional.dropout: (1, "p"),
    functional.dropout1d: (1, "p"),
    functional.dropout2d: (1, "p"),
    functional.dropout3d: (1, "p"),
    functional.alpha_dropout: (1, "p"),
    functional.feature_alpha_dropout: (1, "p"),
    torch.dropout: (1, "p"),
    torch.dropout_: (1, "p"),
    torch.feature_dropout: (1, "p"),
    torch.feature_dropout_: (1, "p"),
    torch.alpha_dropout: (1, "p"),
    torch.alpha_dropout_: (1, "p"),
    torch.native_dropout: (1, "p"),
    functional.scaled_dot_product_attention: (4, "dropout_p"),
}


class WithoutChance(TorchFunctionMode):
    """Within it dropout keeps everything. ``silenced`` says whether there was any."""

    def __init__(self) -> None:
        super().__init__()
        self.silenced = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        place = _DROPPING.get(func)
        if place is not None:
            args, kwargs = self._kept(args, kwargs, *place)
        return func(*args, **kwargs)

    def _kept(self, args: Any, kwargs: dict[str, Any], position: int, name: str) -> tuple[Any, dict[str, Any]]:
        """The arguments with a probability of zero. Where a switch among them is off, there was no dropout anyway."""
        rest = args[position + 1 :]
        off = name == "p" and (kwargs.get("training", kwargs.get("train", True)) is False or rest[:1] == (False,))
        default = 0.0 if name == "dropout_p" else 0.5
        given = args[position] if position < len(args) else kwargs.get(name, default)
        self.silenced = self.silenced or (bool(given) and not off)
        if position < len(args):
            return (*args[:position], 0.0, *rest), kwargs
        return args, {**kwargs, name: 0.0}
