"""Lazy modules (``nn.LazyLinear``) on fake tensors.

An uninitialised parameter is a tensor of a class of its own, which becomes a parameter in place; a fake tensor cannot.
Here it stays a real tensor without elements until its module sees its first input, and a new parameter takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn.modules.lazy import LazyModuleMixin
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from opscan.tracing.patches import Patches


@contextmanager
def lazy_modules_on(device: torch.device) -> Iterator[None]:
    """For the length of a trace. Parameters come to life on ``device``."""
    patches = Patches()
    initialising: list[nn.Module] = []
    infer = LazyModuleMixin._infer_parameters

    def infer_parameters(self: Any, module: Any, args: Any, kwargs: Any = None) -> None:
        initialising.append(module)
        try:
            infer(self, module, args, kwargs)
        finally:
            initialising.pop()

    def materialize(self: Any, shape: Any, at: Any = None, dtype: torch.dtype | None = None) -> None:
        new = torch.empty(shape, device=device, dtype=dtype or self.dtype)
        module = initialising[-1]
        for name in [n for n, parameter in module._parameters.items() if parameter is self]:
            module._parameters[name] = nn.Parameter(new, self.requires_grad)
        for name in [n for n, buffer in module._buffers.items() if buffer is self]:
            module._buffers[name] = new

    patches.set(LazyModuleMixin, "_infer_parameters", infer_parameters)
    for kind in (UninitializedParameter, UninitializedBuffer):
        patches.set(kind, "materialize", materialize)
        patches.set(kind, "__new__", _real)
    try:
        yield
    finally:
        patches.undo()


def _real(
    cls: Any, requires_grad: bool = True, device: Any = None, dtype: torch.dtype | None = None, **options: Any
) -> Any:
    """A real tensor without elements, of the class that is asked for; a buffer needs no gradient."""
    is_parameter = issubclass(cls, UninitializedParameter)
    with torch._C._DisableTorchDispatch():
        elements = torch.empty(0, device="cpu", dtype=dtype)
        made = torch.Tensor._make_subclass(cls, elements, requires_grad and is_parameter)
    if not is_parameter:
        made.persistent, made._is_buffer = options.get("persistent", True), True
    return made
