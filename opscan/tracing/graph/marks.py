"""What the nodes of a captured graph are told of themselves while they are made: the user's line, the module, the pass,
and whether they are part of the graph at all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.fx.proxy import TracerBase

from opscan.inventory import Location, Phase
from opscan.tracing.patches import Patches
from opscan.tracing.whereabouts import Whereabouts

_KEY = "opscan"


@dataclass(frozen=True, slots=True)
class Mark:
    """``hidden``: the tracer's own doing. ``outside``: torch.compile leaves it to eager mode."""

    location: Location | None = None
    phase: Phase = "forward"
    hidden: bool = False
    outside: bool = False


class Marks:
    """Marks every node that is made while this is followed."""

    def __init__(self, whereabouts: Whereabouts) -> None:
        self._whereabouts = whereabouts
        self._hidden = 0
        self._outside = 0
        self._last: torch.fx.Node | None = None
        self._lifted: torch.fx.Node | None = None

    @contextmanager
    def following(self) -> Iterator[None]:
        patches = Patches()
        original = TracerBase.create_node

        def create_node(tracer: Any, *args: Any, **kwargs: Any) -> torch.fx.Node:
            node = original(tracer, *args, **kwargs)
            node.meta[_KEY] = self._mark()
            self._last = node
            if node.target is torch.ops.aten.lift_fresh_copy.default:
                self._lifted = node
            return node

        patches.set(TracerBase, "create_node", create_node)
        try:
            yield
        finally:
            patches.undo()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        self._hidden += 1
        try:
            yield
        finally:
            self._hidden -= 1

    @contextmanager
    def outside(self) -> Iterator[None]:
        self._outside += 1
        try:
            yield
        finally:
            self._outside -= 1

    def last_is_outside(self) -> None:
        """The node that was made last turns out not to belong to the graph."""
        if self._last is not None:
            self._last.meta[_KEY] = replace(mark_of(self._last), outside=True)

    def lifted(self) -> None:
        """The tensor that was last made from Python's data is the model's own."""
        if self._lifted is not None:
            self._lifted.meta[_KEY] = replace(mark_of(self._lifted), hidden=False)

    def _mark(self) -> Mark:
        backward = torch._C._current_autograd_node() is not None
        self._whereabouts.phase = "backward" if backward else "forward"
        location = self._whereabouts.of(sys._getframe(2))
        return Mark(location, self._whereabouts.phase, self._hidden > 0, self._outside > 0)


def mark_of(node: torch.fx.Node) -> Mark:
    """An empty one for a node that a pass over the graph made."""
    found: Mark = node.meta.get(_KEY) or Mark()
    return found
