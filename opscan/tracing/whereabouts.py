"""Where in the user's code, and in the model, an operator call belongs; in a backward pass, to the line of its forward
call.
"""

from __future__ import annotations

from dataclasses import replace
from types import FrameType

import torch

from opscan.inventory import Location, Phase
from opscan.tracing.module_path import ModulePath
from opscan.tracing.source import SourceLocator


class Whereabouts:
    """Follows one run. ``phase`` and ``module_path`` are set by whoever runs the model."""

    def __init__(self, locator: SourceLocator) -> None:
        self.phase: Phase = "forward"
        self.module_path = ModulePath(None)
        self._locator = locator
        self._origins: dict[int, Location | None] = {}

    def of(self, frame: FrameType) -> Location | None:
        """The location of the call that ``frame`` makes now; asked once a call, before the next one begins."""
        found = self._locator.locate(frame)
        location = Location(*found, self.module_path.current) if found else None
        if self.phase == "backward" and (origin := self._origin()) is not None:
            # Code of the user's own runs in a backward pass too: hooks, functions with their own derivative.
            location = replace(location, module=location.module or origin.module) if location else origin
        if torch.is_grad_enabled() or self.phase == "forward":
            # The autograd node of this call was numbered just before the call reached the Python key. A call that has
            # none meets the number of an earlier one.
            self._origins.setdefault(torch._C._autograd._get_sequence_nr() - 1, location)
        return location

    def _origin(self) -> Location | None:
        """Where the forward call stands whose derivative is computed now."""
        node = torch._C._current_autograd_node()
        return self._origins.get(node._sequence_nr()) if node is not None else None
