"""Where a rehearsal can run: a Python environment whose torch_npu and torch are a pair.

Nothing here imports torch or torch_npu: what is installed is read from the metadata of the distributions.
"""

from __future__ import annotations

import importlib.util
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from opscan.errors import OpscanError, UsageError
from opscan.matrix.data import matrix_roots
from opscan.matrix.files import TorchNpuRelease
from opscan.matrix.releases import load_releases
from opscan.probing import managed

#: Machines that torch_npu has wheels for.
_MACHINES = ("x86_64", "aarch64")


@dataclass(frozen=True, slots=True)
class RehearsalEnvironment:
    """A Python that imports a torch_npu release together with the torch release that it pairs with.

    ``interpreter``: to start a child with. ``torch_npu``: as in ``support_matrix/torch_npu/`` (2.6.0.post5).
    ``torch``: without its local part. ``package``: the folder ``torch_npu`` in its site-packages.
    ``managed``: made by :func:`set_up`, rather than the environment that opscan runs in.
    """

    interpreter: Path
    torch_npu: str
    torch: str
    package: Path
    managed: bool


def find(release: str) -> RehearsalEnvironment | None:
    """The environment that opscan runs in where it has that release and its torch, else a managed one, else None."""
    return next((each for each in _all() if each.torch_npu == release), None)


def available() -> tuple[RehearsalEnvironment, ...]:
    """Every environment at hand, the newest release first."""
    return tuple(sorted(_all(), key=lambda each: _key(each.torch_npu), reverse=True))


def set_up(release: str, progress: Callable[[str], None]) -> RehearsalEnvironment:
    """The environment of a release; a managed one is made where there is none.

    Downloads torch_npu, and torch where this environment has another release of it, with the user's pip or uv.
    ``progress`` is told what is being done. Raises UsageError where there is no such release for this Python,
    OpscanError where there is none for this machine or it could not be installed.
    """
    found = find(release)
    if found is not None:
        return found
    entry = _installable(release)
    folder, manifest = managed.make(release, entry.torch, progress)
    return _managed(folder, manifest)


def remove(release: str) -> None:
    """Delete the managed environments of a release. Raises UsageError where there is none."""
    if not managed.remove(release):
        there = ", ".join(each.torch_npu for each in available() if each.managed) or "none"
        raise UsageError(f"There is no managed environment of torch_npu {release}.", f"Managed: {there}.")


def _all() -> list[RehearsalEnvironment]:
    """The current environment first, so that it is taken before a managed one of the same release."""
    own = _current()
    return [*([own] if own else []), *(_managed(folder, manifest) for folder, manifest in managed.usable())]


def _managed(folder: Path, manifest: managed.Manifest) -> RehearsalEnvironment:
    return RehearsalEnvironment(
        interpreter=managed.interpreter_of(folder),
        torch_npu=manifest.torch_npu,
        torch=manifest.torch,
        package=managed.site_packages_of(folder) / "torch_npu",
        managed=True,
    )


def _current() -> RehearsalEnvironment | None:
    release, torch = managed.installed("torch_npu"), managed.installed("torch")
    if release is None or torch is None or not _pair(release, torch):
        return None
    try:
        spec = importlib.util.find_spec("torch_npu")
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.origin:
        return None
    return RehearsalEnvironment(Path(sys.executable), release, torch, Path(spec.origin).parent, managed=False)


def _pair(torch_npu: str, torch: str) -> bool:
    """A torch_npu X.Y.Z.postN pairs with torch X.Y.Z exactly."""
    try:
        return Version(torch_npu).release == Version(torch).release
    except InvalidVersion:
        return False


def _key(release: str) -> Version:
    try:
        return Version(release)
    except InvalidVersion:
        return Version("0")


def _installable(release: str) -> TorchNpuRelease:
    """The entry of a release that there is a wheel of for this Python and machine."""
    releases = load_releases(matrix_roots())
    entry = releases.torch_npu.get(release)
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    offered = [r for r in releases.torch_npu_order if releases.torch_npu[r].table]
    fitting = ", ".join(r for r in offered if here in releases.torch_npu[r].python) or "none"
    if entry is None:
        raise UsageError(f"unknown torch_npu release {release!r}", f"Releases for Python {here}: {fitting}.")
    if entry.python and here not in entry.python:
        raise UsageError(
            f"torch_npu {release} has no wheel for Python {here}: there are wheels for {', '.join(entry.python)}.",
            f"Run opscan with one of those, or choose a release for Python {here}: {fitting}.",
        )
    if not sys.platform.startswith("linux") or platform.machine() not in _MACHINES:
        raise OpscanError(
            f"torch_npu has wheels for Linux on {' and '.join(_MACHINES)} only; this is {sys.platform} on "
            f"{platform.machine()}.",
            "Run opscan in a Linux container or virtual machine to rehearse; a scan works here as it is.",
        )
    return entry
