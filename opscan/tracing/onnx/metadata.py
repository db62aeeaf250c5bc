"""Where an ONNX node comes from, by what torch's exporters leave on it.

The exporter of ``dynamo=True`` writes metadata with names of its own (``pkg.torch.onnx.…``), that of ``dynamo=False``
a text of source ranges (where it is told to) and the module's path as the node's name.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import onnx

from opscan.inventory import Location

_PREFIX = "pkg.torch.onnx."

#: Longer texts are not those of an exporter.
_LONGEST = 1 << 16

_FRAME = re.compile(r'File "([^"\n]+)", line (\d+), in ')
_RANGE = re.compile(r"^(?:#\s*)?(/[^\n:(]+\.py|[^\s:(]+\.py)[(:](\d+)", re.MULTILINE)
_TARGET = re.compile(r"target=torch\.ops\.(\w+)\.(\w+)(?:\.(\w+))?")

#: Files of libraries between the user's code and the operator.
_LIBRARIES = ("/site-packages/", "/dist-packages/", "/torch/nn/", "/torch/_", "/torch/functional.py", "<")


def origin_of(node: onnx.NodeProto) -> str:
    """The operator of torch that the node stands for (``aten::conv2d``), empty where nothing tells."""
    target = _TARGET.search(_metadata(node).get("fx_node", ""))
    if target is None:
        return ""
    library, name, overload = target.groups()
    return f"{library}::{name}" if overload in (None, "default") else f"{library}::{name}.{overload}"


def location_of(node: onnx.NodeProto, file: str, root: Path | None) -> Location:
    """The user's line and module; of a node that carries none, the file itself and the node's name, at no line."""
    metadata = _metadata(node)
    frames = [(path, line) for path, line in _FRAME.findall(metadata.get("stack_trace", ""))][::-1]
    frame = _user_frame(frames, root) or _user_frame(_RANGE.findall(node.doc_string[:_LONGEST]), root)
    module = _module(metadata)
    if frame is None:
        return Location(file, 0, module or node.name or next(iter(node.output), ""))
    path, line = frame
    return Location(_relative(path, root), line, module or _module_in_name(node.name))


def _metadata(node: onnx.NodeProto) -> dict[str, str]:
    return {
        entry.key.removeprefix(_PREFIX): entry.value
        for entry in node.metadata_props
        if entry.key.startswith(_PREFIX) and len(entry.value) <= _LONGEST
    }


def _user_frame(frames: list[tuple[str, str]], root: Path | None) -> tuple[str, int] | None:
    """The innermost line that is not a library's. ``frames`` begin with the innermost; with a ``root``, the user's
    code lies below it."""
    for path, line in frames:
        below = root is None or Path(path).is_relative_to(root)
        if below and not any(part in path for part in _LIBRARIES) and len(line) < 10:
            return path, int(line)
    return None


def _module(metadata: dict[str, str]) -> str:
    """Of ``['', 'layer1', 'layer1.conv', 'conv2d']`` the last but one: the last is the operator."""
    try:
        scopes = ast.literal_eval(metadata.get("name_scopes", "[]"))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ""
    return str(scopes[-2]) if isinstance(scopes, list) and len(scopes) > 1 else ""


def _module_in_name(name: str) -> str:
    """``/layer1/conv/Conv`` → ``layer1.conv``."""
    return ".".join(name.strip("/").split("/")[:-1]) if name.startswith("/") else ""


def _relative(path: str, root: Path | None) -> str:
    found = Path(path)
    return str(found.relative_to(root)) if root is not None and found.is_relative_to(root) else path
