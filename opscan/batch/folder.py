"""The models in a folder and below it, told by what files hold, as the loaders tell them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from opscan.batch import python_models
from opscan.batch.entries import Entry, OptionValue, shared_options
from opscan.errors import UsageError
from opscan.loading import file_kinds
from opscan.rollup import SkippedFile

#: Suffixes of files that hold models or weights.
_FILES = (".onnx", ".pt2", ".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".torchscript", ".ts")

#: Those that promise a model: one that turns out to be none is an error of the batch, not a file to pass over.
_PROMISES = (".onnx", ".pt2")

_CONFIGURATION = "config.json"

#: Folders that hold no models of the user's.
_PASSED_OVER = ("__pycache__", "node_modules", "site-packages")


def find_models(
    folder: Path, output: Path, trust: bool, options: Mapping[str, OptionValue]
) -> tuple[list[Entry], list[SkippedFile]]:
    """Models by path, and the files that could be taken for one and are none that can be scanned.

    Hidden folders, virtual environments and ``output`` are passed over; links to folders are not followed. Raises
    UsageError where there is no model.
    """
    entries: list[Entry] = []
    skipped: list[SkippedFile] = []
    for path in _files(folder, output):
        name = path.relative_to(folder).as_posix()
        try:
            reference, reason = _judge(path, trust)
        except OSError as error:
            reference, reason = None, f"cannot be read: {error.strerror or error}"
        if reference is not None:
            entries.append(Entry(name, reference, Path.cwd(), shared_options(reference, options)))
        elif reason:
            skipped.append(SkippedFile(name, reason))
    if not entries:
        near = f" {skipped[0].path} {skipped[0].reason}." if skipped else ""
        raise UsageError(
            f"There is no model in {folder}.{near}",
            "A model is a Python file with a function build_model(), or one nn.Module; an .onnx, TorchScript or "
            "exported .pt2 file; or a folder with config.json.",
        )
    return entries, skipped


def _files(folder: Path, output: Path) -> Iterator[Path]:
    output = output.resolve()

    def stop(error: OSError) -> None:
        if error.filename == str(folder):
            raise UsageError(f"Cannot read {folder}: {error.strerror}.", "Check the path and its permissions.")

    for at, folders, names in os.walk(folder, onerror=stop):
        here = Path(at)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in _PASSED_OVER
            and not (here / name / "pyvenv.cfg").exists()
            and (here / name).resolve() != output
        )
        for name in sorted(names):
            path = here / name
            is_candidate = path.suffix.lower() in (".py", *_FILES) or name == _CONFIGURATION
            if is_candidate and not name.startswith(".") and path.is_file():
                yield path


def _judge(path: Path, trust: bool) -> tuple[str | None, str]:
    """The reference of a model, or why there is none; both empty where the file is nothing of the kind."""
    if path.suffix == ".py":
        reason = python_models.says_of(path)
        return (str(path), "") if reason is None else (None, reason)
    kind = file_kinds.look_at(path)
    if path.name == _CONFIGURATION:
        return (f"hf:{path}", "") if isinstance(kind, file_kinds.Configuration) else (None, "")
    if isinstance(kind, file_kinds.TorchScript | file_kinds.ExportedProgram | file_kinds.Onnx):
        return str(path), ""
    if isinstance(kind, file_kinds.Pickled) and kind.is_module and trust:
        return str(path), ""
    if path.suffix.lower() in _PROMISES:
        return str(path), ""
    return None, kind.says
