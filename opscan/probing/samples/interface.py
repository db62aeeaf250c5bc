"""What a sample is, and how one is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

#: Turns a tensor of a sample into the one that an operator is given, as by moving it to a device.
Place = Callable[[Tensor], Tensor]


class Unsampled(Exception):
    """No arguments can be made for a signature. ``reason`` completes the sentence "it was not run: …"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Derived:
    """An argument that only a forward operator can make, on the device where the operator then runs.

    torch_npu keeps masks and indices in formats of its own (``max_pool2d_with_indices``), so that a backward operator
    takes nothing but what the device's own forward returned. ``make`` is given the placement of the other arguments.
    """

    make: Callable[[Place], Any]


@dataclass(frozen=True, slots=True)
class Sample:
    """Arguments of one operator, on the CPU. ``scaled`` says in words what was made smaller, empty where nothing was.

    ``ties``: values that decide an order repeat, so that indices among the results may differ.
    """

    operator: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    scaled: str = ""
    ties: bool = False

    def placed(self, place: Place, device: str = "cpu", derived: bool = True) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments of their own for one run: tensors through ``place``, devices among the arguments replaced.

        Tensors are copied first, so that an operator that works in place leaves the sample as it is. Without
        ``derived`` what only the device can make is None.
        """

        def put(value: Any) -> Any:
            if isinstance(value, Tensor):
                return _put(value, place)
            if isinstance(value, Derived) and not derived:
                return None
            if isinstance(value, Derived):
                return value.make(lambda tensor: _put(tensor, place))
            return torch.device(device) if isinstance(value, torch.device) else value

        def leaf(value: Any) -> bool:
            return isinstance(value, Derived)

        args, kwargs = tree_map(put, (self.args, self.kwargs), is_leaf=leaf)
        return args, kwargs


def _put(tensor: Tensor, place: Place) -> Tensor:
    """A copy of a tensor in its place, with all the memory it lies in: ``as_strided`` reads beyond its own elements."""
    held = tensor.untyped_storage().nbytes() // tensor.itemsize
    if held <= tensor.numel():
        return place(tensor.clone())
    whole = place(tensor.as_strided((held,), (1,), 0).clone())
    return whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
