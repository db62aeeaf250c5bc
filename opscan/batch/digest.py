"""What the result of a scan depends on, as one digest: the model's files, the options, opscan, its matrix, the target.

Weights count by size and time alone, and installed packages by their versions: reading gigabytes to find that nothing
has changed would take longer than the scan.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from opscan.batch.entries import Entry

#: A file up to this size counts by its bytes.
_READ_WHOLE = 32 << 20

#: Packages whose release decides which operators a model calls.
_PACKAGES = ("torch", "torchvision", "timm", "transformers", "diffusers", "onnx", "torch_npu")

#: Local modules followed from one model; a project with more is told apart by these.
_MOST_MODULES = 500


def digest(entry: Entry, common: Iterable[str]) -> str:
    """``sha256:`` and 64 digits. ``common``: see :func:`common_parts`."""
    sha = hashlib.sha256()
    for part in common:
        _add(sha, part.encode("utf-8", "surrogateescape"))
    for word in entry.arguments():
        _add(sha, word.encode("utf-8", "surrogateescape"))
    for path in sorted(_files(entry)):
        _add(sha, str(path).encode("utf-8", "surrogateescape"))
        _add(sha, _content(path))
    return f"sha256:{sha.hexdigest()}"


def common_parts(version: str, target: str, roots: Iterable[Path]) -> list[str]:
    """What all scans of a batch depend on. ``roots``: folders of the support matrix, a user's own first."""
    parts = [version, target]
    for root in roots:
        for path in sorted(root.rglob("*.json")):
            stat = path.stat()
            parts.append(f"{path.relative_to(root)} {stat.st_size} {stat.st_mtime_ns}")
    for name in _PACKAGES:
        try:
            parts.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return parts


def _add(sha: hashlib._Hash, data: bytes) -> None:
    """Length first: ``ab`` and ``c`` must not count as ``a`` and ``bc``."""
    sha.update(len(data).to_bytes(8, "little"))
    sha.update(data)


def _content(path: Path) -> bytes:
    try:
        stat = path.stat()
        if stat.st_size <= _READ_WHOLE:
            return hashlib.sha256(path.read_bytes()).digest()
        return f"{stat.st_size} {stat.st_mtime_ns}".encode()
    except OSError:
        return b"unreadable"


def _files(entry: Entry) -> set[Path]:
    """The files of a reference, Python modules beside them included that they import, however far."""
    reference = entry.reference.removeprefix("hf:")
    path = entry.folder / reference
    head, _, tail = reference.rpartition(":")
    if not path.exists() and head:
        path = entry.folder / head
        if not path.exists() and tail.isidentifier():  # package.module:name
            return _with_imports(_modules(entry.folder, head), entry.folder)
    if path.is_dir():
        return {each for each in path.glob("*") if each.suffix in (".json", ".py")}
    if not path.is_file():
        return set()
    return _with_imports([path], path.parent) if path.suffix == ".py" else {path}


def _with_imports(paths: Iterable[Path], folder: Path) -> set[Path]:
    found: set[Path] = set()
    pending = list(paths)
    while pending and len(found) < _MOST_MODULES:
        path = pending.pop()
        if path not in found and path.is_file():
            found.add(path)
            pending += _imported(path, folder)
    return found


def _imported(path: Path, folder: Path) -> Iterator[Path]:
    """Files of modules that a Python file imports from its own folder or from ``folder``."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError, OSError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _modules(folder, alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = path.parents[node.level - 1] if 0 < node.level <= len(path.parents) else folder
            module = node.module or ""
            yield from _modules(base, module)
            for alias in node.names:
                yield from _modules(base, f"{module}.{alias.name}".strip("."))


def _modules(folder: Path, name: str) -> Iterator[Path]:
    """The files that importing a dotted name reads below a folder."""
    at = folder
    for part in filter(None, name.split(".")):
        at = at / part
        for path in (at.with_suffix(".py"), at / "__init__.py"):
            if path.is_file():
                yield path
