"""The ``export`` tracer: what ``torch.export`` makes of the model, run operator by operator.

The program keeps operators that torch composes of others whole, so that the device decides what becomes of them, and
keeps those whose results nothing uses, as eager mode does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import fx, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import _disable_current_modes

from opscan.graphs.exported import module_of_program
from opscan.graphs.fx_graph import GraphProgram, lines_of, module_of, of_torch
from opscan.inventory import Finding, Inventory, Location
from opscan.tracing.dispatch import DispatchTracer
from opscan.tracing.interface import Recipe, TraceOptions
from opscan.tracing.patches import Patches
from opscan.tracing.programs.capture import LARGE, Captured, Dispatcher, Setting, described, inventory_of
from opscan.tracing.programs.kept_gradients import own_derivatives_noted
from opscan.tracing.quiet import quiet
from opscan.tracing.real_model import AsModule
from opscan.tracing.recording import RecordingMode
from opscan.tracing.source import SourceLocator
from opscan.tracing.trees import tensors_in


class ExportTracer:
    name = "export"

    def __init__(self, dispatch: Dispatcher | None = None) -> None:
        self._dispatch = dispatch or DispatchTracer()

    def trace(self, recipe: Recipe, options: TraceOptions, progress: Callable[[str], None]) -> Inventory:
        """One inventory. Raises CaptureError where the model cannot be exported, ModelError for errors of the user's
        own code, LoadError from the recipe."""
        return inventory_of(self.name, capture, self._dispatch, recipe, options, progress)


def capture(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], setting: Setting) -> Captured:
    module = model if isinstance(model, nn.Module) else AsModule(model)
    unseen: list[str] = []
    with ExitStack() as stack:
        stack.enter_context(_disable_current_modes())
        stack.enter_context(setting.fake_mode)
        stack.enter_context(_sizes_kept(setting.fake_mode))
        stack.enter_context(quiet())
        stack.enter_context(_unused_kept())
        stack.enter_context(_devices_followed(setting.recorder))
        if setting.train:
            stack.enter_context(own_derivatives_noted(setting.locator, unseen))
        # Objects in a result are no outputs of a program; what computes them is kept all the same.
        stack.callback(module.register_forward_hook(lambda _module, _args, out: tuple(tensors_in(out))).remove)
        program = torch.export.export(module, args, kwargs, strict=False)
        graph = module_of_program(program)
        findings = (*_constants(program), *_changed(program, setting.locator))
    for part in graph.modules():
        if isinstance(part, fx.GraphModule):
            _as_in_eager_mode(part.graph)
    held = GraphProgram(graph)
    with setting.recorder.paused():
        for name, value in program.constants.items():
            if isinstance(value, torch.Tensor) and name not in program.state_dict and name in held._buffers:
                held._buffers[name] = value.to(setting.recorder.device)
    return Captured(held, findings, tuple(unseen))


@contextmanager
def _sizes_kept(fake_mode: FakeTensorMode) -> Iterator[None]:
    """The exporter follows symbolic sizes by way of the fake mode; what runs the program does not."""
    before = fake_mode.shape_env
    try:
        yield
    finally:
        fake_mode.shape_env = before


@contextmanager
def _devices_followed(recorder: RecordingMode) -> Iterator[None]:
    """Factories of the model's that name no device make tensors of the traced one, and are noted. The exporter computes
    with constants of one element for real, which the traced device cannot: they stay on the CPU.
    """
    with recorder.paused():
        recorder.running = recorder.numbers_on_host = True
        try:
            yield
        finally:
            recorder.running = recorder.numbers_on_host = False


@contextmanager
def _unused_kept() -> Iterator[None]:
    """Eager mode runs an operator whether or not its result is used."""
    patches = Patches()
    eliminate = fx.Graph.eliminate_dead_code

    def keeping(self: fx.Graph, is_impure_node: Callable[[fx.Node], bool] | None = None) -> bool:
        return eliminate(self, lambda node: _computes(node) or (is_impure_node or fx.Node.is_impure)(node))

    patches.set(fx.Graph, "eliminate_dead_code", keeping)
    try:
        yield
    finally:
        patches.undo()


def _computes(node: fx.Node) -> bool:
    """Whether a node is a call of an operator with a tensor for a result."""
    if not isinstance(node.target, torch._ops.OpOverload) or node.target._schema.name in _BOOKKEEPING:
        return False
    return any("Tensor" in str(result.type) for result in node.target._schema.returns)


#: What the exporter adds: eager mode does not check a dtype again, nor lift a constant.
_ASSERTIONS = "aten::_assert_tensor_metadata"
_BOOKKEEPING = {_ASSERTIONS, "aten::lift_fresh_copy", "aten::lift_fresh", "aten::detach", "aten::detach_"}


#: How a constant comes to its device.
_LIFTING = {"aten::detach", "aten::detach_", "aten::to", "aten::_to_copy"}


def _as_in_eager_mode(graph: fx.Graph) -> None:
    """Without checks of dtypes; a tensor made of Python's values is lifted at once to where it is used."""
    for node in list(graph.nodes):
        name = _operator(node)
        if name == _ASSERTIONS:
            graph.erase_node(node)
        elif name == "aten::lift_fresh_copy":
            lifted = node
            while len(lifted.users) == 1 and _operator(user := next(iter(lifted.users))) in _LIFTING:
                lifted = user
            node.target = torch.ops.aten.lift_fresh.default
            if lifted is not node:
                lifted.replace_all_uses_with(node)
                while lifted is not node:
                    before = lifted.args[0]
                    graph.erase_node(lifted)
                    lifted = before


def _operator(node: fx.Node) -> str:
    return str(node.target._schema.name) if isinstance(node.target, torch._ops.OpOverload) else ""


def _constants(program: Any) -> Iterator[Finding]:
    for name, value in program.constants.items():
        if isinstance(value, torch.Tensor) and value.nbytes > LARGE and name not in program.state_dict:
            yield Finding("OPS631", {"what": described(value)})


def _changed(program: Any, locator: SourceLocator) -> Iterator[Finding]:
    """Buffers and inputs that an operator writes to, by the graph's first operator that does."""
    signature = program.graph_signature
    names = {**signature.inputs_to_buffers, **{name: name for name in signature.user_inputs if isinstance(name, str)}}
    told: set[str] = set()
    for node in program.graph.nodes:
        for written in _written(node):
            base = _base(written)
            name = names.get(base.name)
            if base.op == "placeholder" and name is not None and name not in told and not of_torch(node):
                told.add(name)
                where = locator.innermost_of(lines_of(node))
                kind = "the buffer" if base.name in signature.inputs_to_buffers else "the input"
                location = (Location(*where, module_of(node)),) if where else ()
                yield Finding("OPS634", {"what": f"{kind} {name}"}, location)


def _written(node: fx.Node) -> Iterator[fx.Node]:
    if isinstance(node.target, torch._ops.OpOverload):
        for argument, value in zip(node.target._schema.arguments, node.args, strict=False):
            if argument.alias_info is not None and argument.alias_info.is_write and isinstance(value, fx.Node):
                yield value


def _base(node: fx.Node) -> fx.Node:
    """The tensor that a view is of."""
    while isinstance(node.target, torch._ops.OpOverload) and node.target._schema.arguments:
        shared = node.target._schema.arguments[0].alias_info
        if shared is None or not isinstance(node.args[0], fx.Node):
            break
        node = node.args[0]
    return node
