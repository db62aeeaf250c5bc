"""Environments that opscan makes in the user cache: a venv with one torch_npu release, in front of this environment.

What the user's model imports (transformers, timm, opscan itself) comes from this environment, whose site-packages lie
behind the venv's own; torch_npu, and torch where this environment has another release of it, come from the venv. A venv
holds absolute paths and cannot be moved into place when it is done, so a manifest written last says that it is.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import site
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout
from packaging.version import InvalidVersion, Version
from platformdirs import user_cache_path

import opscan
from opscan.errors import OpscanError
from opscan.probing.installer import install

Progress = Callable[[str], None]

_MANIFEST = "opscan-environment.json"

#: The file of an environment that leads to the packages behind it. ``zz``: read after whatever else is there.
_LINKS = "zz_opscan_host.pth"

#: What torch_npu imports without carrying it: name of the distribution.
_REQUIREMENTS = ("numpy", "pyyaml")

#: Packages with compiled code for one torch release; those of the host do not load beside another torch.
_BOUND_TO_TORCH = ("torchvision", "torchaudio")

#: torch releases before this one are built against NumPy 1 and do not speak with NumPy 2.
_SPEAKS_NUMPY_2 = Version("2.3.0")


class Manifest(msgspec.Struct, frozen=True):
    """What an environment is. ``torch_from_host``: its torch is the one of the environment behind it, ``host``."""

    schema: int
    torch_npu: str
    torch: str
    torch_from_host: bool
    python: str
    host: tuple[str, ...]
    opscan: str


def environments_dir() -> Path:
    """Where managed environments lie; it need not exist."""
    return user_cache_path("opscan", appauthor=False) / "environments"


def installed(name: str) -> str | None:
    """The release of a distribution in this environment, without the local part (``+cpu``); None where it is not."""
    try:
        return metadata.version(name).partition("+")[0]
    except metadata.PackageNotFoundError:
        return None


def interpreter_of(folder: Path) -> Path:
    return folder / "bin" / "python"


def site_packages_of(folder: Path) -> Path:
    return folder / "lib" / f"python{_python()}" / "site-packages"


def usable() -> list[tuple[Path, Manifest]]:
    """The managed environments that were made for this environment and are as they were made."""
    root = environments_dir()
    try:
        folders = sorted(path for path in root.iterdir() if path.name.endswith(_suffix()))
    except OSError:
        return []
    manifests = ((folder, _read(folder)) for folder in folders)
    return [(folder, manifest) for folder, manifest in manifests if manifest is not None and _whole(folder, manifest)]


def make(release: str, torch: str, progress: Progress) -> tuple[Path, Manifest]:
    """The managed environment of a torch_npu release that pairs with a torch release; made where there is none.

    Raises OpscanError where it cannot be made; nothing that is half made is found later.
    """
    folder = environments_dir() / f"{release}{_suffix()}"
    with _locked(folder, progress):
        found = _read(folder)
        if found is not None and _whole(folder, found):
            return folder, found
        try:
            _clear(folder)
            manifest = _fill(folder, release, torch, progress)
            _write(folder, manifest)
        except BaseException:
            with suppress(OSError):
                _clear(folder)
            raise
        return folder, manifest


def remove(release: str) -> int:
    """Delete every managed environment of a release, whichever environment it was made for; how many there were."""
    try:
        folders = [path for path in environments_dir().iterdir() if path.is_dir()]
    except OSError:
        return 0
    chosen = [path for path in folders if path.name.startswith(f"{release}-cp")]
    for folder in chosen:
        with _locked(folder, lambda line: None):
            _clear(folder)
    return len(chosen)


def _fill(folder: Path, release: str, torch: str, progress: Progress) -> Manifest:
    progress(f"making an environment of Python {_python()} in {folder}")
    _create(folder)
    interpreter = interpreter_of(folder)
    from_host = installed("torch") == torch
    if not from_host:
        progress(f"installing torch {torch}: this environment has {installed('torch') or 'none'}")
        companions = [name for name in _BOUND_TO_TORCH if installed(name)]
        install(interpreter, [f"torch=={torch}", *companions], progress)
    missing = _missing_requirements(torch)
    if missing:
        install(interpreter, missing, progress)
    progress(f"installing torch_npu {release}")
    install(interpreter, [f"torch_npu=={release}"], progress, dependencies=False)
    host = _host_packages()
    (site_packages_of(folder) / _LINKS).write_text(_links(host), encoding="utf-8")
    manifest = Manifest(1, release, torch, from_host, _python(), host, opscan.__version__)
    _verify(interpreter, manifest)
    return manifest


def _create(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(folder)], capture_output=True, text=True, errors="replace"
    )
    if made.returncode:
        last = (made.stderr or made.stdout).strip().splitlines()[-3:]
        raise OpscanError(
            "\n  ".join([f"{sys.executable} could not make a virtual environment in {folder}:", *last]),
            "Install the module venv for this Python (python3-venv on Debian and Ubuntu), or free disk space.",
        )


def _missing_requirements(torch: str) -> list[str]:
    missing = [name for name in _REQUIREMENTS if installed(name) is None]
    if Version(torch) < _SPEAKS_NUMPY_2 and _major("numpy") != 1:
        missing = [*(name for name in missing if name != "numpy"), "numpy<2"]
    return missing


def _major(name: str) -> int | None:
    try:
        return Version(installed(name) or "").major
    except InvalidVersion:
        return None


def _verify(interpreter: Path, manifest: Manifest) -> None:
    """Whether the environment finds the two releases that it is for, as an import would."""
    code = "import importlib.metadata as m; print(*(m.version(n).partition('+')[0] for n in ('torch_npu', 'torch')))"
    ran = subprocess.run([str(interpreter), "-c", code], capture_output=True, text=True, errors="replace")
    if ran.stdout.split() != [manifest.torch_npu, manifest.torch]:
        found = ran.stdout.strip() or "\n  ".join(ran.stderr.strip().splitlines()[-3:])
        raise OpscanError(
            f"The new environment should find torch_npu {manifest.torch_npu} and torch {manifest.torch}; "
            f"it finds: {found}",
            "A PYTHONPATH that holds another torch or torch_npu does this: clear it, and run the command again.",
        )


def _host_packages() -> tuple[str, ...]:
    """The folders with packages of this environment, in the order in which they are searched."""
    folders = list(site.getsitepackages())
    if site.ENABLE_USER_SITE:
        folders.insert(0, site.getusersitepackages())
    return tuple(dict.fromkeys(folder for folder in folders if Path(folder).is_dir()))


def _links(host: tuple[str, ...]) -> str:
    """A ``.pth`` file: ``addsitedir`` appends a folder and follows the ``.pth`` files in it (editable installs).

    Last the folder that opscan itself is in, in case it runs from a checkout that is not installed.
    """
    own = Path(opscan.__file__).resolve().parent.parent
    return "".join(f"import site; site.addsitedir({folder!r})\n" for folder in host) + f"{own}\n"


def _python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _suffix() -> str:
    """The end of the name of every environment that is made for this one: its Python and where its packages lie."""
    origin = "\n".join([sys.base_prefix, platform.machine(), *_host_packages()])
    return f"-cp{_python().replace('.', '')}-{hashlib.sha256(origin.encode()).hexdigest()[:10]}"


def _whole(folder: Path, manifest: Manifest) -> bool:
    """Whether an environment is still what its manifest says: the host's torch and Python may have changed since."""
    return (
        manifest.schema == 1
        and os.access(interpreter_of(folder), os.X_OK)
        and (site_packages_of(folder) / "torch_npu").is_dir()
        and (not manifest.torch_from_host or installed("torch") == manifest.torch)
    )


def _read(folder: Path) -> Manifest | None:
    try:
        return msgspec.json.decode((folder / _MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError):
        return None


def _write(folder: Path, manifest: Manifest) -> None:
    temporary = folder / f"{_MANIFEST}.tmp"
    temporary.write_bytes(msgspec.json.encode(manifest) + b"\n")
    os.replace(temporary, folder / _MANIFEST)


def _clear(folder: Path) -> None:
    """Delete an environment, its manifest first."""
    (folder / _MANIFEST).unlink(missing_ok=True)
    if folder.is_dir():
        shutil.rmtree(folder)


@contextmanager
def _locked(folder: Path, progress: Progress) -> Iterator[None]:
    """One process at a time makes or removes an environment; others wait, and say so."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder.parent / f".{folder.name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress("waiting for another opscan that works on the same environment")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
