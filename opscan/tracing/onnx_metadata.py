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
    frame = _user_frame(metadata.get("stack_trace", ""), _FRAME) or _user_frame(node.doc_string[:_LONGEST], _RANGE)
    module = _module(metadata) or _module_in_name(node.name)
    if frame is None:
        return Location(file, 0, node.name or next(iter(node.output), ""))
    path, line = frame
    return Location(_relative(path, root), line, module)


def _metadata(node: onnx.NodeProto) -> dict[str, str]:
    return {
        entry.key.removeprefix(_PREFIX): entry.value
        for entry in node.metadata_props
        if entry.key.startswith(_PREFIX) and len(entry.value) <= _LONGEST
    }


def _user_frame(text: str, pattern: re.Pattern[str]) -> tuple[str, int] | None:
    """The innermost line that is not a library's; both exporters' texts have it nearest to their operator's end."""
    frames = [(path, int(line)) for path, line in pattern.findall(text) if len(line) < 10]
    own = [frame for frame in frames if not any(part in frame[0] for part in _LIBRARIES)]
    if not own:
        return None
    return own[-1] if pattern is _FRAME else own[0]


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
