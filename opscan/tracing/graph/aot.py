"""AOT autograd called as torchair calls it, with compilers that keep the graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch._functorch.aot_autograd import aot_function
from torch._functorch.partitioners import default_partition
from torch.fx.experimental import proxy_tensor
from torch.nn.utils.stateless import _reparametrize_module
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves

from opscan.tracing.asked_autocast import autocast_for
from opscan.tracing.graph.answering_mode import depends_on_data
from opscan.tracing.graph.module_state import left_as_it_was
from opscan.tracing.patches import Patches
from opscan.tracing.recording import RecordingMode
from opscan.tracing.trees import tensors_in
from opscan.workload import Workload

#: Objects within objects of a result that are looked into.
_DEPTH = 4


@dataclass(slots=True)
class Captured:
    """Graphs in the order in which they are compiled: forward, then backward."""

    graphs: list[torch.fx.GraphModule] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)


def capture(model: Any, args: Any, kwargs: Any, workload: Workload, recorder: RecordingMode) -> Captured:
    """The graphs of one model on fake tensors. Errors of the model and of AOT autograd pass through."""
    captured = Captured()
    state = _state(model)

    def forward(state: Any, args: Any, kwargs: Any) -> list[torch.Tensor]:
        with left_as_it_was(model), _with_state(model, state), autocast_for(workload.amp, recorder):
            return list(reachable(model(*args, **kwargs)))

    def keep(gm: torch.fx.GraphModule, example_inputs: Any) -> Callable[..., Any]:
        captured.graphs.append(as_torchair_has_it(gm))
        return _Empty(gm)

    with _disable_current_modes(), _kept_whole(), _as_if_compiling(), _without_constants(), _with_all_askers():
        compiled = aot_function(
            forward,
            fw_compiler=keep,
            bw_compiler=keep,
            inference_compiler=keep,
            partition_fn=default_partition,
            decompositions={},
            keep_inference_input_mutations=True,
        )
        with torch.set_grad_enabled(workload.train):
            results = compiled(state, args, kwargs)
        if workload.train:
            captured.unseen += _backward(results)
    return captured


def _backward(results: list[torch.Tensor]) -> list[str]:
    """The graph of a backward pass is compiled when it is first run. What was not captured, in words."""
    losses = [t for t in results if t.requires_grad]
    if not losses:
        return ["The backward pass: no result of the model requires a gradient."]
    with getattr(losses[0], "fake_mode", nullcontext()):
        torch.autograd.backward(losses, [torch.ones_like(t) for t in losses])
    return ["The optimizer's step: it is no part of the graph, and runs operator by operator."]


def _state(model: Any) -> dict[str, torch.Tensor]:
    if not isinstance(model, nn.Module):
        return {}
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def reachable(result: Any, depth: int = _DEPTH) -> Iterator[torch.Tensor]:
    """Tensors of a result, and of the objects in it: a cache of keys and values is one."""
    seen: set[int] = set()
    for leaf in tree_leaves(result):
        found = list(tensors_in(leaf))
        yield from found
        if not found and depth and hasattr(leaf, "__dict__") and not isinstance(leaf, (type, nn.Module)):
            for tensor in reachable(list(vars(leaf).values()), depth - 1):
                if id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield tensor


def _with_state(model: Any, state: Any) -> AbstractContextManager[Any]:
    return _reparametrize_module(model, state, tie_weights=True) if isinstance(model, nn.Module) else nullcontext()


class _Empty:
    """In the place of a compiled graph: tensors as the graph's results are; inputs that are returned, themselves."""

    #: AOT autograd then hands over its list of inputs, which the graph may release.
    _boxed_call = True

    def __init__(self, graph: torch.fx.GraphModule) -> None:
        self._graph = graph

    def __call__(self, given: list[Any]) -> list[Any]:
        nodes = list(self._graph.graph.nodes)
        inputs = dict(zip((n for n in nodes if n.op == "placeholder"), tuple(given), strict=False))
        given.clear()
        output = next(n for n in nodes if n.op == "output")
        return [_made(node, inputs) for node in output.args[0]]


def _made(node: Any, inputs: dict[Any, Any]) -> Any:
    if not isinstance(node, torch.fx.Node):
        return node
    return inputs[node] if node in inputs else node.meta.get("val")


def as_torchair_has_it(graph: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """torchair's passes over a graph that change which operators it has: what does nothing is dropped (with torch's own
    pass), and a view is a reshape. Source: ``_optimize_fx`` of ``torchair/npu_fx_compiler.py``, torch_npu 2.13.0.
    """
    from torch._inductor.fx_passes.post_grad import remove_noop_ops

    remove_noop_ops(graph.graph)
    for node in reversed(graph.graph.nodes):
        if not node.users and _is_random(node.target):  # dynamo drops it, AOT autograd does not
            graph.graph.erase_node(node)
    for node in graph.graph.nodes:
        if node.target is torch.ops.aten.view.default:
            node.target = torch.ops.aten.reshape.default
    return graph


def _is_random(target: object) -> bool:
    if not isinstance(target, torch._ops.OpOverload) or target._schema.is_mutable:
        return False
    return torch.Tag.nondeterministic_seeded in target.tags


@contextmanager
def _as_if_compiling() -> Iterator[None]:
    """What models and libraries ask, to take the way that torch.compile can capture."""
    patches = Patches()
    patches.set(torch.compiler, "is_compiling", lambda: True)
    try:
        yield
    finally:
        patches.undo()


@contextmanager
def _with_all_askers() -> Iterator[None]:
    """What asks for a value keeps what the value is made of, though nothing in the graph needs its answer."""
    patches = Patches()
    patches.set(torch.fx.node, "_side_effectful_functions", _AndAskers(torch.fx.node._side_effectful_functions))
    try:
        yield
    finally:
        patches.undo()


class _AndAskers(set[Any]):
    def __contains__(self, target: object) -> bool:
        return super().__contains__(target) or depends_on_data(target)


@contextmanager
def _without_constants() -> Iterator[None]:
    """The tracer computes with small constants beside the graph, on the device that they are moved to: there is
    none.
    """
    patches = Patches()
    patches.set(proxy_tensor, "CONSTANT_NUMEL_LIMIT", -1)
    try:
        yield
    finally:
        patches.undo()


@contextmanager
def _kept_whole() -> Iterator[None]:
    """Operators that torch takes apart in Python for AOT autograd, and torchair keeps. Source:
    ``torchair/_utils/adjust_implicit_decomposition.py``, torch_npu 2.13.0.
    """
    keys = (torch._C.DispatchKey.Autograd, torch._C.DispatchKey.CompositeImplicitAutograd)
    operators = (torch.ops.aten.upsample_nearest2d.default, torch.ops.aten.upsample_nearest2d.vec)
    taken = [(op, key, op.py_kernels.pop(key)) for op in operators for key in keys if key in op.py_kernels]
    for op in operators:
        op._dispatch_cache.clear()
    try:
        yield
    finally:
        for op, key, kernel in taken:
            op.py_kernels[key] = kernel
        for op in operators:
            op._dispatch_cache.clear()
