"""The simulated device's memory, looked at from the host: it is memory of this process."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_map_only

_CPU = torch.device("cpu")


def on_host(tensor: torch.Tensor) -> torch.Tensor:
    """A CPU tensor over the same memory, with the same sizes and strides; a CPU tensor itself.

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


def tree_on_host(tree: Any) -> Any:
    """The same arguments with every tensor looked at from the host."""
    return tree_map_only(torch.Tensor, on_host, tree)


def address(tensor: torch.Tensor) -> int:
    """What identifies the memory of a tensor; 0 where it has none."""
    return tensor.untyped_storage().data_ptr() if tensor.device.type != "meta" else 0
