"""The simulated device's memory, looked at from the host: it is memory of this process."""

from __future__ import annotations

import torch

from opscan.tracing.host import has_own_dispatch

_CPU = torch.device("cpu")


def is_opaque(tensor: torch.Tensor) -> bool:
    """Whether a tensor's values do not lie in memory as numbers of its dtype: sparse, quantized, nested, of a kind made
    of other tensors, or in a format of the device's that takes less room than its shape.
    """
    if not _has_memory(tensor) or tensor.is_quantized:
        return True
    return tensor.device.type not in ("cpu", "meta") and tensor.untyped_storage().nbytes() < _bytes_spanned(tensor)


def _bytes_spanned(tensor: torch.Tensor) -> int:
    """From the start of its storage to its last element."""
    sizes = tensor.size()
    if 0 in sizes:
        return 0
    last = sum((size - 1) * stride for size, stride in zip(sizes, tensor.stride(), strict=True))
    return int(tensor.storage_offset() + last + 1) * tensor.dtype.itemsize


def on_host(tensor: torch.Tensor) -> torch.Tensor:
    """A CPU tensor over the same memory, with the same sizes and strides; a CPU tensor itself. Not for opaque ones.

    It does not keep the memory alive: it must not outlive ``tensor``.
    """
    if tensor.device.type == "cpu":
        return tensor
    storage = tensor.untyped_storage()
    if storage.nbytes() == 0:
        return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
    host = torch._C._construct_storage_from_data_pointer(storage.data_ptr(), _CPU, storage.nbytes())
    view = torch.empty(0, dtype=tensor.dtype)
    view.set_(host, tensor.storage_offset(), tensor.size(), tensor.stride())
    if tensor.is_conj():
        view = view.conj()
    return view._neg_view() if tensor.is_neg() else view


def address(tensor: torch.Tensor) -> int:
    """What identifies the memory of a tensor; 0 where it has none of its own."""
    if not _has_memory(tensor) or tensor.device.type == "meta":
        return 0
    return tensor.untyped_storage().data_ptr()


def _has_memory(tensor: torch.Tensor) -> bool:
    if tensor.layout is not torch.strided or tensor.is_nested:
        return False
    return not has_own_dispatch(type(tensor))
