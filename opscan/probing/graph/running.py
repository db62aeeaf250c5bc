"""Runs a graph that was converted and not compiled, so that the model goes on behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

#: Runs a graph by torch's own operators.
Compute = Callable[[torch.fx.GraphModule, tuple[Any, ...]], Any]


class Runner:
    """What AOT autograd is given in the place of a compiled graph; counts its runs in ``graph.runs``.

    ``compute`` runs the graph where what follows hangs on its values. None, and where the adapter refuses an operator
    in eager mode: the results have the right shapes and are zero.
    """

    def __init__(self, graph: Any, compute: Callable[[Any], Compute | None], apart: Callable[[], Any]) -> None:
        """``apart``: a context for what is not the model's own doing outside of graphs."""
        self._graph = graph
        self._compute = compute
        self._apart = apart

    #: AOT autograd then hands over its list of inputs, which the graph may release.
    _boxed_call = True

    def __call__(self, given: list[Any]) -> Any:
        inputs = tuple(given)
        given.clear()
        self._graph.runs += 1
        compute = self._compute(self._graph)
        if compute is not None:
            try:
                return compute(self._graph.module, inputs)
            except Exception:
                self._graph.zeros = True
        with self._apart():
            return _empty_results(self._graph.module, inputs)


def _empty_results(module: torch.fx.GraphModule, inputs: tuple[Any, ...]) -> list[Any]:
    """Tensors as the graph's meta results are; inputs that are returned, themselves."""
    nodes = list(module.graph.nodes)
    given = dict(zip((n for n in nodes if n.op == "placeholder"), inputs, strict=False))
    output = next(n for n in nodes if n.op == "output")
    return [_made(node, given) for node in output.args[0]]


def _made(node: Any, given: dict[Any, Any]) -> Any:
    if not isinstance(node, torch.fx.Node):
        return node
    if node in given:
        return given[node]
    meta = node.meta.get("val")
    if not isinstance(meta, torch.Tensor):
        return meta
    sizes, strides = [int(s) for s in meta.size()], [int(s) for s in meta.stride()]
    return torch.empty_strided(sizes, strides, dtype=meta.dtype, device=meta.device).zero_()
