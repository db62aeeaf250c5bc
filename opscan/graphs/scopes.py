"""A tree of modules under given names, in each of which calls can be made: hooks see them enter and leave.

Functions beside the class rather than methods of it: a model may give any name to what it holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


class Scope(nn.Module):
    """One module by its place. What is called in it is given."""

    def forward(self, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
        return function(*args, **kwargs)


def scope_at(root: nn.Module, path: str) -> nn.Module:
    """The module at a qualified name; made where there is none."""
    at = root
    for name in path.split(".") if path else ():
        inner = at._modules.get(name)
        if inner is None:
            inner = at._modules[name] = Scope()
        at = inner
    return at


def call_within(root: nn.Module, path: str, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Make a call in the module at a qualified name."""
    at = scope_at(root, path)
    if isinstance(at, Scope) and at is not root:
        return at(function, args, kwargs)
    return function(*args, **kwargs)


def hold(root: nn.Module, path: str, value: Any) -> None:
    """Keep a parameter, a buffer, a module or any other value at a qualified name."""
    owner_path, _, name = path.rpartition(".")
    owner = scope_at(root, owner_path)
    if isinstance(value, nn.Module):
        owner._modules[name] = value
    elif isinstance(value, nn.Parameter):
        owner._parameters[name] = value
    elif isinstance(value, torch.Tensor):
        owner._buffers[name] = value
    else:
        object.__setattr__(owner, name, value)


def held(root: nn.Module, path: str) -> Any:
    """What is at a qualified name."""
    owner_path, _, name = path.rpartition(".")
    owner = scope_at(root, owner_path)
    for values in (owner._modules, owner._parameters, owner._buffers):
        if name in values:
            return values[name]
    return getattr(owner, name)
