"""A graph of ``torch.jit.trace`` as a module whose weights and inputs are given."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from opscan.graphs.lines import Call, from_lines
from opscan.graphs.scopes import Scope, call_within, held, hold, scope_at
from opscan.graphs.script_graph import Functions, constant_of_node, lines_of, run_flat


class TracedProgram(Scope):
    """``graph``: its inputs are tensors of the model's arguments, then the values of ``state`` in order: parameters and
    buffers by their names. Scopes of its nodes are qualified names of modules. Constants of the graph are held as
    buffers, so that they move as weights do. ``device``: constants that name a device name this one.

    The trace writes some calls down as eager mode does not make them: those are made as eager mode does.
    """

    def __init__(self, graph: Any, state: dict[str, torch.Tensor], training: bool, device: torch.device) -> None:
        super().__init__()
        self._graph = graph
        self._state = tuple(state)
        self._device = device
        self._constants: dict[int, str] = {}
        for name, tensor in state.items():
            hold(self, name, _anew(tensor))
        for node in graph.nodes():
            scope_at(self, path_of(node))
        for node in graph.findAllNodes("prim::Constant"):
            self._keep(node)
        self.training = training

    def forward(self, *tensors: torch.Tensor) -> Any:  # type: ignore[override]
        inputs = [*tensors, *(held(self, name) for name in self._state)]
        return run_flat(self._graph, inputs, Functions(torch.jit._state._python_cu), self._call, self._constant)

    def _keep(self, node: Any) -> None:
        value = constant_of_node(node)
        if isinstance(value, torch.Tensor) and value.dim() > 0:
            number = next(iter(node.outputs())).unique()
            self._constants[number] = f"constant_{number}"
            hold(self, self._constants[number], value.detach())

    def _constant(self, node: Any) -> Any:
        number = next(iter(node.outputs())).unique()
        if number in self._constants:
            return held(self, self._constants[number])
        value = constant_of_node(node)
        return self._device if isinstance(value, torch.device) else value

    def _call(self, node: Any) -> Call:
        call, path = from_lines(lines_of(node.sourceRange())), path_of(node)

        def made(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
            if node.kind() == "aten::slice" and _is_whole(*args):
                return args[0]
            return call_within(self, path, call, (function, args, kwargs), {})

        return made


def _is_whole(tensor: Any, dim: Any = 0, start: Any = None, end: Any = None, step: Any = 1) -> bool:
    """``x[:]`` in an index: eager mode calls no operator for it."""
    if not isinstance(tensor, torch.Tensor) or start not in (0, None) or step != 1:
        return False
    return end is None or int(end) >= tensor.shape[dim]


def path_of(node: Any) -> str:
    """The module that makes a node's call: scopes are nested, the innermost last."""
    return str(node.scopeName()).rpartition("/")[2]


def _anew(tensor: torch.Tensor) -> torch.Tensor:
    return nn.Parameter(tensor.detach(), tensor.requires_grad) if isinstance(tensor, nn.Parameter) else tensor.detach()
