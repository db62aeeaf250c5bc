"""Operators of torch.export that call a graph: what eager mode does for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

#: Calls a graph with arguments.
Run = Callable[..., Any]


def _set_grad_enabled(run: Run, enabled: bool, graph: Any, *args: Any) -> Any:
    with torch.set_grad_enabled(enabled):
        return run(graph, *args)


def _autocast(
    run: Run, device: str, dtype: Any, enabled: bool, cache_enabled: bool | None, graph: Any, *args: Any
) -> Any:
    with torch.autocast(device, dtype=dtype, enabled=enabled, cache_enabled=cache_enabled):
        return run(graph, *args)


def _cond(run: Run, predicate: Any, then: Any, otherwise: Any, operands: Any = ()) -> Any:
    return run(then if predicate else otherwise, *operands)


def _while_loop(run: Run, condition: Any, body: Any, carried: Any, more: Any = ()) -> Any:
    carried = tuple(carried)
    while run(condition, *carried, *more):
        carried = tuple(run(body, *carried, *more))
    return carried


def _checkpoint(run: Run, graph: Any, *args: Any, **options: Any) -> Any:
    return run(graph, *args)


#: By name of the operator.
INLINE: dict[str, Callable[..., Any]] = {
    "wrap_with_set_grad_enabled": _set_grad_enabled,
    "wrap_with_autocast": _autocast,
    "cond": _cond,
    "while_loop": _while_loop,
    "tag_activation_checkpoint": _checkpoint,
}
