"""``Module.to``, ``.half()``, ``.to(bfloat16)`` on fake parameters.

Stock ``Module._apply`` swaps a fake parameter's contents in place, which fails as soon as anything holds a weak
reference to it. Here the module gets a new Parameter instead; parameters tied before stay tied. Those of lazy modules
have no elements to convert yet, and are made anew with their dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy


@contextmanager
def untied_conversion() -> Iterator[None]:
    """Replace ``Module._apply`` for the length of a trace."""
    original = nn.Module._apply
    converted: dict[int, tuple[nn.Parameter, nn.Parameter]] = {}
    depth = 0

    def _apply(self: nn.Module, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> nn.Module:
        nonlocal depth
        depth += 1
        try:
            if recurse:
                for child in self.children():
                    child._apply(fn)
            _convert(self, fn, converted)
        finally:
            depth -= 1
            if depth == 0:
                converted.clear()
        return self

    nn.Module._apply = _apply  # type: ignore[method-assign]
    try:
        yield
    finally:
        nn.Module._apply = original  # type: ignore[method-assign]


def _convert(module: nn.Module, fn: Callable[[torch.Tensor], torch.Tensor], converted: dict[int, Any]) -> None:
    for name, parameter in module._parameters.items():
        if parameter is None:
            continue
        if is_lazy(parameter):
            module._parameters[name] = _lazily(parameter, fn)
            continue
        if id(parameter) not in converted:
            with torch.no_grad():
                new = fn(parameter)
            same = new is parameter
            replacement = parameter if same else nn.Parameter(new, parameter.requires_grad)
            # The old parameter is kept alive, so that its id cannot be taken by another.
            converted[id(parameter)] = (parameter, replacement)
        module._parameters[name] = converted[id(parameter)][1]
    for name, buffer in module._buffers.items():
        if buffer is not None and is_lazy(buffer):
            module._buffers[name] = _lazily(buffer, fn)
        elif buffer is not None:
            module._buffers[name] = fn(buffer)


def _lazily(tensor: Any, fn: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    with torch.no_grad():
        dtype = fn(torch.empty(0, dtype=tensor.dtype)).dtype
    return tensor if dtype is tensor.dtype else type(tensor)(requires_grad=tensor.requires_grad, dtype=dtype)
