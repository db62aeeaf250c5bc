"""The ``fx`` tracer: what ``torch.fx.symbolic_trace`` makes of the model, run operator by operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import fx, nn

from opscan.graphs.fx_graph import GraphProgram
from opscan.inventory import Inventory
from opscan.tracing.capture import Captured, Dispatcher, Setting, cannot_follow, inventory_of
from opscan.tracing.dispatch import DispatchTracer
from opscan.tracing.interface import Recipe, TraceOptions
from opscan.tracing.real_model import AsModule
from opscan.tracing.user_error import in_short


class FxTracer:
    name = "fx"

    def __init__(self, dispatch: Dispatcher | None = None) -> None:
        self._dispatch = dispatch or DispatchTracer()

    def trace(self, recipe: Recipe, options: TraceOptions, progress: Callable[[str], None]) -> Inventory:
        """One inventory. Raises CaptureError where the model cannot be followed symbolically, ModelError for errors of
        the user's own code, LoadError from the recipe."""
        return inventory_of(self.name, capture, self._dispatch, recipe, options, progress)


def capture(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], setting: Setting) -> Captured:
    root = model if isinstance(model, nn.Module) else AsModule(model)
    tracer = _Tracer()
    with setting.recorder.paused():
        setting.recorder.running = True
        try:
            graph = tracer.trace(root)
        except fx.proxy.TraceError as error:
            raise cannot_follow("fx", in_short(error), setting.locator.place_of(error)) from error
        finally:
            setting.recorder.running = False
    module = fx.GraphModule(root, graph)
    return Captured(GraphProgram(module))


class _Tracer(fx.Tracer):
    record_stack_traces = True
