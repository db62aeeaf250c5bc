"""The first bytes by which files of other kinds are known, and what their suffixes promise."""

from __future__ import annotations

import codecs

#: What people expect of a suffix, for messages.
SUFFIXES = {
    ".pt": "a PyTorch checkpoint, a TorchScript archive or an exported program",
    ".pth": "a PyTorch checkpoint",
    ".bin": "a PyTorch checkpoint",
    ".ckpt": "a checkpoint",
    ".pt2": "an exported program",
    ".onnx": "an ONNX model",
    ".safetensors": "a file of weights",
    ".ipynb": "a notebook",
}

_AGAIN = "Copy or download it again."
_EXPORT = "Scan the PyTorch model that it was made from, or an .onnx export of it."

#: (offset, bytes, what it is, what to do)
_KNOWN = (
    (0, b"version https://git-lfs", "is a pointer of Git LFS, and not the file itself", "Fetch it: git lfs pull"),
    (0, b"<!DOCTYPE", "is a web page, and no model", _AGAIN),
    (0, b"<!doctype", "is a web page, and no model", _AGAIN),
    (0, b"<html", "is a web page, and no model", _AGAIN),
    (0, b"\x89HDF", "is an HDF5 file: a model or weights of Keras", _EXPORT),
    (0, b"GGUF", "is a GGUF file of llama.cpp", "Scan the model's configuration: hf:FOLDER/config.json"),
    (4, b"TFL3", "is a TensorFlow Lite model", _EXPORT),
    (0, b"\x93NUMPY", "is a NumPy array", ""),
    (0, b"IMOD", "is a model that ATC has compiled for one chip (.om)", _EXPORT),
    (0, b"\x1f\x8b", "is a gzip archive", "Unpack it, then name the file inside."),
    (257, b"ustar", "is a tar archive", "Unpack it, then name the file inside."),
    (0, b"7z\xbc\xaf", "is a 7z archive", "Unpack it, then name the file inside."),
    (0, b"\x7fELF", "is a compiled program or library", ""),
)


def known(head: bytes) -> tuple[str, str] | None:
    """What a file of another kind is, and what to do; the latter may be empty."""
    for offset, magic, says, hint in _KNOWN:
        if head[offset : offset + len(magic)] == magic:
            return says, hint
    return None


def is_onnx(head: bytes) -> bool:
    """A serialised ModelProto: field 1 is the IR version, a small number, and another known field follows (the
    producer's name, the graph, opset imports, or the domain).
    """
    return len(head) > 3 and head[0] == 0x08 and 1 <= head[1] <= 32 and head[2] in (0x12, 0x1A, 0x22, 0x3A, 0x42)


def shown(head: bytes) -> str:
    """The first bytes, as text where they are text, in any script: its last character may be cut off."""
    first = head[:16]
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(first)
    except UnicodeDecodeError:
        return first.hex(" ")
    return repr(text) if all(c.isprintable() or c in "\t\n\r" for c in text) else first.hex(" ")
