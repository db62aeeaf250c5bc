"""Tensors in what a model takes and returns: containers, dataclasses, mappings, objects that move themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map


def tensors_in(tree: Any) -> Iterator[torch.Tensor]:
    """All tensors, in order. Containers that torch's pytrees do not know are looked into as well."""
    return leaves_of(tree, (torch.Tensor,))


def leaves_of(tree: Any, kinds: tuple[type, ...]) -> Iterator[Any]:
    """The same for whatever is of these kinds."""
    for leaf in tree_leaves(tree):
        if isinstance(leaf, kinds):
            yield leaf
        elif dataclasses.is_dataclass(leaf) and not isinstance(leaf, type):
            for field in dataclasses.fields(leaf):
                yield from leaves_of(getattr(leaf, field.name, None), kinds)
        elif isinstance(leaf, Mapping):
            yield from leaves_of(list(leaf.values()), kinds)


def move(tree: Any, tensor: Callable[[torch.Tensor], torch.Tensor], device: torch.device) -> Any:
    """The same tree with ``tensor`` applied to every tensor; objects with a ``to`` of their own are asked to move."""

    def one(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return tensor(leaf)
        if callable(getattr(leaf, "to", None)) and not isinstance(leaf, (nn.Module, type)):
            return leaf.to(device)
        if dataclasses.is_dataclass(leaf) and not isinstance(leaf, type):
            return _moved_dataclass(leaf, tensor, device)
        return leaf

    return tree_map(one, tree)


def _moved_dataclass(leaf: Any, tensor: Callable[[torch.Tensor], torch.Tensor], device: torch.device) -> Any:
    fields = {f.name: getattr(leaf, f.name) for f in dataclasses.fields(leaf) if f.init}
    return dataclasses.replace(leaf, **{name: move(value, tensor, device) for name, value in fields.items()})
