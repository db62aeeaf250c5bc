"""What a capture has in the place of a recorder: operators of the adapter's own become nodes, and where the model asks
for a value, torch.compile would leave the graph.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import get_proxy_mode

from opscan.tracing.assumptions import Assumptions
from opscan.tracing.graph.emission import emit_node
from opscan.tracing.graph.marks import Marks
from opscan.tracing.recorder import Recorder
from opscan.tracing.source import SourceLocator


class GraphRecorder(Recorder):
    """While the model is captured it is no dispatch mode: AOT autograd's own are alone."""

    def __init__(
        self, device: torch.device, fake_mode: FakeTensorMode, locator: SourceLocator, assumptions: Assumptions
    ) -> None:
        super().__init__(device, fake_mode, locator, assumptions, lambda func: None)
        self.marks = Marks(self.whereabouts)

    @contextmanager
    def paused(self) -> Iterator[None]:
        with super().paused(), self.marks.hidden():
            yield

    @property
    def is_paused(self) -> bool:
        return self._paused > 0

    def emit(
        self, name: str, inputs: list[Any], outputs: list[Any], attributes: tuple[tuple[str, str], ...] = ()
    ) -> None:
        if not self.running or self._paused or get_proxy_mode() is None:
            return
        results = emit_node(name, inputs, outputs, attributes)
        with self.paused(), torch._C._AutoDispatchBelowAutograd():
            for made, result in zip(outputs, results, strict=True):
                if not any(made is given for given in inputs):
                    made.copy_(result)

    def lifted(self, tensor: torch.Tensor) -> None:
        self.marks.lifted()

    def leaves_graph(self, reason: str) -> None:
        """torch.compile goes on behind this line in another graph."""
        self.finding("OPS607", {"reason": reason}, self._locator.locate(sys._getframe(1)))
