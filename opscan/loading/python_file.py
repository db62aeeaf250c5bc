"""A user's Python file to a callable with sample inputs. Runs in the tracing process; imports and executes that
file only.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from opscan.errors import LoadError
from opscan.loading import inputs
from opscan.loading.inputs import InputSpec
from opscan.loading.reference import PythonFileReference


@dataclass(slots=True)
class LoadedModel:
    """A callable with the arguments for one call of it. ``root`` is the folder whose files are the user's own."""

    callable: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    root: Path
    notes: list[str] = field(default_factory=list)


def load(reference: PythonFileReference, specs: tuple[InputSpec, ...], train: bool) -> LoadedModel:
    """Import the file, find and build its model, and make its inputs.

    The model is, in this order: what ``:Name`` names; ``build_model()``; ``model``; the single ``nn.Module`` subclass
    that takes no arguments. Inputs given on the command line override those of ``example_inputs()``.
    Raises LoadError where the file does not say; errors of the user's own code pass through unchanged.
    """
    path = Path(reference.path).resolve()
    module = import_file(path)
    model = _build(module, reference, path)
    if hasattr(model, "train"):
        model.train(train)
    args, kwargs = _inputs(module, model, specs, path)
    return LoadedModel(model, tuple(args), kwargs, path.parent)


def import_file(path: Path) -> ModuleType:
    """Import a file as its own module, its folder first on the path, as ``python model.py`` would have it."""
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"_opscan_{abs(hash(path))}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise LoadError(f"{path.name} cannot be imported as a module.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _build(module: ModuleType, reference: PythonFileReference, path: Path) -> Callable[..., Any]:
    if reference.name is not None:
        return _named(module, reference.name, path)
    if callable(getattr(module, "build_model", None)):
        return _checked(module.build_model(), "build_model()", path)
    if hasattr(module, "model") and callable(module.model) and not inspect.isclass(module.model):
        return _checked(module.model, "model", path)
    return _single_class(module, path)


def _named(module: ModuleType, name: str, path: Path) -> Callable[..., Any]:
    if not hasattr(module, name):
        raise LoadError(f"{path.name} has no {name!r}.", f"It defines: {', '.join(_own_names(module)) or 'nothing'}")
    found = getattr(module, name)
    if inspect.isclass(found):
        return _instantiate(found, path)
    import torch

    if inspect.isfunction(found) and not _required(found):
        result = found()
        return _checked(result if isinstance(result, torch.nn.Module) or callable(result) else found, f"{name}()", path)
    return _checked(found, name, path)


def _single_class(module: ModuleType, path: Path) -> Callable[..., Any]:
    import torch

    classes = [
        c
        for c in vars(module).values()
        if inspect.isclass(c) and issubclass(c, torch.nn.Module) and c.__module__ == module.__name__
    ]
    ready = [c for c in classes if not _required(c.__init__, skip_self=True)]
    # A class that another candidate is built from is a part of it, but only the user can say so.
    if len(ready) == 1:
        return _instantiate(ready[0], path)
    if len(ready) > 1:
        names = ", ".join(c.__name__ for c in ready)
        raise LoadError(
            f"{path.name} defines {len(ready)} candidate models: {names}.",
            f"Pick one: {path.name}:{ready[-1].__name__} — or add a function build_model() to the file.",
        )
    if classes:
        needs = "; ".join(f"{c.__name__}({', '.join(_required(c.__init__, skip_self=True))})" for c in classes[:5])
        raise LoadError(
            f"Every nn.Module in {path.name} needs constructor arguments: {needs}.",
            "Add a function build_model() to the file that returns the model, built as you use it.",
        )
    raise LoadError(
        f"No model in {path.name}: neither build_model(), nor model, nor an nn.Module subclass.",
        "Add a function build_model() to the file that returns the nn.Module to scan.",
    )


def _instantiate(cls: type, path: Path) -> Callable[..., Any]:
    required = _required(cls)
    if required:
        raise LoadError(
            f"{path.name}:{cls.__name__} needs constructor arguments: {', '.join(required)}.",
            f"Add a function build_model() to the file that returns {cls.__name__}(…) as you use it.",
        )
    return _checked(cls(), cls.__name__, path)


def _checked(found: Any, what: str, path: Path) -> Callable[..., Any]:
    if not callable(found):
        raise LoadError(
            f"{what} in {path.name} is {type(found).__name__}, not a model: it cannot be called.",
            "Return the nn.Module (or a function of tensors).",
        )
    return found  # type: ignore[no-any-return]


def _required(function: Any, skip_self: bool = False) -> list[str]:
    """Names of the parameters without which a call fails; nothing where the signature cannot be read."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    wanted = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    )
    return [
        p.name for p in parameters[1 if skip_self else 0 :] if p.default is inspect.Parameter.empty and p.kind in wanted
    ]


def _own_names(module: ModuleType) -> list[str]:
    return [
        n
        for n, v in vars(module).items()
        if not n.startswith("_") and callable(v) and getattr(v, "__module__", None) == module.__name__
    ]


def _forward_of(model: Callable[..., Any]) -> Callable[..., Any]:
    return model.forward if hasattr(model, "forward") else model


def _inputs(
    module: ModuleType, model: Callable[..., Any], specs: tuple[InputSpec, ...], path: Path
) -> tuple[list[Any], dict[str, Any]]:
    args, kwargs = _example_inputs(module, path)
    positional, keyword = inputs.build(specs)
    if positional:
        args = list(positional)
    kwargs.update(keyword)
    _check_names(model, keyword, path)
    if not args and not kwargs:
        missing = _required(_forward_of(model))
        if missing:
            shape = "--input-shape 1,3,224,224"
            options = shape if len(missing) == 1 else " ".join(f"--input {n}=1x128:int64" for n in missing)
            raise LoadError(
                f"The model in {path.name} takes inputs ({', '.join(missing)}), and none are given.",
                f"Give their shapes: {options} — or add a function example_inputs() to the file.",
            )
    return args, kwargs


def _check_names(model: Callable[..., Any], keyword: dict[str, Any], path: Path) -> None:
    try:
        parameters = inspect.signature(_forward_of(model)).parameters
    except (TypeError, ValueError):
        return
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        return
    for name in keyword:
        if name not in parameters:
            raise LoadError(
                f"--input {name}=…: the model in {path.name} has no input of that name.",
                f"Its inputs are: {', '.join(parameters) or 'none'}",
            )


def _example_inputs(module: ModuleType, path: Path) -> tuple[list[Any], dict[str, Any]]:
    """``example_inputs()`` may return one tensor, a tuple or list (positional), a dict (keywords), or (tuple, dict)."""
    import torch

    function = getattr(module, "example_inputs", None)
    if function is None:
        return [], {}
    if not callable(function):
        raise LoadError(
            f"example_inputs in {path.name} is not a function.", "Make it a function that returns the inputs."
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
        f"example_inputs() in {path.name} returned {type(given).__name__}.",
        "Return a tensor, a tuple of positional inputs, a dict of keyword inputs, or (tuple, dict).",
    )
