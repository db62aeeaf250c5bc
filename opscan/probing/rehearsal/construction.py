"""Building a model of any size on the host: what would not fit is allocated and never touched.

A model is built on the CPU, as its author builds it, and its initialisers run. Where that would take too much memory,
large tensors are reserved only (the system gives a page when it is first written), and what would fill them is left
out: their values are then unknown.
"""

from __future__ import annotations

import mmap
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from opscan.probing.rehearsal.device_memory import address
from opscan.probing.rehearsal.knowledge import Knowledge, Value, is_fresh
from opscan.probing.rehearsal.sizes import bytes_filled
from opscan.tracing.host import is_a_view

#: Tensors from this size on may be left out; a budget counts them.
_LARGE = 8 << 20

#: A tensor of this size is never filled: the models that have such are too large for the rest as well.
_HUGE = 1 << 30

_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0)


class Construction:
    """Runs operators on the CPU while a model is built. ``budget``: bytes that may be filled in all.

    ``left_out``: bytes that were not, by address. ``given_up``: the model has turned out too large.
    """

    def __init__(self, knowledge: Knowledge, budget: int) -> None:
        self._knowledge = knowledge
        self._budget = budget
        self._filled: dict[int, int] = {}
        self.given_up = False
        self.left_out: dict[int, int] = {}

    def run(self, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
        """The operator's result on the CPU, computed or only allocated."""
        value = self._knowledge.of(inputs)
        if is_a_view(func):
            return func(*args, **kwargs)
        size = bytes_filled(args, kwargs, inputs)
        if size >= _LARGE and is_fresh(func) and func._schema.name.startswith("aten::empty"):
            return self._allocated(func, args, kwargs, Value.CONSTANT)
        if (value is Value.UNKNOWN and size >= _LARGE) or not self._fits(size, inputs):
            return self._allocated(func, args, kwargs, Value.UNKNOWN)
        out = func(*args, **kwargs)
        self._knowledge.learn([t for t in tree_leaves(out) if isinstance(t, torch.Tensor)], value)
        return out

    def _fits(self, size: int, inputs: list[torch.Tensor]) -> bool:
        """Whether so many bytes are filled. Once a model has turned out too large, nothing large is: values that start
        from weights are of no use where some weights have none.
        """
        if size < _LARGE:
            return True
        place = address(inputs[0]) if inputs else -1 - len(self._filled)
        self._filled[place] = max(size, self._filled.get(place, 0))
        if size >= _HUGE or sum(self._filled.values()) > self._budget:
            self.given_up = True
        return not self.given_up

    def _allocated(self, func: Any, args: Any, kwargs: Any, value: Value) -> Any:
        """Results with the right sizes in memory that nothing was written to."""
        if func._schema.is_mutable:
            written = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)][:1]
            self._learn(written, value)
            return written[0] if len(func._schema.returns) == 1 else None
        arguments, options = tree_map_only(torch.Tensor, lambda t: t.to("meta"), (args, kwargs))
        if "device" in options or not any(isinstance(t, torch.Tensor) for t in tree_leaves((args, kwargs))):
            options["device"] = "meta"
        options.pop("pin_memory", None)
        out = tree_map_only(torch.Tensor, _reserved, func(*arguments, **options))
        self._learn([t for t in tree_leaves(out) if isinstance(t, torch.Tensor)], value)
        return out

    def _learn(self, tensors: list[torch.Tensor], value: Value) -> None:
        self._knowledge.learn(tensors, value)
        if value is Value.UNKNOWN:
            self.left_out |= {address(t): t.untyped_storage().nbytes() for t in tensors}


def _reserved(like: torch.Tensor) -> torch.Tensor:
    """A CPU tensor as ``like`` (a meta tensor), whose memory is not occupied before it is touched."""
    size = like.untyped_storage().nbytes()
    if size < mmap.PAGESIZE:
        return torch.zeros(like.size(), dtype=like.dtype)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    flat = torch.frombuffer(memory, dtype=like.dtype)
    return torch.as_strided(flat, like.size(), like.stride())
