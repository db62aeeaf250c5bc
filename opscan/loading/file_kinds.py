"""What a file holds, by its content: nothing is unpickled or executed, and no torch is imported.

Formats: torch.save writes a zip with ``data.pkl``, or before torch 1.6 a sequence of pickles; torch.jit.save a zip with
``constants.pkl`` and ``code/``; torch.export.save a zip with ``archive_format`` or, before torch 2.7,
``serialized_exported_program.json``. safetensors: the length of a JSON header in eight bytes, then the header.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from opscan.loading import pickles, signatures
from opscan.loading.pickles import Contents

_BUILD = "Scan the code that builds the model: a Python file with a function build_model() that returns the nn.Module."

#: A description larger than this is not looked into.
_MOST_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class TorchScript:
    """An archive of ``torch.jit.save``."""

    says: str = "is a TorchScript archive"
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ExportedProgram:
    """An archive of ``torch.export.save``."""

    says: str = "is an exported program"
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Onnx:
    """An ONNX model."""

    says: str = "is an ONNX model"
    hint: str = _BUILD


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration of transformers or diffusers."""

    says: str = "is a configuration"
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Pickled:
    """What ``torch.save`` wrote: a module, or tensors."""

    contents: Contents

    @property
    def is_module(self) -> bool:
        return self.contents.is_module

    @property
    def says(self) -> str:
        contents = self.contents
        if contents.is_module:
            where = "in a checkpoint, " if contents.root is None else ""
            return f"holds a whole pickled module: {where}{_listed(contents.modules)}"
        foreign = f", and names {_listed(contents.foreign)}" if contents.foreign else ""
        return f"holds weights and no model: {_counted(contents.dtypes)}{foreign}"

    @property
    def hint(self) -> str:
        if not self.contents.is_module:
            return f"Weights do not say which operators a model calls. {_BUILD} It need not load them."
        named = f"{_listed(self.contents.foreign)}, for instance, " if self.contents.foreign else ""
        return (
            f"To open it, Python runs what the file names: {named}may do anything. Where you trust its author, and its "
            f"classes can be imported here, add --trust. Else: {_BUILD[0].lower()}{_BUILD[1:]}"
        )


@dataclass(frozen=True, slots=True)
class Other:
    """Nothing that can be scanned: what it is (``path`` + ``says``), and what to do."""

    says: str
    hint: str = _BUILD


Kind = TorchScript | ExportedProgram | Onnx | Configuration | Pickled | Other


def look_at(path: Path) -> Kind:
    """What the file holds. Raises OSError where it cannot be read."""
    with path.open("rb") as file:
        head = file.read(4096)
    size = path.stat().st_size
    if not head:
        return Other(f"is empty ({_suffixed(path)})", "Copy or download it again.")
    if head.startswith(b"PK"):
        return _of_archive(path)
    looks: tuple[Callable[[Path, bytes, int], Kind | None], ...] = (_of_known, _of_safetensors, _of_pickle, _of_json)
    for look in looks:
        kind = look(path, head, size)
        if kind is not None:
            return kind
    if signatures.is_onnx(head) or path.suffix == ".onnx":
        return Onnx()
    return Other(f"is no model that opscan knows: {_suffixed(path)}, it begins with {signatures.shown(head)}")


def _of_known(path: Path, head: bytes, size: int) -> Kind | None:
    known = signatures.known(head)
    if known is None and path.suffix == ".ipynb":
        known = "is a notebook", ""
    return Other(known[0], known[1] or _BUILD) if known else None


def _of_archive(path: Path) -> Kind:
    try:
        with zipfile.ZipFile(path) as archive:
            return _of_members(archive, {_below_top(n): n for n in archive.namelist()})
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error) as error:
        return Other(f"is a damaged or truncated archive: {error}".rstrip("."), "Copy or download it again.")


def _of_members(archive: zipfile.ZipFile, members: dict[str, str]) -> Kind:
    if "archive_format" in members or "serialized_exported_program.json" in members:
        is_program = any(n.startswith("models/") or n.endswith("exported_program.json") for n in members)
        if is_program:
            return ExportedProgram()
        return Other("is a package of compiled code (AOTInductor): it holds no program of ATen operators")
    if "constants.pkl" in members or any(n.startswith("code/") for n in members):
        return TorchScript()
    if "data.pkl" in members:
        with archive.open(members["data.pkl"]) as file:
            return _pickled(pickles.contents_of(file.read(_MOST_BYTES)))
    if any(n.endswith(".npy") for n in members):
        return Other("is an archive of NumPy arrays")
    return Other(f"is a zip archive without a model ({', '.join(sorted(members)[:4]) or 'empty'})")


def _below_top(name: str) -> str:
    """torch puts everything below one folder, named after the file."""
    top, slash, rest = name.partition("/")
    return rest if slash and top not in ("code", "models", "data") else name


def _of_safetensors(path: Path, head: bytes, size: int) -> Kind | None:
    length = int.from_bytes(head[:8], "little")
    if len(head) < 10 or head[8:9] != b"{" or not 2 <= length < _MOST_BYTES:
        return None
    if length + 8 > size:
        return Other("is a truncated file of weights (safetensors)", "Copy or download it again.")
    with path.open("rb") as file:
        file.seek(8)
        try:
            header = json.loads(file.read(length))
        except (ValueError, RecursionError):
            return Other("is a damaged file of weights (safetensors)", "Copy or download it again.")
    tensors = [v for k, v in header.items() if k != "__metadata__" and isinstance(v, dict)]
    dtypes: dict[str, int] = {}
    for tensor in tensors:
        name = str(tensor.get("dtype", "?"))
        dtypes[name] = dtypes.get(name, 0) + 1
    config = path.with_name("config.json")
    beside = f" There is a configuration beside it: scan hf:{config}" if config.is_file() else ""
    return Other(
        f"holds weights and no model (safetensors): {_counted(dtypes)}",
        f"Weights do not say which operators a model calls.{beside or ' ' + _BUILD}",
    )


def _of_pickle(path: Path, head: bytes, size: int) -> Kind | None:
    if head[:1] != b"\x80" or head[1] not in range(1, 6):
        return None
    with path.open("rb") as file:
        return _pickled(pickles.contents_of(file.read(_MOST_BYTES), legacy=head.startswith(pickles.MAGIC)))


def _pickled(contents: Contents | None) -> Kind:
    if contents is None:
        return Other("is a damaged or truncated pickle", "Copy or download it again.")
    if not contents.is_module and not contents.dtypes:
        named = f"; it names {_listed(contents.foreign)}" if contents.foreign else ""
        return Other(f"is a pickle without tensors{named}")
    return Pickled(contents)


def _of_json(path: Path, head: bytes, size: int) -> Kind | None:
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") or size > _MOST_BYTES:
        return None
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return Other("is text that begins like JSON, and is none")
    if any(key in found for key in ("model_type", "architectures", "_class_name")):
        return Configuration()
    return Other(
        "is JSON, but no configuration of transformers or diffusers",
        "Such a configuration names a model_type, architectures or _class_name: scan hf:FOLDER/config.json",
    )


def _counted(dtypes: dict[str, int]) -> str:
    total = sum(dtypes.values())
    each = ", ".join(f"{count} {name}" for name, count in sorted(dtypes.items(), key=lambda i: -i[1]))
    return f"{total} tensors ({each})" if dtypes else "no tensors"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _suffixed(path: Path) -> str:
    expected = signatures.SUFFIXES.get(path.suffix.lower())
    return f"a {path.suffix} file is {expected}" if expected else "not a Python file"
