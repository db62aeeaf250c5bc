"""Follows torchair through a model: every graph that it is given, every node, what its converter added or said.

torchair stops at the first node that a converter refuses. Here a refused node gets a stand-in with the dtype and shape
of its meta result, so that the nodes behind it are converted too. Nothing is compiled: a converted graph is run by
torch's own operators, whose results the model goes on with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from opscan.inventory import Dim, Phase
from opscan.matrix.torchair_table import NO_CONVERTER, WITH_CALLBACK
from opscan.probing.graph.running import Compute, Runner
from opscan.tracing.graph.nodes import shape_of
from opscan.tracing.patches import Patches


@dataclass(slots=True)
class ConvertedNode:
    """One node of an FX graph. ``operators``: positions in the graph of the operators that its conversion added;
    ``results``: names of the graph-engine tensors that stand for its results. ``raised``: why it was not converted.
    """

    node: torch.fx.Node
    operators: range
    results: tuple[str, ...] = ()
    raised: str = ""


@dataclass(slots=True)
class ConvertedGraph:
    """One FX graph that torchair was given. ``definition``: the graph-engine graph, a ``GraphDef`` of torchair's.

    ``failed``: why the rest of it was not converted, where something other than a node's conversion failed.
    ``shapes``: of graph-engine tensors, by name. ``zeros``: its values could not be computed. ``is_whole``: it is of
    the function that torch.compile was called for, rather than of one that this calls or that follows a graph break.
    """

    module: torch.fx.GraphModule
    phase: Phase
    nodes: list[ConvertedNode] = field(default_factory=list)
    definition: Any = None
    failed: str = ""
    runs: int = 0
    shapes: dict[str, tuple[Dim, ...]] = field(default_factory=dict)
    zeros: bool = False
    is_whole: bool = False


class Conversions:
    """All graphs of one model, in the order in which torchair met them."""

    def __init__(
        self,
        progress: Callable[[str], None],
        compute: Callable[[ConvertedGraph], Compute | None] = lambda graph: None,
        apart: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """``compute``: asked at each run of a graph for what computes its values; None where none are needed.

        ``apart``: a context for what happens within graphs and their conversion, not between them.
        """
        self.graphs: list[ConvertedGraph] = []
        self._progress = progress
        self._compute = compute
        self._apart = apart
        self._phase: Phase = "forward"
        self._current: ConvertedGraph | None = None

    @contextmanager
    def following(self) -> Iterator[None]:
        """While this is entered, torchair converts as it always does, stops at nothing, and compiles nothing."""
        from torchair import npu_fx_compiler
        from torchair._ge_concrete_graph import fx2ge_converter

        patches = Patches()
        try:
            converter, concrete = npu_fx_compiler._NpuGraphConverter, fx2ge_converter.GeConcreteGraph
            patches.set(npu_fx_compiler, "aot_module_simplified", self._phased(npu_fx_compiler.aot_module_simplified))
            patches.set(npu_fx_compiler._NpuFxCompiler, "__call__", self._compile(npu_fx_compiler._NpuFxCompiler))
            patches.set(converter, "run_node", self._run_node(converter.run_node))
            patches.set(concrete, "optimize_graph_without_runtime", _nothing)
            _without_callbacks(patches)
            yield
        finally:
            patches.undo()

    # --- torchair's own functions, followed -----------------------------------------------------------------

    def _phased(self, aot: Callable[..., Any]) -> Callable[..., Any]:
        """AOT autograd, whose compilers say which pass a graph belongs to."""

        def simplified(*args: Any, **kwargs: Any) -> Any:
            for name in ("fw_compiler", "inference_compiler"):
                if kwargs.get(name) is not None:
                    kwargs[name] = self._in_phase(kwargs[name], "forward")
            if kwargs.get("bw_compiler") is not None:
                kwargs["bw_compiler"] = self._in_phase(kwargs["bw_compiler"], "backward")
            return aot(*args, **kwargs)

        return simplified

    def _in_phase(self, compiler: Callable[..., Any], phase: Phase) -> Callable[..., Any]:
        def compile_in_phase(*args: Any, **kwargs: Any) -> Any:
            before, self._phase = self._phase, phase
            try:
                return compiler(*args, **kwargs)
            finally:
                self._phase = before

        return compile_in_phase

    def _compile(self, compiler: Any) -> Callable[..., Any]:
        """Converts a graph, and returns what runs it without torchair."""
        original = compiler._get_compiled_gm

        def compile_graph(fx_compiler: Any, module: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
            graph = ConvertedGraph(module, self._phase, is_whole=_is_outermost())
            self.graphs.append(graph)
            self._progress(f"converting graph {len(self.graphs)} ({graph.phase})")
            before, self._current = self._current, graph
            try:
                with self._apart():
                    original(fx_compiler, module, inputs)
            except Exception as error:
                graph.failed = in_one_line(error)
            finally:
                self._current = before
            return Runner(graph, self._compute, self._apart)

        return compile_graph

    def _run_node(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def run_node(interpreter: Any, node: torch.fx.Node) -> Any:
            graph = self._current
            if graph is None or node.op not in ("call_function", "call_method", "call_module"):
                return original(interpreter, node)
            graph.definition = interpreter._graph.graph._proto
            operators = graph.definition.op
            before, raised = len(operators), ""
            try:
                result = original(interpreter, node)
            except Exception as error:
                _reset_nesting()
                raised = in_one_line(error) if _has_converter(node.target) else _without_converter(node.target)
                result = _stand_in(interpreter, node)
            results = dict(_named_tensors(result))
            graph.shapes = {**results, **graph.shapes}
            graph.nodes.append(ConvertedNode(node, range(before, len(operators)), tuple(results), raised))
            return result

        return run_node


def in_one_line(error: BaseException) -> str:
    """A converter's own words: the first line that says anything."""
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {line[:300]}" if line else type(error).__name__


