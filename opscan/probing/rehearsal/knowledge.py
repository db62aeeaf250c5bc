"""What is known of the values in memory: a shadow can only compute from values, and a path that hangs on data is one of
many.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any

import torch

from opscan.probing.rehearsal.device_memory import address, is_opaque

#: Operators whose result is fresh memory: there is nothing to compute.
_FRESH = ("aten::empty", "aten::new_empty")


def is_fresh(func: Any) -> bool:
    """Whether an operator only allocates."""
    return str(func._schema.name).startswith(_FRESH)


class Value(IntEnum):
    """``CONSTANT``: the model's own, the same for every input. ``DATA``: right for this input and these weights, of
    which others would differ. ``UNKNOWN``: memory that nothing was computed into.
    """

    CONSTANT = 0
    DATA = 1
    UNKNOWN = 2


class Knowledge:
    """By memory, not by tensor: a view knows what its base knows. Memory that was never told of is constant."""

    def __init__(self) -> None:
        self._of: dict[int, Value] = {}

    def of(self, tensors: Iterable[torch.Tensor]) -> Value:
        """What is known of all of them together. Nothing is of opaque tensors."""
        return max(map(self._of_one, tensors), default=Value.CONSTANT)

    def _of_one(self, tensor: torch.Tensor) -> Value:
        return Value.UNKNOWN if is_opaque(tensor) else self._of.get(address(tensor), Value.CONSTANT)

    def learn(self, tensors: Iterable[torch.Tensor], value: Value) -> None:
        for tensor in tensors:
            place = address(tensor)
            if value is Value.CONSTANT or place == 0:
                self._of.pop(place, None)
            else:
                self._of[place] = value
