"""Runs a graph of torch.fx node by node in Python: each call is made from the line and within the module that its node
names.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx
from torch.utils._pytree import tree_leaves

from opscan.graphs.higher_order import INLINE
from opscan.graphs.lines import Line, from_lines
from opscan.graphs.scopes import Scope, call_within, held, hold, scope_at

_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)')

#: The second and later calls of one module are numbered.
_CALL_NUMBER = re.compile(r"@\d+")

#: The key of Surroundings among what a node carries.
_SURROUNDINGS = "surroundings"

_TORCH = os.path.dirname(os.path.realpath(torch.__file__)) + os.sep


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Modes in which a node was captured. ``autocast``: its dtype on ``device``; None where it was off."""

    gradients: bool
    device: str
    autocast: torch.dtype | None

    def put_on(self, node: fx.Node) -> None:
        node.meta[_SURROUNDINGS] = self

    @contextmanager
    def again(self) -> Iterator[None]:
        """What switched something on or off does so again; what is set around the whole program stays."""
        with ExitStack() as stack:
            if not self.gradients:
                stack.enter_context(torch.no_grad())
            if self.autocast is not None:
                stack.enter_context(torch.autocast(self.device, dtype=self.autocast))
            yield


class GraphProgram(Scope):
    """A graph as a module: what it calls and holds is at the same qualified names, which hooks see."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__()
        self._graph = module.graph
        for node in module.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                hold(self, str(node.target), _attribute(module, str(node.target)))
        for node in module.graph.nodes:
            scope_at(self, module_of(node))
        self.training = module.training

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The result, in the containers that the captured model returned."""
        inputs = _flat_inputs(self._graph, args, kwargs)
        return self._graph.process_outputs(run(self, self, self._graph, inputs))


def lines_of(node: fx.Node) -> tuple[Line, ...]:
    """Where a node is from: lines outside of torch, outermost first."""
    found = _FRAME.findall(node.stack_trace or "")
    return tuple((file, int(line)) for file, line in found if not file.startswith((_TORCH, "<")))


def of_torch(node: fx.Node) -> bool:
    """Whether the innermost line is torch's: a module of its own keeps statistics."""
    found = _FRAME.findall(node.stack_trace or "")
    return bool(found) and found[-1][0].startswith(_TORCH)


def module_of(node: fx.Node) -> str:
    """The module in which a node makes its call, by its qualified name."""
    stack = [str(entry[0]) for entry in (node.meta.get("nn_module_stack") or {}).values()]
    paths = [_CALL_NUMBER.sub("", path) for path in stack]
    if node.op == "call_module" and paths and paths[-1] == str(node.target):
        paths = paths[:-1]  # it is the module that is called
    return paths[-1] if paths else ""


def run(root: Scope, owner: Scope, graph: fx.Graph, inputs: list[Any]) -> Any:
    """The graph's output. ``owner`` holds what it names; modules are those of ``root``. A value is let go behind its
    last use."""
    values: dict[fx.Node, Any] = {}
    given = iter(inputs)
    spent = _last_used(graph)
    for node in graph.nodes:
        if node.op == "placeholder":
            values[node] = next(given)
        elif node.op == "output":
            return fx.node.map_arg(node.args[0], values.__getitem__)
        elif node.op == "get_attr":
            values[node] = held(owner, str(node.target))
        else:
            args, kwargs = fx.node.map_arg((node.args, dict(node.kwargs)), values.__getitem__)
            values[node] = _call(root, owner, node, args, kwargs)
        for used in spent.get(node, ()):
            del values[used]
    return None


def _call(root: Scope, owner: Scope, node: fx.Node, args: Any, kwargs: dict[str, Any]) -> Any:
    function: Any = node.target
    if node.op == "call_method":
        function, args = getattr(args[0], str(node.target)), args[1:]
    elif node.op == "call_module":
        function = held(owner, str(node.target))
    elif isinstance(function, torch._ops.HigherOrderOperator):
        inline = INLINE.get(function.name())
        if inline is not None:
            return inline(functools.partial(_run_inner, root), *args, **kwargs)
    surroundings = node.meta.get(_SURROUNDINGS)
    with surroundings.again() if surroundings else nullcontext():
        return call_within(root, module_of(node), from_lines(lines_of(node)), (function, args, kwargs), {})


def _run_inner(root: Scope, module: Any, *args: Any) -> Any:
    """The result of a graph that another one holds."""
    if not isinstance(module, fx.GraphModule):
        return module(*args)
    return run(root, GraphProgram(module), module.graph, list(args))


def _flat_inputs(graph: fx.Graph, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """One value for each placeholder."""
    if isinstance(graph._codegen, fx.graph._PyTreeCodeGen):
        return tree_leaves((args, kwargs))
    bound = list(args)
    for node in [node for node in graph.nodes if node.op == "placeholder"][len(args) :]:
        name = str(node.target)
        if name not in kwargs and not node.args:
            raise TypeError(f"forward() is missing the argument {name!r}")
        bound.append(kwargs[name] if name in kwargs else node.args[0])
    return bound


def _last_used(graph: fx.Graph) -> dict[fx.Node, list[fx.Node]]:
    """By node: the values that nothing uses behind it."""
    last: dict[fx.Node, fx.Node] = {}
    for node in graph.nodes:
        last[node] = node
        for used in node.all_input_nodes:
            last[used] = node
    spent: dict[fx.Node, list[fx.Node]] = {}
    for value, user in last.items():
        spent.setdefault(user, []).append(value)
    return spent


def _attribute(module: Any, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name)
    return module
