"""Conversions of fake tensors to Python and numpy values: they answer from what is known of the values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor

from opscan.tracing import values
from opscan.tracing.patches import Patches


class ValueObserver(Protocol):
    """``python_value``: a real CPU tensor for a fake one; ``what`` says in words how it was asked for."""

    device: torch.device

    def python_value(self, tensor: torch.Tensor, what: str) -> torch.Tensor: ...


@contextmanager
def answered(observer: ValueObserver) -> Iterator[None]:
    """All patches, for the length of a trace."""
    patches = Patches()
    try:
        _patch_conversions(patches, observer)
        yield
    finally:
        patches.undo()


def _patch_conversions(patches: Patches, observer: ValueObserver) -> None:
    numpy, tolist = torch.Tensor.numpy, torch.Tensor.tolist

    def to_numpy(self: torch.Tensor, *, force: bool = False) -> Any:
        if not isinstance(self, FakeTensor):
            return numpy(self, force=force)
        if force:
            self = self.detach().cpu()
        if self.device.type == observer.device.type and observer.device.type != "cpu":
            raise TypeError(f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() first.")
        with values.computing():
            return numpy(observer.python_value(self, "numpy()"))

    def to_list(self: torch.Tensor) -> Any:
        if not isinstance(self, FakeTensor):
            return tolist(self)
        held = self.cpu()
        with values.computing():
            return tolist(observer.python_value(held, "tolist()"))

    def array(self: torch.Tensor, dtype: Any = None, **kwargs: Any) -> Any:
        found = self.numpy()
        return found if dtype is None else found.astype(dtype, copy=False)

    patches.set(torch.Tensor, "numpy", to_numpy)
    for owner in (torch.Tensor, FakeTensor):  # a fake tensor has one of its own, which asks for each element
        patches.set(owner, "tolist", to_list)
    patches.set(torch.Tensor, "__array__", array)
    patches.set(torch.Tensor, "pin_memory", lambda self, *args, **kwargs: self)
    _patch_indexing(patches, observer)


def _patch_indexing(patches: Patches, observer: ValueObserver) -> None:
    """``x[[0, 2]]`` makes its index tensor below the dispatch modes, on the device: make it as ``torch.tensor`` is
    made here.
    """
    get, put = torch.Tensor.__getitem__, torch.Tensor.__setitem__

    def convert(self: torch.Tensor, index: Any) -> Any:
        if not isinstance(self, (FakeTensor, FunctionalTensor)) or self.device.type == "cpu":
            return index
        if isinstance(index, tuple):
            return tuple(_as_index(part, self.device) for part in index)
        return _as_index(index, self.device)

    patches.set(torch.Tensor, "__getitem__", lambda self, index: get(self, convert(self, index)))
    patches.set(torch.Tensor, "__setitem__", lambda self, index, value: put(self, convert(self, index), value))


def _as_index(part: Any, device: torch.device) -> Any:
    if isinstance(part, (list, tuple, range)) and len(part) > 0 and all(map(_is_number, part)):
        return torch.tensor(list(part), device=device)
    return part


def _is_number(part: Any) -> bool:
    """Scalar tensors too: torch reads each of them."""
    return type(part) in (int, bool) or (isinstance(part, FakeTensor) and part.dim() == 0)
