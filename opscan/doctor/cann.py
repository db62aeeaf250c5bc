"""Installed CANN toolkits: where they are, their releases, and for which chips they have kernels.

Formats: the installation guides of CANN ("Querying the software package version", 8.0, 8.3.RC1, 8.5.0 and 9.1.0) name
``<arch>-linux/ascend_toolkit_install.info`` and its ``version=``, and for the operator package of 8.5 and later
``<arch>-linux/ascend_ops_install.info``. The listing of an installed 8.1.RC1 in the repository leideng/CANN-8.1.RC1
shows ``opp/version.info`` with ``version_dir=``, ``version.cfg``, the kernels below
``opp/built-in/op_impl/ai_core/tbe/kernel/<soc>``, and what ``set_env.sh`` sets. Ascend/pytorch reads the release from
``ascend_*_install.info`` too (``torch_npu/utils/collect_env.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from opscan.doctor.facts import Places, Toolkit
from opscan.doctor.files import bracketed, read_values
from opscan.matrix.build.cann_home.toolkit import socs_of

#: Variables that name a toolkit, in the order in which a program looks at them.
VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")

#: Below a folder that holds Ascend software.
_USUAL = ("cann", "ascend-toolkit/latest", "nnae/latest", "nnrt/latest")

_KERNELS = "opp/built-in/op_impl/ai_core/tbe/kernel"
_RELEASE = re.compile(r"\d+\.\d+\.[\w.+-]+")
_RUNNING = re.compile(r"\[[^\]:]*:([^\]]+)\]")


def find_toolkits(places: Places, socs: frozenset[str]) -> tuple[Toolkit, ...]:
    """Every toolkit at the usual places, those that a variable names first. ``socs``: of the matrix."""
    named = [(Path(places.variables[name]), name) for name in VARIABLES if places.variables.get(name)]
    usual = [base / below for base in (places.ascend, places.home / "Ascend") for below in _USUAL]
    versions = [path for base in (places.ascend, places.home / "Ascend") for path in _versions(base)]
    found: dict[str, Toolkit] = {}
    for path, variable in [*named, *((path, "") for path in (*usual, *versions))]:
        if (real := _real(path)) and real not in found and _is_toolkit(path):
            found[real] = _read(path, variable, socs)
    return tuple(found.values())


def set_env_script(toolkit: Toolkit) -> Path:
    """The script that sets the variables of a toolkit; in older ones it lies beside ``latest``."""
    path = Path(toolkit.path)
    places = (path / "set_env.sh", path.parent / "set_env.sh")
    return next((script for script in places if script.is_file()), places[0])


def library_folders(toolkit: Toolkit) -> tuple[Path, ...]:
    """Where the libraries lie that torch_npu is linked against."""
    path = Path(toolkit.path)
    return (path / "lib64", *sorted(path.glob("*-linux/lib64")), path / "runtime/lib64")


def _versions(base: Path) -> list[Path]:
    """Toolkits that no link leads to: ``cann-8.5.0``, ``ascend-toolkit/8.1.RC1``."""
    try:
        return sorted([*base.glob("cann-*"), *base.glob("ascend-toolkit/[0-9]*")], reverse=True)
    except OSError:
        return []


def _real(path: Path) -> str:
    """One name for a folder that several links lead to; empty where it cannot be looked at."""
    try:
        return str(path.resolve(strict=True))
    except (OSError, RuntimeError):
        return ""


def _is_toolkit(path: Path) -> bool:
    try:
        return any((path / part).exists() for part in ("opp", "lib64", "version.cfg", "share/info")) or any(
            path.glob("*-linux/ascend_*_install.info")
        )
    except OSError:
        return False


def _read(path: Path, variable: str, socs: frozenset[str]) -> Toolkit:
    unreadable: list[str] = []

    def values(file: Path) -> dict[str, str]:
        try:
            return read_values(file) or {}
        except OSError:
            unreadable.append(str(file))
            return {}

    kind, installed = "toolkit", {}
    for kind in ("toolkit", "nnae", "nnrt"):
        files = [*sorted(path.glob(f"*-linux/ascend_{kind}_install.info")), path / f"ascend_{kind}_install.info"]
        installed = next((read for read in map(values, files) if read), {})
        if installed:
            break
    ops = next((read for read in map(values, sorted(path.glob("*-linux/ascend_ops_install.info"))) if read), {})
    return Toolkit(
        path=str(path),
        release=_release(path, installed, values),
        kind=kind if installed else "toolkit",
        named_by=variable,
        inner=installed.get("innerversion", ""),
        compatible=bracketed(installed.get("compatible_version", "")),
        kernels=_kernels(path, socs),
        ops=ops.get("version", ""),
        ops_package=ops.get("package_name", ""),
        unreadable=tuple(unreadable),
    )


def _release(path: Path, installed: dict[str, str], values: Callable[[Path], dict[str, str]]) -> str:
    """From the most telling file to the name of the folder; empty where none tells."""
    told = [installed.get("version", ""), values(path / "opp/version.info").get("version_dir", "")]
    told += [values(file).get("version", "") for file in sorted(path.glob("share/info/*/version.info"))[:1]]
    running = values(path / "version.cfg")
    for part in ("toolkit", "runtime", "opp"):
        match = _RUNNING.match(running.get(f"{part}_running_version", ""))
        told.append(match[1] if match else "")
    told.append(Path(_real(path) or path).name)
    return next((name for one in told if _RELEASE.fullmatch(name := one.removeprefix("cann-"))), "")


def _kernels(path: Path, socs: frozenset[str]) -> tuple[str, ...]:
    """SoCs with a folder of compiled kernels; the package of kernels is installed apart from the toolkit."""
    names: set[str] = set()
    for folder in (path / _KERNELS, path / _KERNELS / "config"):
        try:
            names.update(entry.name for entry in folder.iterdir() if entry.is_dir())
        except OSError:
            continue
    return tuple(sorted({soc for name in names for soc in socs_of(name, socs)}))
