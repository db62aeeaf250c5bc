"""Tensors printed by the model: torch formats them below the dispatch modes, by kernels that compute nothing here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import _tensor_str

from opscan.probing.rehearsal.device_memory import is_opaque, on_host
from opscan.tracing.patches import Patches


@contextmanager
def printed_from_memory(device: torch.device) -> Iterator[None]:
    """In here, numbers of a tensor on ``device`` are formatted on the host."""
    formatted: Any = _tensor_str._tensor_str

    def of_memory(self: torch.Tensor, indent: int) -> Any:
        on_device = self.device.type == device.type and not is_opaque(self)
        return formatted(on_host(self) if on_device else self, indent)

    patches = Patches()
    patches.set(_tensor_str, "_tensor_str", of_memory)
    try:
        yield
    finally:
        patches.undo()
