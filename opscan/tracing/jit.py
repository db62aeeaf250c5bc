"""The ``jit`` tracer: what ``torch.jit.trace`` makes of the model, run operator by operator.

It records one real run on the CPU: the model has to fit in memory, and to run there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_flatten, tree_unflatten

from opscan.errors import CaptureError
from opscan.graphs.traced import TracedProgram
from opscan.inventory import Inventory
from opscan.tracing.capture import HINT, Dispatcher, cannot_follow, renamed
from opscan.tracing.dispatch import DispatchTracer
from opscan.tracing.interface import Recipe, TraceOptions
from opscan.tracing.process_state import restored
from opscan.tracing.real_model import MOST_WEIGHTS, Built, build
from opscan.tracing.trees import tensors_in
from opscan.tracing.user_error import in_short


@dataclass(frozen=True, slots=True)
class _Traced:
    """``graph`` takes the tensors among the model's arguments, then those of ``state``."""

    graph: Any
    state: dict[str, torch.Tensor]
    training: bool
    inputs: tuple[torch.Tensor, ...]
    caught: tuple[warnings.WarningMessage, ...]


class JitTracer:
    name = "jit"

    def __init__(self, dispatch: Dispatcher | None = None) -> None:
        self._dispatch = dispatch or DispatchTracer()
        self._device = self._dispatch.device

    def trace(self, recipe: Recipe, options: TraceOptions, progress: Callable[[str], None]) -> Inventory:
        """One inventory. Raises CaptureError where the model cannot be traced, ModelError for errors of the user's own
        code, LoadError from the recipe."""
        progress("building the model")
        with restored():
            built = build(recipe)
            if built.fake is not None:
                raise _too_large(built)
            progress("capturing the model")
            try:
                traced = _traced(built)
            except Exception as error:
                self._dispatch.trace(recipe, options, progress)  # raises where the model does not run at all
                raise cannot_follow("jit", in_short(error), "") from error
        del built

        def load() -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
            return TracedProgram(traced.graph, traced.state, traced.training, self._device), traced.inputs, {}

        return renamed(self._dispatch.trace(replace(recipe, load=load), options, progress), self.name)


def _too_large(built: Built) -> CaptureError:
    size = built.weights / (1 << 30)
    if built.weights > MOST_WEIGHTS:
        return CaptureError(
            f"The tracer jit runs the model for real, and its weights take {size:.1f} GiB: more than "
            f"{MOST_WEIGHTS >> 30} GiB are not run.",
            HINT,
        )
    return CaptureError("The tracer jit runs the model for real, and the model cannot be built with its weights.", HINT)


class _OfTensors(nn.Module):
    """The model as a function of the tensors among its arguments, to a tuple of the tensors in its result: all that
    ``torch.jit.trace`` takes whatever the model's signature is."""

    def __init__(self, built: Built) -> None:
        super().__init__()
        self.model = built.module
        self.training = self.model.training
        self._leaves, self._tree = tree_flatten((built.args, built.kwargs))

    def tensors(self) -> tuple[torch.Tensor, ...]:
        return tuple(leaf for leaf in self._leaves if isinstance(leaf, torch.Tensor))

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        given = iter(tensors)
        leaves = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in self._leaves]
        args, kwargs = tree_unflatten(leaves, self._tree)
        return tuple(tensors_in(self.model(*args, **kwargs)))


def _traced(built: Built) -> _Traced:
    function = _OfTensors(built)
    inputs = function.tensors()
    state = torch.jit._unique_state_dict(function, keep_vars=True)
    with _scopes_named(function.model), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph, _ = torch.jit._get_trace_graph(function, inputs, strict=False)
    names = {name.removeprefix("model."): tensor for name, tensor in state.items()}
    return _Traced(graph, names, function.model.training, inputs, tuple(caught))


@contextmanager
def _scopes_named(model: nn.Module) -> Iterator[None]:
    """Nodes know the module that makes them by its qualified name."""
    before = torch.jit._trace._trace_module_map
    torch.jit._trace._trace_module_map = {module: name for name, module in model.named_modules()}
    try:
        yield
    finally:
        torch.jit._trace._trace_module_map = before
