"""The ``export`` tracer: what ``torch.export`` makes of the model, run operator by operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from opscan.graphs.exported import module_of_program
from opscan.graphs.fx_graph import GraphProgram
from opscan.inventory import Inventory
from opscan.tracing.capture import Captured, Dispatcher, Setting, inventory_of
from opscan.tracing.dispatch import DispatchTracer
from opscan.tracing.interface import Recipe, TraceOptions
from opscan.tracing.real_model import AsModule


class ExportTracer:
    name = "export"

    def __init__(self, dispatch: Dispatcher | None = None) -> None:
        self._dispatch = dispatch or DispatchTracer()

    def trace(self, recipe: Recipe, options: TraceOptions, progress: Callable[[str], None]) -> Inventory:
        """One inventory. Raises CaptureError where the model cannot be exported, ModelError for errors of the user's
        own code, LoadError from the recipe."""
        return inventory_of(self.name, capture, self._dispatch, recipe, options, progress)


def capture(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], setting: Setting) -> Captured:
    from torch.utils._python_dispatch import _disable_current_modes

    module = model if isinstance(model, nn.Module) else AsModule(model)
    with _disable_current_modes(), setting.fake_mode:
        program = torch.export.export(module, args, kwargs, strict=False)
        return Captured(GraphProgram(module_of_program(program)))
