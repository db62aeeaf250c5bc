"""A user's Python file to a callable with sample inputs. Runs in the tracing process; imports and executes that
file only.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from opscan.errors import LoadError
from opscan.loading.arguments import arguments_for
from opscan.loading.factory_arguments import Argument, as_options, call, fits, refuse
from opscan.loading.inputs import Input
from opscan.loading.interface import LoadedModel
from opscan.loading.reference import PythonFileReference
from opscan.loading.signature import required


def load(reference: PythonFileReference, inputs: tuple[Input, ...], train: bool) -> LoadedModel:
    """Import the file, find and build its model, and make its inputs.

    The model is, in this order: what ``:Name`` names; ``build_model()``; ``model``; the single ``nn.Module`` subclass
    that takes the given constructor arguments (none, mostly). Inputs given on the command line override those of
    ``example_inputs()``. Raises LoadError where the file does not say; errors of the user's own code pass through.
    """
    path = Path(reference.path).resolve()
    module = import_file(path)
    model = _build(module, reference, path)
    return with_inputs(model, module, path.name, inputs, train)


def with_inputs(
    model: Callable[..., Any], module: ModuleType, where: str, inputs: tuple[Input, ...], train: bool
) -> LoadedModel:
    """A model of ``module`` in the asked mode, with the inputs of the module's ``example_inputs()`` and the given."""
    import torch

    if isinstance(model, torch.nn.Module):
        model.train(train)
    args, kwargs = arguments_for(module, model, inputs, where)
    return LoadedModel(model, tuple(args), kwargs)


def import_file(path: Path) -> ModuleType:
    """Import a file as its own module, its folder first on the path, as ``python model.py`` would have it."""
    folder = str(path.parent)
    sys.path[:] = [folder, *(entry for entry in sys.path if entry != folder)]
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"_opscan_{abs(hash(path))}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise LoadError(f"{path.name} cannot be imported as a module.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, SyntaxError):  # one in the encoding names no file
            error.filename = error.filename or str(path)
        raise
    return module


def forget_imports(folder: Path, own: frozenset[str]) -> None:
    """Take the user's modules below ``folder`` out of the process, so that they are imported anew with the file.

    ``own`` are the modules that were there before the first import of the file; they stay, and so does what is
    installed below the folder (a virtual environment, opscan itself).
    """
    package = Path(__file__).parent.parent
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name in own or file is None:
            continue
        path = Path(file)
        if path.is_relative_to(folder) and "site-packages" not in path.parts and not path.is_relative_to(package):
            del sys.modules[name]


def _build(module: ModuleType, reference: PythonFileReference, path: Path) -> Callable[..., Any]:
    arguments = reference.arguments
    if reference.name is not None:
        if not hasattr(module, reference.name):
            names = ", ".join(_own_names(module)) or "nothing"
            raise LoadError(f"{path.name} has no {reference.name!r}.", f"It defines: {names}")
        return built(getattr(module, reference.name), arguments, reference.name, path.name)
    if callable(getattr(module, "build_model", None)):
        return checked(call(module.build_model, arguments, f"build_model() in {path.name}"), "build_model()", path.name)
    if hasattr(module, "model") and callable(module.model) and not inspect.isclass(module.model):
        refuse(arguments, f"model in {path.name}")
        return checked(module.model, "model", path.name)
    return _single_class(module, arguments, path)


def built(found: Any, arguments: tuple[Argument, ...], name: str, where: str) -> Callable[..., Any]:
    """What a name in ``where`` leads to: an instance of a class, the result of a factory, or the thing itself.

    A function that can be called with the arguments is a factory where it returns something to call; else it is the
    model.
    """
    import torch

    if inspect.isclass(found):
        return checked(call(found, arguments, f"{where}:{name}"), name, where)
    if inspect.isroutine(found) and (arguments or not required(found)):
        result = call(found, arguments, f"{where}:{name}")
        is_model = isinstance(result, torch.nn.Module) or callable(result)
        return checked(result if is_model or arguments else found, f"{name}()", where)
    refuse(arguments, f"{where}:{name}")
    return checked(found, name, where)


def _single_class(module: ModuleType, arguments: tuple[Argument, ...], path: Path) -> Callable[..., Any]:
    import torch

    modules = [c for c in vars(module).values() if inspect.isclass(c) and issubclass(c, torch.nn.Module)]
    classes = list(dict.fromkeys(c for c in modules if c.__module__ == module.__name__))
    ready = [c for c in classes if fits(c, arguments)]
    # A class that another candidate is built from is a part of it, but only the user can say so.
    if len(ready) == 1 or (arguments and len(classes) == 1):
        cls = (ready or classes)[0]
        return checked(call(cls, arguments, f"{path.name}:{cls.__name__}"), cls.__name__, path.name)
    if len(ready) > 1:
        names = ", ".join(c.__name__ for c in ready)
        raise LoadError(
            f"{path.name} defines {len(ready)} candidate models: {names}.",
            f"Pick one: {path.name}:{ready[-1].__name__} — or add a function build_model() to the file.",
        )
    if classes:
        needs = "; ".join(f"{c.__name__}({', '.join(required(c))})" for c in classes[:5])
        raise LoadError(
            f"Every nn.Module in {path.name} needs constructor arguments: {needs}.",
            f"Pick one and give them: {path.name}:{classes[-1].__name__} {as_options(classes[-1])} — or add a function "
            "build_model() to the file that returns the model, built as you use it.",
        )
    raise LoadError(
        f"No model in {path.name}: neither build_model(), nor model, nor an nn.Module subclass.",
        _imported(modules, path) + "Add a function build_model() to the file that returns the nn.Module to scan.",
    )


def _imported(modules: list[type], path: Path) -> str:
    """A hint at the models that the file imports, other than torch's own."""
    names = [c.__name__ for c in modules if not c.__module__.startswith("torch.")]
    return f"It imports {', '.join(names)}: name one as {path.name}:{names[-1]}. " if names else ""


def checked(found: Any, what: str, where: str) -> Callable[..., Any]:
    """``found``, where it can be called. Raises LoadError where it cannot."""
    if not callable(found):
        raise LoadError(
            f"{what} in {where} is {type(found).__name__}, not a model: it cannot be called.",
            "Return the nn.Module (or a function of tensors).",
        )
    return found  # type: ignore[no-any-return]


def _own_names(module: ModuleType) -> list[str]:
    return [
        n
        for n, v in vars(module).items()
        if not n.startswith("_") and callable(v) and getattr(v, "__module__", None) == module.__name__
    ]
