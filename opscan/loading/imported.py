"""``package.module:attribute`` to a callable with inputs: the module is imported as ``python -m`` would find it."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from typing import Any

from opscan.errors import LoadError
from opscan.loading.inputs import Input
from opscan.loading.interface import LoadedModel
from opscan.loading.python_file import built, with_inputs
from opscan.loading.reference import ImportedReference


def load(reference: ImportedReference, inputs: tuple[Input, ...], train: bool) -> LoadedModel:
    """Import the module, and build what the attribute names. ``example_inputs()`` of the module is used as a file's is.

    Raises LoadError where there is no such module or attribute.
    """
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    module = _module(reference)
    found: Any = module
    for part in reference.attribute.split("."):
        if not hasattr(found, part):
            raise LoadError(f"{reference.module} has no {reference.attribute!r}.", _near(found, part))
        found = getattr(found, part)
    model = built(found, reference.arguments, reference.attribute, reference.module)
    return with_inputs(model, module, reference.module, inputs, train)


def _module(reference: ImportedReference) -> Any:
    try:
        return importlib.import_module(reference.module)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if reference.module != missing and not reference.module.startswith(f"{missing}."):
            raise  # one that the module itself imports
        raise LoadError(
            f"There is no module {missing!r} for {reference}.",
            "Start opscan in the folder that holds the package, or install it beside opscan.",
        ) from error


def _near(owner: Any, name: str) -> str:
    close = difflib.get_close_matches(name, [n for n in dir(owner) if not n.startswith("_")], n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(close)}?" if close else "Check the name."
