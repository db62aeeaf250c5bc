"""Arguments for one call of a model: those of ``example_inputs()``, overridden by what the command line gives."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from opscan.errors import LoadError
from opscan.loading import inputs
from opscan.loading.inputs import Input
from opscan.loading.signature import parameters_of, required

_Parameters = Mapping[str, inspect.Parameter]


def arguments_for(
    module: ModuleType, model: Callable[..., Any], specs: tuple[Input, ...], where: str
) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments. Raises LoadError where they do not fit the model's signature."""
    args, kwargs = _example_inputs(module, where)
    forward = model.forward if hasattr(model, "forward") else model
    parameters = parameters_of(forward)
    positional, keyword = inputs.build(specs)
    _check_names(parameters, keyword, where)
    _override(args, kwargs, positional, keyword, list(parameters or ()))
    if parameters is not None and not getattr(model, "_forward_pre_hooks", None):  # a hook may fill in what is missing
        _check_fit(forward, args, kwargs, where)
    return args, kwargs


def _override(
    args: list[Any], kwargs: dict[str, Any], positional: list[Any], keyword: dict[str, Any], names: list[str]
) -> None:
    """Positional inputs replace those at their place, named ones those of their name, however the file gave them."""
    args[: len(positional)] = positional
    for name in names[: len(args)]:
        kwargs.pop(name, None)
    for name, value in keyword.items():
        if name in names[: len(args)]:
            args[names.index(name)] = value
        else:
            kwargs[name] = value


def _check_names(parameters: _Parameters | None, keyword: dict[str, Any], where: str) -> None:
    if parameters is None or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        return
    for name in keyword:
        if name not in parameters:
            raise LoadError(
                f"--input {name}=…: the model in {where} has no input of that name.",
                f"Its inputs are: {', '.join(parameters) or 'none'}",
            )


def _check_fit(forward: Callable[..., Any], args: list[Any], kwargs: dict[str, Any], where: str) -> None:
    missing = required(forward)
    if missing and not args and not kwargs:
        options = " ".join(f"--input {n}=1x128:int64" for n in missing)
        raise LoadError(
            f"The model in {where} takes inputs ({', '.join(missing)}), and none are given.",
            f"Give their shapes: {'--input-shape 1,3,224,224' if len(missing) == 1 else options}"
            " — or add a function example_inputs() to the file.",
        )
    try:
        inspect.signature(forward).bind(*args, **kwargs)
    except TypeError as error:
        raise LoadError(
            f"The inputs do not fit the model in {where}: {error}.",
            f"It takes: {', '.join(parameters_of(forward) or ()) or 'nothing'}. "
            "Give one --input-shape for each input in order, or --input NAME=SHAPE.",
        ) from error


def _example_inputs(module: ModuleType, where: str) -> tuple[list[Any], dict[str, Any]]:
    """``example_inputs()`` may return one tensor, a tuple or list (positional), a dict (keywords), or (tuple, dict)."""
    import torch

    function = getattr(module, "example_inputs", None)
    if function is None:
        return [], {}
    if not callable(function) or required(function):
        raise LoadError(
            f"example_inputs in {where} cannot be called without arguments.",
            "Make it a function that takes none and returns the inputs.",
        )
    given = function()
    if isinstance(given, torch.Tensor):
        return [given], {}
    if isinstance(given, dict):
        return [], dict(given)
    if isinstance(given, (tuple, list)):
        if len(given) == 2 and isinstance(given[0], (tuple, list)) and isinstance(given[1], dict):
            return list(given[0]), dict(given[1])
        return list(given), {}
    raise LoadError(
        f"example_inputs() in {where} returned {type(given).__name__}.",
        "Return a tensor, a tuple of positional inputs, a dict of keyword inputs, or (tuple, dict).",
    )
