"""A model of fake tensors, built and moved to the traced device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import nn

from opscan.tracing import values


@contextmanager
def inert_initialisers() -> Iterator[None]:
    """``torch.nn.init`` does nothing while a model is built: there is no memory to fill, and some of it reads
    values.
    """
    names = [n for n in dir(nn.init) if n.endswith("_") and not n.startswith("_")]
    originals = {n: getattr(nn.init, n) for n in names}
    for n in names:
        setattr(nn.init, n, lambda tensor, *args, **kwargs: tensor)
    try:
        yield
    finally:
        for n, original in originals.items():
            setattr(nn.init, n, original)


def moved_to(device: torch.device) -> Callable[[torch.Tensor], torch.Tensor]:
    """What moves parameters and buffers to ``device``: what is known of their values goes along."""

    def move(tensor: torch.Tensor) -> torch.Tensor:
        moved = tensor.to(device)
        if values.known(moved) is None:
            values.carry(tensor, moved)
        return moved

    return move
