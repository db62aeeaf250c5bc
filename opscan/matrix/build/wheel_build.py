"""``opscan matrix build --wheel X``: the tables of one more torch_npu release.

In a checkout the wheel's raw table is added to the sources and the matrix is built again from them. Elsewhere the
tables go to the user's own folder: without a dump of the dispatcher and without op-plugin's sources, they are the
packaged tables of the nearest release, changed by what the wheel lists.
"""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace
from packaging.version import InvalidVersion, Version

from opscan.errors import OpscanError
from opscan.matrix.build import releases, torch_npu, torchair
from opscan.matrix.build.torch_npu import NPU, changed_keys, function_of, implementations, nearest_before
from opscan.matrix.build.wheel import RawWheel, read_wheel, save_raw
from opscan.matrix.build.wheel_fetch import PYTHONS, Progress, published_for
from opscan.matrix.build.writing import render, write
from opscan.matrix.data import support_matrix_dir
from opscan.matrix.files import (
    SCHEMA,
    OpEntry,
    RegistrationsFile,
    ReleasesFile,
    Source,
    TorchNpuRelease,
    load,
)


def build_wheel(spec: str, destination: Path, progress: Progress = lambda _: None) -> list[Path]:
    """Add a release (``2.6.0.post5``) or a wheel (a path that ends in ``.whl``) to the matrix below ``destination``.

    Returns the files written. Raises OpscanError as :func:`opscan.matrix.build.wheel.read_wheel` does, and where the
    wheel's version is none.
    """
    wheel = read_wheel(spec, progress)
    try:
        Version(wheel.release)
    except InvalidVersion as error:
        raise OpscanError(f"{wheel.file}: its METADATA names no version: {wheel.release!r}") from error
    if not spec.endswith(".whl"):
        progress(f"torch_npu {wheel.release}: asking for which Python versions there are wheels")
        published = tuple(python for python in PYTHONS if wheel.release in published_for(python))
        wheel = replace(wheel, python=tuple(sorted(published, key=Version)))
    if (destination / "sources").is_dir():
        return [save_raw(destination, wheel), *_rebuild(destination)]
    return _add_to(destination, wheel, progress)


def _rebuild(root: Path) -> list[Path]:
    """Build what depends on wheels from the sources; the files that changed."""
    files = torch_npu.build(root) | torchair.build(root) | releases.build(root)
    changed = [name for name, new in files.items() if not (root / name).is_file() or (root / name).read_bytes() != new]
    for name in changed:
        write(root / name, files[name])
    return [root / name for name in sorted(changed)]


def _add_to(destination: Path, wheel: RawWheel, progress: Progress) -> list[Path]:
    packaged = support_matrix_dir()
    base = _base(packaged, wheel.release)
    progress(f"torch_npu {wheel.release}: registrations of {base.release}, changed by the wheel's list of functions")
    registrations = from_base(wheel, base)
    converters = torchair.converters(wheel, registrations.ops.keys())
    converters = replace(converters, sources=(_source(wheel),))
    overlay = _overlay(destination, wheel, load(packaged / "releases.json", ReleasesFile), base.release)
    files = {
        destination / "torch_npu" / f"{wheel.release}.json": render(registrations, ("ops",)),
        destination / "torchair" / f"{wheel.release}.json": render(converters, ("ops",)),
        destination / "releases.json": render(overlay, ("cann", "torch_npu")),
    }
    for path, content in files.items():
        write(path, content)
    return list(files)


def _base(packaged: Path, release: str) -> RegistrationsFile:
    """The packaged registrations of this very release, else of the nearest one before it."""
    tables = tuple(path.stem for path in (packaged / "torch_npu").glob("*.json"))
    if not tables:
        raise OpscanError(f"{packaged / 'torch_npu'}: there is no table to start from", "Install opscan again.")
    chosen = release if release in tables else nearest_before(release, tables)
    return load(packaged / "torch_npu" / f"{chosen}.json", RegistrationsFile)


def from_base(wheel: RawWheel, base: RegistrationsFile) -> RegistrationsFile:
    """The registrations of a wheel, by its list of functions and another release's table.

    Kernels that are reachable, and computing on the CPU inside, are taken over from that table.
    """
    functions = wheel.operators()
    ops = {}
    for name, keys in changed_keys(base.ops, functions).items():
        before = base.ops.get(name, OpEntry())
        ops[name] = OpEntry(
            keys, implementations(function_of(name, functions)), before.aclnn, before.hidden_cpu and NPU in keys
        )
    sources = (Source(f"torch_npu/{base.release}.json", "changed by the wheel's list of functions"), _source(wheel))
    return RegistrationsFile(SCHEMA, wheel.release, wheel.metadata.torch, base.op_plugin, sources, ops, "yaml")


def _source(wheel: RawWheel) -> Source:
    return Source(wheel.file, f"sha256 {wheel.sha256}" if wheel.sha256 else "")


def _overlay(destination: Path, wheel: RawWheel, packaged: ReleasesFile, base: str) -> ReleasesFile:
    """The user's own releases: this one, and those that are there already, of CANN too."""
    path = destination / "releases.json"
    own = load(path, ReleasesFile) if path.is_file() else ReleasesFile(SCHEMA, (), (), (), {}, {})
    before = {release: entry for release, entry in own.torch_npu.items() if _has_tables(destination, release)}
    named = {row.cann for row in wheel.metadata.rows if row.torch_npu == wheel.release} | {wheel.metadata.cann}
    known = packaged.torch_npu.get(wheel.release)
    cann = known.cann if known else tuple(release for release in packaged.cann_order if release in named)
    entry = TorchNpuRelease(
        wheel.metadata.torch,
        True,
        cann,
        known.compatible if known else (),
        wheel.python or (known.python if known else ()),
        known.driver if known else (),
        "" if cann else _documented(packaged, base),
    )
    torch_npu = {**before, wheel.release: entry}
    order = tuple(sorted(torch_npu, key=Version))
    sources = tuple(dict.fromkeys((*own.sources, _source(wheel))))
    return ReleasesFile(SCHEMA, sources, order, own.cann_order, torch_npu, own.cann)


def _documented(packaged: ReleasesFile, base: str) -> str:
    """The documented release that stands in for ``base``, or it itself."""
    entry = packaged.torch_npu.get(base)
    return entry.like or base if entry else ""


def _has_tables(destination: Path, release: str) -> bool:
    return (destination / "torch_npu" / f"{release}.json").is_file()