def _is_outermost() -> bool:
    """Whether the function that is compiled now is the first that torch.compile met."""
    compiling = torch._guards.CompileContext.current_compile_id()
    return compiling is not None and getattr(compiling, "frame_id", None) == 0


def _nothing(*arguments: Any, **options: Any) -> None:
    """In the place of torchair's passes over a whole graph, which prepare it for the compiler."""


def _has_converter(target: Any) -> bool:
    """Whether torchair registers a converter for it, rather than none or one that it makes by itself."""
    from torchair._ge_concrete_graph import fx2ge_converter

    if getattr(target, "_ge_converter", None) is not None:
        return True
    return fx2ge_converter._CONVERTERS.get(target) is not None or not isinstance(target, torch._ops.OpOverload)


def _without_converter(target: Any) -> str:
    """What torchair of this release does with an operator that it has no converter for."""
    try:
        from torchair._ge_concrete_graph.custom_op_codegen_common import determine_callback_path, is_custom_op
    except ImportError:  # older releases
        return NO_CONVERTER
    return WITH_CALLBACK if is_custom_op(target) and determine_callback_path(target) else NO_CONVERTER


def _without_callbacks(patches: Patches) -> None:
    """Newer releases compile a callback for the user's own operators with a C++ compiler: nothing is compiled here."""
    try:
        from torchair._ge_concrete_graph import custom_op_pre_scan
    except ImportError:  # older releases
        return
    patches.set(custom_op_pre_scan, "prescan_and_compile_custom_ops", lambda *graph: None)


def _reset_nesting() -> None:
    """torchair counts how deep it is inside functions that add operators, and an exception leaves the count wrong."""
    from torchair.ge import _ge_graph

    _ge_graph.local_variable.auto_convert_nesting = 0


def _stand_in(interpreter: Any, node: torch.fx.Node) -> Any:
    """What a refused node's users are given: tensors with the dtypes and shapes of its meta result. It hangs on the
    node's own inputs, so that what makes those is needed.
    """
    from torchair.core._concrete_graph import ValuePack
    from torchair.ge._ge_graph import Tensor

    value = node.meta.get("val")
    results = list(value) if isinstance(value, (list, tuple)) else [value]
    operator = interpreter._graph.graph.op.add()
    operator.type = "Placeholder"
    operator.name = f"refused_{node.name}"
    given = interpreter.fetch_args_kwargs_from_env(node)
    operator.input.extend(name for name, _ in _named_tensors(tree_leaves(given)))
    packs: list[Any] = []
    for index, meta in enumerate(results):
        operator.output_desc.add().name = f"y{index}"
        if not isinstance(meta, (torch.Tensor, torch.SymInt, torch.SymFloat, torch.SymBool)):
            packs.append(meta)
            continue
        tensor = Tensor(operator, index)
        tensor.set_meta(meta)
        packs.append(ValuePack(meta, tensor))
    return packs if isinstance(value, (list, tuple)) else packs[0]


def _named_tensors(result: Any) -> Iterator[tuple[str, tuple[Dim, ...]]]:
    """(name of the graph-engine tensor, shape) of what a node results in."""
    if isinstance(result, (list, tuple)):
        for each in result:
            yield from _named_tensors(each)
        return
    name = getattr(getattr(result, "npu", None), "tensor", None)
    if isinstance(name, str) and isinstance(result.meta, torch.Tensor):
        yield name, shape_of(result.meta)
