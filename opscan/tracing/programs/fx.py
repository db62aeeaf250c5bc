"""The ``fx`` tracer: what ``torch.fx`` makes of the model symbolically, run operator by operator.

Tensors among the arguments are symbols, wherever they stand; other arguments are what they are. A function with a
derivative of its own stays whole, and calls made without gradients, or under autocast, are run so again. What is made
of Python's values alone is recorded as it is made.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import fx, nn
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from opscan.graphs.fx_graph import GraphProgram, Surroundings
from opscan.inventory import Inventory
from opscan.tracing.dispatch import DispatchTracer
from opscan.tracing.interface import Recipe, TraceOptions
from opscan.tracing.module_path import ModulePath
from opscan.tracing.programs.capture import Captured, Dispatcher, Setting, inventory_of
from opscan.tracing.programs.kept_gradients import applied_by
from opscan.tracing.real_model import AsModule
from opscan.tracing.trees import leaves_of


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
    tracer = _Tracer(args, kwargs, setting.recorder.device)
    with ExitStack() as stack:
        stack.enter_context(_recorded(root, setting))
        stack.enter_context(torch.enable_grad())
        stack.enter_context(_own_derivatives_whole(tracer))
        graph = tracer.trace(root)
    return Captured(_Program(fx.GraphModule(root, graph)))


class _Program(GraphProgram):
    """Takes the model's arguments."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return super().forward(*(leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)))


class _Tracer(fx.Tracer):
    """One placeholder a tensor among the model's arguments; the output is a tuple of what is symbolic in the result."""

    record_stack_traces = True

    def __init__(self, args: Any, kwargs: Any, device: torch.device) -> None:
        super().__init__()
        self._leaves, self._tree = tree_flatten((args, kwargs))
        self._device = device.type

    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: Any = None
    ) -> tuple[Any, list[Any]]:
        symbols = (
            self.create_proxy("placeholder", f"input_{number}", (), {}) if isinstance(leaf, torch.Tensor) else leaf
            for number, leaf in enumerate(self._leaves)
        )
        args, kwargs = tree_unflatten(list(symbols), self._tree)

        def call(root: nn.Module) -> tuple[Any, ...]:
            return tuple(leaves_of(root_fn(root, *args, **kwargs), (fx.Proxy, torch.Tensor)))

        return call, [self.root]

    def proxy(self, node: fx.Node) -> fx.Proxy:
        return _Proxy(node, self)

    def create_node(self, *args: Any, **kwargs: Any) -> fx.Node:
        node = super().create_node(*args, **kwargs)
        autocast = torch.get_autocast_dtype(self._device) if torch.is_autocast_enabled(self._device) else None
        Surroundings(torch.is_grad_enabled(), self._device, autocast).put_on(node)
        return node


class _Proxy(fx.Proxy):
    """Writes in place stay such."""

    def __setitem__(self, index: Any, value: Any) -> None:
        self.tracer.create_proxy("call_function", operator.setitem, (self, index, value), {})


def _in_place(name: str) -> Callable[[fx.Proxy, Any], fx.Proxy]:
    function = getattr(operator, name)

    def write(self: fx.Proxy, other: Any) -> fx.Proxy:
        return self.tracer.create_proxy("call_function", function, (self, other), {})

    return write


for _name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor"):
    setattr(_Proxy, f"__{_name}__", _in_place(_name))


@contextmanager
def _recorded(root: nn.Module, setting: Setting) -> Iterator[None]:
    """Operators on tensors that are no symbols run here and now, as they do at each call of the model."""
    recorder = setting.recorder
    recorder.whereabouts.module_path = ModulePath(root)
    recorder.running = True
    try:
        with recorder.whereabouts.module_path.following():
            yield
    finally:
        recorder.running = False


@contextmanager
def _own_derivatives_whole(tracer: _Tracer) -> Iterator[None]:
    """``torch.autograd.Function.apply`` on a symbol is one call."""

    def symbolic(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(leaf, fx.Proxy) for leaf in tree_leaves((args, kwargs))):
            return tracer.create_proxy("call_function", cls.apply, args, kwargs)
        return apply(cls, *args, **kwargs)

    with applied_by(symbolic) as apply:
        yield
