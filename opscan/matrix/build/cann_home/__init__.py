"""Tables of a user's own CANN toolkit, for the folder that takes precedence over the packaged tables.

What an installed toolkit states of the AI Core is exhaustive and exact for its SoCs. The dtypes of aclnn APIs are in no
file of a toolkit: those stay the documented ones of its release, else of the nearest release of the matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from opscan.errors import UsageError
from opscan.matrix.build.cann_home.ai_cpu import read_ai_cpu
from opscan.matrix.build.cann_home.engine import Absences, Kernels, ge_ops, read_spared, slow_of
from opscan.matrix.build.cann_home.headers import InstalledApis, read_apis
from opscan.matrix.build.cann_home.kernels import read_binaries
from opscan.matrix.build.cann_home.onnx_plugins import onnx_file, read_plugins
from opscan.matrix.build.cann_home.op_info import read_op_info
from opscan.matrix.build.cann_home.packaged import corrected_apis, packaged_cann, packaged_onnx
from opscan.matrix.build.cann_home.prototypes import read_prototypes
from opscan.matrix.build.cann_home.releases import with_cann_release
from opscan.matrix.build.cann_home.toolkit import AI_CORE, Toolkit, find_toolkit, soc_folders, socs_of
from opscan.matrix.build.writing import render, write
from opscan.matrix.data import support_matrix_dir
from opscan.matrix.files import SCHEMA, CannFile, SocsFile, Source, load

__all__ = ["build_cann_home"]


def build_cann_home(
    directory: Path,
    destination: Path,
    progress: Callable[[str], None],
    release: str | None = None,
    packaged: Path | None = None,
) -> list[Path]:
    """Write ``cann/<release>/<soc>.json`` and ``onnx/<release>.json`` of an installed toolkit below ``destination``,
    and its release into ``releases.json`` there.

    ``release``: the toolkit's, where no file of it tells. ``packaged``: the folder of the packaged tables. Returns the
    files, sorted; what is left out is told to ``progress``. Raises UsageError for a folder that is no toolkit, and
    MatrixError for a damaged file, before anything is written.
    """
    root = packaged or support_matrix_dir()
    toolkit = find_toolkit(directory, release)
    progress(f"CANN {toolkit.release}" + (f" ({toolkit.arch})" if toolkit.arch else ""))
    files = _cann_files(toolkit, root, progress)
    registered = read_plugins(toolkit)
    if registered:
        onnx = onnx_file(toolkit, registered, packaged_onnx(root, toolkit.release))
        files[f"onnx/{toolkit.release}.json"] = render(onnx, ("ops",))
    else:
        progress("no ONNX plugin is installed (opp/built-in/framework/onnx): the packaged ONNX table stays")
    socs = frozenset(Path(name).stem for name in files if name.startswith("cann/"))
    source = f"installed CANN {toolkit.release}"
    files["releases.json"] = with_cann_release(destination, root, toolkit.release, socs, source)
    for name, content in files.items():
        write(destination / name, content)
    return sorted(destination / name for name in files)


@dataclass(frozen=True, slots=True)
class _Contents:
    """What a toolkit holds. ``core``: AI Core kernels by SoC folder. ``slow``: AI CPU and host kernels.

    ``packaged``: the packaged tables by SoC.
    """

    toolkit: Toolkit
    core: Mapping[str, Kernels]
    slow: Kernels
    apis: InstalledApis
    absences: Absences
    packaged: dict[str, CannFile]


def _cann_files(toolkit: Toolkit, root: Path, progress: Callable[[str], None]) -> dict[str, bytes]:
    """Path below the matrix → content, for every SoC of the toolkit that the matrix knows."""
    known = frozenset(load(root / "socs.json", SocsFile).socs)
    folders = soc_folders(toolkit)
    unknown = [folder for folder in folders if not socs_of(folder, known)]
    if len(unknown) == len(folders):
        raise UsageError(
            f"{toolkit.root}: no list of AI Core operators of a known SoC"
            f" (looked for opp/built-in/{AI_CORE}/config/<soc>/aic-*-ops-info*.json"
            + (f"; it has {', '.join(unknown)})" if unknown else ")"),
            "Install the operators of your SoC (the opp package, from CANN 8.5 on the ops packages), then build again.",
        )
    if unknown:
        progress(f"left out, for the matrix does not know these SoCs: {', '.join(unknown)}")
    contents = _contents(
        toolkit, folders, {soc: table for soc in known if (table := packaged_cann(root, toolkit.release, soc))}
    )
    _tell_missing(contents, progress)
    files = {}
    for folder in (f for f in folders if f not in unknown):
        for soc in socs_of(folder, known):
            file = _cann_file(contents, folder, soc)
            files[f"cann/{toolkit.release}/{soc}.json"] = render(file, ("apis", "ge"))
            progress(f"{soc}: {len(contents.core[folder])} AI Core operators" + _doubt(toolkit, folder))
    return files


def _contents(toolkit: Toolkit, folders: list[str], packaged: dict[str, CannFile]) -> _Contents:
    prototypes = read_prototypes(toolkit)
    core = {f: read_op_info(toolkit, f, read_binaries(toolkit, f), prototypes) for f in folders}
    elsewhere = {name for kernels in core.values() for name in kernels}
    for table in packaged.values():
        elsewhere |= {n for n, op in table.ge.items() if any(k.engine == "ai_core" for k in op.kernels)}
    absences = Absences(frozenset(elsewhere), read_spared(toolkit))
    return _Contents(toolkit, core, read_ai_cpu(toolkit), read_apis(toolkit), absences, packaged)


def _tell_missing(contents: _Contents, progress: Callable[[str], None]) -> None:
    for there, what in ((contents.slow, "AI CPU kernels"), (contents.apis.declared, "aclnn headers")):
        if not there:
            progress(f"the toolkit has no {what}: the packaged tables answer")


def _doubt(toolkit: Toolkit, folder: str) -> str:
    return (
        ""
        if toolkit.is_complete(folder)
        else ", not all packages are installed: the packaged table answers for the rest"
    )


def _cann_file(contents: _Contents, folder: str, soc: str) -> CannFile:
    toolkit, table = contents.toolkit, contents.packaged.get(soc)
    slow = contents.slow or (slow_of(table, toolkit) if table else {})
    ge = ge_ops(toolkit, folder, contents.core[folder], slow, contents.absences, table)
    apis = corrected_apis(table, contents.apis, toolkit.release)
    return CannFile(SCHEMA, toolkit.release, soc, _sources(contents, folder, table), apis, ge)


def _sources(contents: _Contents, folder: str, table: CannFile | None) -> tuple[Source, ...]:
    """The files that went into a table, in the order of their weight."""
    toolkit = contents.toolkit
    note = f"installed CANN {toolkit.release}"
    kernels = [*contents.core[folder].values(), *contents.slow.values()]
    lists = sorted({k.source.partition(" of the installed toolkit")[0] for group in kernels for k in group})
    found = [Source(name, note) for name in lists]
    if contents.apis.known():
        found.append(Source("aclnnop/*.h", f"{note}: which aclnn APIs exist"))
    if table is not None:
        found.append(Source(f"cann/{table.release}/{table.soc}.json", "dtypes of aclnn APIs"))
    return tuple(found)
