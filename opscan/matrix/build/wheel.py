"""torch_npu wheels as raw tables: ``sources/wheels/<release>.json.gz``, and what a user's own wheel adds to the matrix.

From a wheel come its list of functions (which operators, with which implementations), torchair's converters (the graph
route), and which releases its METADATA says belong together. Nothing of the wheel is run.
"""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import msgspec

from opscan.errors import MatrixError, OpscanError
from opscan.matrix.build.wheel_converters import RawTorchair, read_torchair
from opscan.matrix.build.wheel_fetch import OpenWheel, Progress, open_wheel
from opscan.matrix.build.wheel_members import Function, Metadata, operators, read_functions, read_metadata
from opscan.matrix.build.writing import write

_FUNCTIONS = "torch_npu/csrc/aten/npu_native_functions_by_codegen.yaml"
_DYNAMO, _TORCHAIR = "torch_npu/dynamo/", "torch_npu/dynamo/torchair/"


class RawWheel(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one wheel says. ``python``: versions for which the index has this release on Linux x86-64, where known."""

    file: str
    sha256: str
    metadata: Metadata
    functions: dict[str, dict[str, Function]]
    torchair: RawTorchair
    python: tuple[str, ...] = ()

    @property
    def release(self) -> str:
        return self.metadata.version

    def operators(self) -> dict[str, Function]:
        """Functions by qualified overload."""
        return operators(self.functions)


def read_wheel(spec: str, progress: Progress = lambda _: None) -> RawWheel:
    """What the wheel of a release (``2.6.0.post5``) or at a path (``….whl``) says.

    Raises OpscanError (UsageError for a mistaken ``spec``) for no network, no such release or file, a wheel of another
    project, a truncated one, and one without a list of functions.
    """
    with open_wheel(spec, progress) as wheel:
        try:
            return _read(wheel)
        except (OSError, zipfile.BadZipFile, EOFError, UnicodeDecodeError) as error:
            raise OpscanError(f"{wheel.name}: damaged ({error})", "Fetch it again.") from error
        except SyntaxError as error:
            raise OpscanError(f"{wheel.name}: {error.filename or ''} is no Python source ({error})") from error


def _read(wheel: OpenWheel) -> RawWheel:
    names = wheel.archive.namelist()
    metadata = next((name for name in names if name.endswith(".dist-info/METADATA")), None)
    if metadata is None:
        raise OpscanError(f"{wheel.name}: it has no METADATA, so it is no wheel", "Give a torch_npu wheel.")
    sources = [name for name in names if name.startswith(_TORCHAIR) and name.endswith(".py")]
    wanted = [metadata, *(name for name in names if name == _FUNCTIONS), *sources]
    # In the order of the file, so that a remote one is read in few requests.
    wanted.sort(key=lambda name: wheel.archive.getinfo(name).header_offset)
    texts = {name: wheel.archive.read(name).decode() for name in wanted}
    read = read_metadata(texts[metadata], wheel.name)
    if _FUNCTIONS not in texts:
        raise OpscanError(
            f"{wheel.name}: it has no {_FUNCTIONS}, which lists what torch_npu implements",
            "Releases older than 2.1.0 lack it; newer ones that do have another layout than this opscan knows.",
        )
    return RawWheel(
        wheel.name,
        wheel.sha256,
        read,
        read_functions(texts[_FUNCTIONS], f"{wheel.name}: {_FUNCTIONS}"),
        read_torchair({name.removeprefix(_DYNAMO): texts[name] for name in sources}),
    )


def raw_path(root: Path, release: str) -> Path:
    return root / "sources" / "wheels" / f"{release}.json.gz"


def raw_releases(root: Path) -> tuple[str, ...]:
    """The releases whose raw table there is."""
    return tuple(path.name.removesuffix(".json.gz") for path in sorted(raw_path(root, "x").parent.glob("*.json.gz")))


def save_raw(root: Path, raw: RawWheel) -> Path:
    """Write the raw table: sorted, one entry a line, the same bytes each time."""
    path = raw_path(root, raw.release)
    plain = msgspec.json.format(msgspec.json.encode(raw, order="sorted"), indent=0)
    write(path, gzip.compress(plain, mtime=0))
    return path


def load_raw(root: Path, release: str) -> RawWheel:
    """Raises MatrixError where the table is missing or damaged."""
    path = raw_path(root, release)
    try:
        return msgspec.json.decode(gzip.decompress(path.read_bytes()), type=RawWheel)
    except (OSError, EOFError, msgspec.DecodeError, ValueError) as error:
        raise MatrixError(f"{path}: {error}", f"Fetch it again: `opscan matrix build --wheel {release}`.") from error
