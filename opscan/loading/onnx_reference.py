"""``model.onnx`` as a model reference. Neither onnx nor torch here: the parent process checks it too."""

from __future__ import annotations

from pathlib import Path

import msgspec

from opscan.errors import LoadError

#: Files that people find in place of a model, by how they begin.
_IMPOSTORS = (
    (b"version https://git-lfs.github.com", "a pointer of Git LFS", "Fetch the file itself: git lfs pull"),
    (b"<!DOCTYPE", "a web page", "Download the file itself, not the page that shows it."),
    (b"<html", "a web page", "Download the file itself, not the page that shows it."),
    (b"PK\x03\x04", "a zip archive", "Extract the .onnx file that is in it, with the files of weights beside it."),
)


class OnnxFileReference(msgspec.Struct, frozen=True, tag="onnx-file"):
    """An ONNX file; its weights may lie in other files beside it."""

    path: str

    def __str__(self) -> str:
        return self.path


def recognise(text: str) -> OnnxFileReference | None:
    """The reference, if ``text`` names an ONNX file; None where it names something else, or nothing that exists.

    Raises LoadError for what is named like one and is none.
    """
    path = Path(text)
    try:
        if path.suffix.lower() != ".onnx" or not path.exists() or path.is_dir():
            return None
        if not path.is_file():
            raise LoadError(f"{path} is no regular file.", "Name the file of an ONNX model.")
        with path.open("rb") as file:
            head = file.read(64)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise LoadError(f"Cannot look at {text!r}: {reason}.", "Check the path of the model file.") from error
    if not head:
        raise LoadError(f"{path} is empty.", "Export or copy the model again.")
    for begin, what, hint in _IMPOSTORS:
        if head.startswith(begin):
            raise LoadError(f"{path} is {what}, not an ONNX model.", hint)
    return OnnxFileReference(text)
