"""What the user names on the command line, as one of a few kinds. No torch here: the parent process reads it too.

Files are told apart by what they hold, not by their names alone: see :mod:`opscan.loading.file_kinds`.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Literal

import msgspec

from opscan.errors import LoadError
from opscan.loading import file_kinds
from opscan.loading.factory_arguments import Argument


class PythonFileReference(msgspec.Struct, frozen=True, tag="python-file"):
    """A Python file and, optionally, the name in it that yields the model."""

    path: str
    name: str | None = None
    arguments: tuple[Argument, ...] = ()

    def __str__(self) -> str:
        return f"{self.path}:{self.name}" if self.name else self.path


class ImportedReference(msgspec.Struct, frozen=True, tag="imported"):
    """A module that Python can import, and the attribute of it that yields the model."""

    module: str
    attribute: str
    arguments: tuple[Argument, ...] = ()

    def __str__(self) -> str:
        return f"{self.module}:{self.attribute}"


Library = Literal["torchvision", "timm"]


class LibraryReference(msgspec.Struct, frozen=True, tag="library"):
    """A model that a library makes by name."""

    library: Library
    name: str
    arguments: tuple[Argument, ...] = ()

    def __str__(self) -> str:
        return f"{self.library}:{self.name}"


class ConfigurationReference(msgspec.Struct, frozen=True, tag="configuration"):
    """A configuration file of transformers or diffusers. ``trust``: Python code beside it may run."""

    path: str
    trust: bool = False
    arguments: tuple[Argument, ...] = ()

    def __str__(self) -> str:
        return f"hf:{self.path}"


class TorchScriptReference(msgspec.Struct, frozen=True, tag="torchscript"):
    """An archive of ``torch.jit.save``."""

    path: str

    def __str__(self) -> str:
        return self.path


class ExportedProgramReference(msgspec.Struct, frozen=True, tag="exported-program"):
    """An archive of ``torch.export.save``."""

    path: str

    def __str__(self) -> str:
        return self.path


class PickledModuleReference(msgspec.Struct, frozen=True, tag="pickled-module"):
    """A module that ``torch.save`` pickled whole, and that the user trusts."""

    path: str

    def __str__(self) -> str:
        return self.path


Reference = (
    PythonFileReference
    | ImportedReference
    | LibraryReference
    | ConfigurationReference
    | TorchScriptReference
    | ExportedProgramReference
    | PickledModuleReference
)

#: References that lead to a file.
FileReference = (
    PythonFileReference
    | ConfigurationReference
    | TorchScriptReference
    | ExportedProgramReference
    | PickledModuleReference
)

_LIBRARIES: tuple[Library, ...] = ("torchvision", "timm")

_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*", re.ASCII)


def parse_reference(text: str, arguments: tuple[Argument, ...] = (), trust: bool = False) -> Reference:
    """Read a model reference, and look at the file that it names.

    Raises LoadError saying what to do: a missing file with its nearest neighbour, a directory, a file that holds no
    model, or one that only unpickling could open where ``trust`` is not given.
    """
    head, _, tail = text.partition(":")
    if head in _LIBRARIES and tail:
        return LibraryReference(head, _name(tail, text), arguments)
    if head == "hf" and tail:
        return _configuration(tail, trust, arguments)
    try:
        path, name = _split(text)
        exists, is_folder = path.exists(), path.is_dir()
    except (OSError, ValueError) as error:
        raise _unreadable(text, error) from error
    if not exists and (imported := _imported(text, arguments)):
        return imported
    if is_folder:
        raise LoadError(f"{path} is a directory, not a model file.", _in_folder(path))
    if not exists:
        raise LoadError(f"No such file: {path}", _nearest(path))
    if path.suffix == ".py":
        return PythonFileReference(str(path), name, arguments)
    return _of_file(path, arguments, trust)


def _of_file(path: Path, arguments: tuple[Argument, ...], trust: bool) -> Reference:
    try:
        kind = file_kinds.look_at(path)
    except OSError as error:
        raise _unreadable(str(path), error) from error
    if isinstance(kind, file_kinds.TorchScript):
        return _without_arguments(TorchScriptReference(str(path)), arguments)
    if isinstance(kind, file_kinds.ExportedProgram):
        return _without_arguments(ExportedProgramReference(str(path)), arguments)
    if isinstance(kind, file_kinds.Configuration):
        return _configuration(str(path), trust, arguments)
    if isinstance(kind, file_kinds.Pickled) and kind.is_module and trust:
        return _without_arguments(PickledModuleReference(str(path)), arguments)
    raise LoadError(f"{path} {kind.says}.", kind.hint)


def _without_arguments(reference: Reference, arguments: tuple[Argument, ...]) -> Reference:
    if arguments:
        raise LoadError(
            f"--arg {arguments[0].name}=…: {reference} holds a model that is built already.",
            "Leave --arg away; it is for classes and functions that build a model.",
        )
    return reference


def _configuration(text: str, trust: bool, arguments: tuple[Argument, ...]) -> ConfigurationReference:
    """A configuration file, or a folder with ``config.json`` or ``model_index.json``."""
    path = Path(text).expanduser()
    try:
        if path.is_dir():
            found = next((path / n for n in ("config.json", "model_index.json") if (path / n).is_file()), None)
            if found is None:
                inner = sorted(p.parent.name for p in path.glob("*/config.json"))
                hint = f"Its folders with one: {', '.join(inner[:8])}." if inner else "Name a folder that holds one."
                raise LoadError(f"There is no config.json in {path}.", hint)
            path = found
        if not path.is_file():
            raise LoadError(
                f"No such configuration: {path}",
                "hf: takes a folder or a config.json on this machine; nothing is downloaded. Get the file with "
                "hf download NAME config.json --local-dir FOLDER, then scan hf:FOLDER.",
            )
    except (OSError, ValueError) as error:
        raise _unreadable(text, error) from error
    return ConfigurationReference(str(path), trust, arguments)


def _name(name: str, text: str) -> str:
    if not re.fullmatch(r"[\w.\-/]+", name, re.ASCII):
        raise LoadError(f"{text!r} names no model.", "Write it as torchvision:resnet50 or timm:vit_tiny_patch16_224.")
    return name


def _imported(text: str, arguments: tuple[Argument, ...]) -> ImportedReference | None:
    module, colon, attribute = text.partition(":")
    if not colon or module.endswith(".py") or Path(module).exists():
        return None
    if _MODULE.fullmatch(module) and _MODULE.fullmatch(attribute):
        return ImportedReference(module, attribute, arguments)
    return None


def _split(text: str) -> tuple[Path, str | None]:
    """A colon separates a name only behind a ``.py`` that is not itself the whole file name."""
    if Path(text).exists():
        return Path(text), None
    head, colon, tail = text.rpartition(":")
    if colon and tail.isidentifier() and head:
        return Path(head), tail
    return Path(text), None


def _unreadable(text: str, error: OSError | ValueError) -> LoadError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return LoadError(f"Cannot look at {text!r}: {reason}.", "Check the path of the model file.")


def _in_folder(path: Path) -> str:
    if (path / "config.json").is_file() or (path / "model_index.json").is_file():
        return f"It holds a configuration: scan hf:{path}"
    return f"Name the file that builds the model: {path / 'model.py'} — or scan all models in it: opscan batch {path}"


def _nearest(path: Path) -> str:
    folder = path.parent if path.parent != Path("") else Path(".")
    if not folder.is_dir():
        return f"The folder {folder} does not exist either. Check the path, relative to {Path.cwd().name or '/'}."
    here = sorted(p.name for p in folder.glob(f"*{path.suffix or '.py'}"))
    close = difflib.get_close_matches(path.name, here, n=1, cutoff=0.5)
    if close:
        return f"Did you mean {folder / close[0]}?"
    if path.suffix not in ("", ".py"):
        return f"Check the path, relative to {Path.cwd().name or '/'}."
    return f"Python files in {folder}: {', '.join(here[:8])}" if here else f"There is no Python file in {folder}."
