"""A reference made ready in the process that will load it, perhaps more than once."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from opscan.loading.inputs import Input
from opscan.loading.interface import LoadedModel
from opscan.loading.offline import keep_offline
from opscan.loading.reference import (
    ConfigurationReference,
    ExportedProgramReference,
    ImportedReference,
    LibraryReference,
    PickledModuleReference,
    PythonFileReference,
    Reference,
    TorchScriptReference,
)
from opscan.loading.signature import parameters_of
from opscan.loading.torchvision_operators import ensure_importable
from opscan.text import Text

#: Kinds of reference by the module that loads them: see :class:`opscan.loading.interface.Loader`.
_LOADERS = {
    PythonFileReference: "python_file",
    ImportedReference: "imported",
    LibraryReference: "",
    ConfigurationReference: "configuration",
    TorchScriptReference: "torchscript",
    ExportedProgramReference: "exported_program",
    PickledModuleReference: "pickled_module",
}

Built = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class Preparation:
    """``root`` is the folder whose files are the user's own. ``notes``: what the last ``build`` chose by itself;
    ``parameters``: those of what it built, by name. ``inputs`` may be changed between builds.
    """

    def __init__(self, reference: Reference, inputs: tuple[Input, ...], train: bool) -> None:
        keep_offline()
        ensure_importable()
        # The user's code may change the working directory.
        self.root = Path(reference.path).resolve().parent if hasattr(reference, "path") else Path.cwd()
        self._reference = _absolute(reference)
        self.inputs = inputs
        self.notes: tuple[Text, ...] = ()
        self.parameters: tuple[str, ...] = ()
        self._train = train
        self._own = frozenset(sys.modules)
        self._folder = Path.cwd()

    def build(self) -> Built:
        """Import and build anew. Raises LoadError, and what the user's own code raises."""
        if isinstance(self._reference, (PythonFileReference, ImportedReference)):
            from opscan.loading.python_file import forget_imports

            forget_imports(self.root, self._own)
            os.chdir(self._folder)
        sys.argv = [getattr(self._reference, "path", str(self._reference))]
        loaded = load(self._reference, self.inputs, self._train)
        self.notes = loaded.notes
        forward = getattr(loaded.callable, "forward", loaded.callable)
        self.parameters = tuple(parameters_of(forward) or ())
        return loaded.callable, loaded.args, loaded.kwargs


def load(reference: Reference, inputs: tuple[Input, ...], train: bool) -> LoadedModel:
    """By the loader of the reference's kind: one file each."""
    return _loader(reference)(reference, inputs, train)


def _loader(reference: Reference) -> Callable[[Any, tuple[Input, ...], bool], LoadedModel]:
    """Only the one that is needed is imported."""
    module = _LOADERS[type(reference)]
    if isinstance(reference, LibraryReference):
        module = f"{reference.library}_model"
    loader: Callable[[Any, tuple[Input, ...], bool], LoadedModel]
    loader = importlib.import_module(f"opscan.loading.{module}").load
    return loader


def _absolute(reference: Reference) -> Reference:
    if isinstance(reference, (ImportedReference, LibraryReference)):
        return reference
    return msgspec.structs.replace(reference, path=str(Path(reference.path).resolve()))
