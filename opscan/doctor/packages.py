"""What is installed in this Python environment, read from metadata and version files. Nothing is imported."""

from __future__ import annotations

import importlib.util
import re
from importlib import metadata
from pathlib import Path

from opscan.doctor.facts import Torch

#: Names of distributions as they are compared: runs of ``-``, ``_`` and ``.`` are one ``-`` (PEP 503).
_RUNS = re.compile(r"[-_.]+")

_BUILD = re.compile(r"^(cuda|hip|xpu)\s*(?::[^=]*)?=\s*['\"]([^'\"]+)['\"]", re.MULTILINE)


def read_packages() -> tuple[dict[str, str], tuple[str, ...]]:
    """Releases by normalised name, and the names of those that came from elsewhere than an index.

    Where a name is installed twice, the one that an import finds first counts.
    """
    versions: dict[str, str] = {}
    elsewhere: list[str] = []
    for found in metadata.distributions():
        name = _normalised(_field(found, "Name"))
        if not name or name in versions:
            continue
        versions[name] = _field(found, "Version")
        if _direct(found):
            elsewhere.append(name)
    return dict(sorted(versions.items())), tuple(sorted(elsewhere))


def read_torch(packages: dict[str, str]) -> Torch | None:
    """The torch that is installed, and for which accelerators it is built."""
    if "torch" not in packages:
        return None
    return Torch(packages["torch"], _build(_version_file("torch")))


def _build(text: str) -> str:
    if not text:
        return ""
    return ", ".join(f"{name} {version}" for name, version in _BUILD.findall(text)) or "cpu"


def _version_file(package: str) -> str:
    """The text of ``version.py`` of a package that is not imported for it; empty where it cannot be read."""
    try:
        spec = importlib.util.find_spec(package)
        return Path(spec.origin or "").with_name("version.py").read_text("utf-8") if spec else ""
    except (ImportError, ValueError, OSError):
        return ""


def _field(found: metadata.Distribution, name: str) -> str:
    """A field of the metadata; empty where it is missing or cannot be read, as in half-removed packages."""
    try:
        return str(found.metadata[name] or "")
    except Exception:  # whatever a damaged folder of metadata makes importlib raise
        return ""


def _direct(found: metadata.Distribution) -> bool:
    """Installed from a path or an address: such packages carry ``direct_url.json`` (PEP 610). Its content stays there,
    for addresses may hold secrets.
    """
    try:
        return found.read_text("direct_url.json") is not None
    except Exception:
        return False


def _normalised(name: str) -> str:
    return _RUNS.sub("-", name).lower()
