"""What a callable of the user's must be given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def parameters_of(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter] | None:
    """Parameters by name, without ``self``; None where the signature cannot be read."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None


def required(function: Callable[..., Any]) -> list[str]:
    """Names of the parameters without which a call fails; nothing where the signature cannot be read."""
    parameters = parameters_of(function) or {}
    return [p.name for p in parameters.values() if p.default is inspect.Parameter.empty and p.kind not in _VARIADIC]
