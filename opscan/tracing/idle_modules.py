"""Which modules of a model a run leaves idle: no operator takes any of their parameters.

Their operators are not in the inventory: a vision tower without an image, experts that no token goes to, heads for
training. Parameters count, and not calls of modules: a parent may use a child's parameters without calling it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

#: Modules that are told by name; further ones are counted.
_SHOWN = 6


class ParameterUse:
    """Follows one run: ``taken`` is told of every operator's tensors, views of a parameter among them."""

    def __init__(self, model: object) -> None:
        self._model = model if isinstance(model, nn.Module) else nn.Module()
        self._idle = {memory for p in self._model.parameters() if not is_lazy(p) and (memory := _memory(p)) is not None}

    def taken(self, tensors: Iterable[Any]) -> None:
        if self._idle:
            for tensor in tensors:
                if isinstance(tensor, torch.Tensor):
                    self._idle.discard(_memory(tensor))

    def finding(self) -> dict[str, str] | None:
        """Facts for OPS671; None where no module is idle."""
        idle = list(_idle(self._model, "", self._idle, set()))
        if not idle:
            return None
        total = sum(p.numel() for p in self._model.parameters() if not is_lazy(p))
        return {
            "modules": _listed(idle),
            "parameters": f"{sum(size for _, size in idle):,}",
            "total": f"{total:,}",
        }


def _memory(tensor: torch.Tensor) -> int | None:
    """Shared by a tensor and its views; None for tensors without memory of their own."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):
        return None


def _idle(module: nn.Module, name: str, idle: set[int], visited: set[int]) -> Iterator[tuple[str, int]]:
    """The outermost idle modules below ``module``, with how many parameters each has."""
    for own, child in module.named_children():
        if id(child) in visited:
            continue
        visited.add(id(child))
        full = f"{name}.{own}" if name else own
        parameters = [p for p in child.parameters() if not is_lazy(p)]
        if parameters and all(_memory(p) in idle for p in parameters):
            yield full, sum(p.numel() for p in parameters)
        else:
            yield from _idle(child, full, idle, visited)


def _listed(idle: list[tuple[str, int]]) -> str:
    """The largest first; modules that differ by numbers in their names stand for each other: ``layers.*.gate (12)``."""
    groups: dict[str, list[tuple[str, int]]] = {}
    for name, size in idle:
        groups.setdefault(re.sub(r"(?<![^.])\d+(?![^.])", "*", name), []).append((name, size))
    largest = sorted(groups.items(), key=lambda group: -sum(size for _, size in group[1]))
    shown = [found[0][0] if len(found) == 1 else f"{name} ({len(found)})" for name, found in largest]
    more = f", … ({len(shown) - _SHOWN})" if len(shown) > _SHOWN else ""
    return ", ".join(shown[:_SHOWN]) + more
