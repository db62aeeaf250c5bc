"""The ``jit`` tracer: what ``torch.jit.trace`` makes of the model, run operator by operator.

It records one real run on the CPU: the model has to fit in memory, and to run there.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, is_dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from opscan.errors import CaptureError, ModelError
from opscan.graphs.script_graph import constant_of_node, lines_of
from opscan.graphs.traced import TracedProgram, path_of
from opscan.inventory import Finding, Inventory, Location
from opscan.tracing.dispatch import DispatchTracer
from opscan.tracing.interface import Recipe, TraceOptions
from opscan.tracing.process_state import restored
from opscan.tracing.programs.capture import HINT, LARGE, Dispatcher, blamed, cannot_follow, described, renamed
from opscan.tracing.programs.kept_gradients import switching_noted
from opscan.tracing.programs.tracer_warnings import findings_of
from opscan.tracing.quiet import quiet
from opscan.tracing.real_model import MOST_WEIGHTS, Built, build
from opscan.tracing.source import SourceLocator
from opscan.tracing.trees import tensors_in

#: Values in a result that hold no tensor that was not found. Containers are looked into.
_LOOKED_INTO = (torch.Tensor, int, float, complex, bool, str, bytes, type(None), torch.dtype, torch.device, Mapping)

#: Findings about tensors that became values of Python.
_PYTHON_VALUES = ("OPS603", "OPS632")


@dataclass(frozen=True, slots=True)
class _Traced:
    """``graph`` takes the tensors among the model's arguments, then those of ``state``. ``left_out``: kinds of
    objects in the model's result that may hold tensors, and are not looked into."""

    graph: Any
    state: dict[str, torch.Tensor]
    training: bool
    inputs: tuple[torch.Tensor, ...]
    caught: tuple[warnings.WarningMessage, ...]
    left_out: tuple[str, ...]


class JitTracer:
    name = "jit"

    def __init__(self, dispatch: Dispatcher | None = None) -> None:
        self._dispatch = dispatch or DispatchTracer()
        self._device = self._dispatch.device

    def trace(self, recipe: Recipe, options: TraceOptions, progress: Callable[[str], None]) -> Inventory:
        """One inventory. Raises CaptureError where the model cannot be traced, ModelError for errors of the user's own
        code, LoadError from the recipe."""
        progress("building the model")
        locator = SourceLocator(recipe.root, os.path.dirname(os.path.realpath(torch.__file__)))
        switched: list[str] = []
        with restored():
            built = build(recipe)
            if built.fake is not None:
                raise _too_large(built)
            progress("capturing the model")
            try:
                with switching_noted(locator, switched) if options.workload.train else nullcontext():
                    traced = _traced(built)
            except Exception as error:
                failure = cannot_follow(self.name, error, locator)
                raise blamed(failure, self.name, self._dispatch, recipe, options, progress) from error
        findings = (*findings_of(traced.caught, locator), *_constants(traced, built, locator))
        del built

        def load() -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
            return TracedProgram(traced.graph, traced.state, traced.training, self._device), traced.inputs, {}

        try:
            inventory = self._dispatch.trace(replace(recipe, load=load), options, progress)
        except ModelError as error:
            raise blamed(error, self.name, self._dispatch, recipe, options, progress) from error.__cause__
        return renamed(inventory, self.name, findings, (*_unseen(traced, findings), *switched))


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
        self.left_out: tuple[str, ...] = ()
        self._leaves, self._tree = tree_flatten((built.args, built.kwargs))

    def tensors(self) -> tuple[torch.Tensor, ...]:
        return tuple(leaf for leaf in self._leaves if isinstance(leaf, torch.Tensor))

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        given = iter(tensors)
        leaves = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in self._leaves]
        args, kwargs = tree_unflatten(leaves, self._tree)
        result = self.model(*args, **kwargs)
        others = (leaf for leaf in tree_leaves(result) if not isinstance(leaf, _LOOKED_INTO) and not is_dataclass(leaf))
        self.left_out = tuple(dict.fromkeys(type(leaf).__name__ for leaf in others))
        return tuple(tensors_in(result))


def _unseen(traced: _Traced, findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """A traced graph drops operators whose results lead to none of its outputs."""
    told = []
    if any(finding.rule in _PYTHON_VALUES for finding in findings):
        told.append("Operators whose results only become values of Python: the traced graph drops them.")
    if traced.left_out:
        told.append(f"What is held by {', '.join(traced.left_out)} in the result alone: the traced graph drops it.")
    return tuple(told)


def _traced(built: Built) -> _Traced:
    function = _OfTensors(built)
    inputs = function.tensors()
    state = torch.jit._trace._unique_state_dict(function, keep_vars=True)
    with _scopes_named(function.model), quiet() as caught:
        graph, _ = torch.jit._trace._get_trace_graph(function, inputs, strict=False)
    names = {name.removeprefix("model."): tensor for name, tensor in state.items()}
    return _Traced(graph, names, function.model.training, inputs, tuple(caught), function.left_out)


@contextmanager
def _scopes_named(model: nn.Module) -> Iterator[None]:
    """Nodes know the module that makes them by its qualified name."""
    before = torch.jit._trace._trace_module_map
    torch.jit._trace._trace_module_map = {module: name for name, module in model.named_modules()}
    try:
        yield
    finally:
        torch.jit._trace._trace_module_map = before


def _constants(traced: _Traced, built: Built, locator: SourceLocator) -> Iterator[Finding]:
    """Large tensors in the graph that are nothing the model holds."""
    held = {tensor.data_ptr() for tensor in (*traced.state.values(), *built.module.buffers())}
    for node in traced.graph.findAllNodes("prim::Constant"):
        value = constant_of_node(node)
        if isinstance(value, torch.Tensor) and value.nbytes > LARGE and value.data_ptr() not in held:
            where = locator.innermost_of(lines_of(node.sourceRange()))
            locations = (Location(*where, path_of(node)),) if where else ()
            yield Finding("OPS631", {"what": described(value)}, locations)
