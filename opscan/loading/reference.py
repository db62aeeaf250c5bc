"""What the user names on the command line: ``model.py`` or ``model.py:Name``. No torch here: the parent process
checks it too.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from opscan.errors import LoadError

#: Files of other kinds that people try: named so that the message can say what they are.
_OTHER_KINDS = {
    ".pt": "a PyTorch checkpoint or TorchScript archive",
    ".pth": "a PyTorch checkpoint",
    ".pt2": "an exported program",
    ".onnx": "an ONNX model",
    ".safetensors": "a file of weights",
    ".ckpt": "a checkpoint",
    ".ipynb": "a notebook",
}


@dataclass(frozen=True, slots=True)
class PythonFileReference:
    """A Python file and, optionally, the name in it that yields the model."""

    path: str
    name: str | None = None

    def __str__(self) -> str:
        return f"{self.path}:{self.name}" if self.name else self.path


def parse_reference(text: str) -> PythonFileReference:
    """Read a model reference and check that its file exists and is Python.

    Raises LoadError saying what to do: a missing file with its nearest neighbour, a file of another kind, a directory.
    """
    try:
        path, name = _split(text)
        exists, is_folder = path.exists(), path.is_dir()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise LoadError(f"Cannot look at {text!r}: {reason}.", "Check the path of the model file.") from error
    if is_folder:
        raise LoadError(
            f"{path} is a directory, not a model file.", f"Name the file that builds the model: {path / 'model.py'}"
        )
    if not exists:
        raise LoadError(f"No such file: {path}", _nearest(path))
    if path.suffix != ".py":
        kind = _OTHER_KINDS.get(path.suffix, "not a Python file")
        raise LoadError(
            f"{path} is {kind}; opscan reads Python files that build the model.",
            "Write a file with a function build_model() that returns the nn.Module, and scan that.",
        )
    return PythonFileReference(str(path), name)


def _split(text: str) -> tuple[Path, str | None]:
    """A colon separates a name only behind a ``.py`` that is not itself the whole file name."""
    if Path(text).exists():
        return Path(text), None
    head, colon, tail = text.rpartition(":")
    if colon and tail.isidentifier() and head:
        return Path(head), tail
    return Path(text), None


def _nearest(path: Path) -> str:
    folder = path.parent if path.parent != Path("") else Path(".")
    if not folder.is_dir():
        return f"The folder {folder} does not exist either. Check the path, relative to {Path.cwd().name or '/'}."
    here = sorted(p.name for p in folder.glob("*.py"))
    close = difflib.get_close_matches(path.name, here, n=1, cutoff=0.5)
    if close:
        return f"Did you mean {folder / close[0]}?"
    return f"Python files in {folder}: {', '.join(here[:8])}" if here else f"There is no Python file in {folder}."
