"""What modules keep on themselves while they run: caches of positions, masks, biases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

#: ``nn.Module``'s own, which whoever swaps parameters puts back.
_OF_TORCH = frozenset({"_parameters", "_buffers", "_modules"})

_CONTAINERS = (dict, list, set)


@contextmanager
def left_as_it_was(model: Any) -> Iterator[None]:
    """Attributes of every module of the model, and what its dictionaries and lists hold, are put back afterwards: a
    second run in here would find what the first one kept, and not make it again.
    """
    modules = list(model.modules()) if isinstance(model, nn.Module) else []
    before = [(module, _own(module), _contents(module)) for module in modules]
    try:
        yield
    finally:
        for module, attributes, contents in before:
            for name in set(_own(module)) - set(attributes):
                del module.__dict__[name]
            module.__dict__.update(attributes)
            for name, held in contents.items():
                _refill(module.__dict__[name], held)


def _own(module: nn.Module) -> dict[str, Any]:
    return {name: value for name, value in module.__dict__.items() if name not in _OF_TORCH}


def _contents(module: nn.Module) -> dict[str, Any]:
    return {name: value.copy() for name, value in _own(module).items() if type(value) in _CONTAINERS}


def _refill(container: Any, held: Any) -> None:
    container.clear()
    if isinstance(container, list):
        container.extend(held)
    else:
        container.update(held)
