"""The package folder of a torch_npu (``…/site-packages/torch_npu``), as files: nothing of it is loaded."""

from __future__ import annotations

import re
from pathlib import Path


def shared_libraries(package: Path) -> tuple[Path, ...]:
    """Those that importing torch_npu loads; the plugin for ATB is loaded later, and only where ATB is installed."""
    found = [*package.glob("lib/*.so"), *package.glob("_C*.so")]
    return tuple(sorted(path for path in found if "atb" not in path.name))


def release_of(package: Path) -> str:
    """The version that the package states of itself; ``unknown`` where it states none."""
    try:
        text = (package / "version.py").read_text(encoding="utf-8")
    except OSError:
        text = ""
    match = re.search(r"__version__ = ['\"]([\w.+]+)['\"]", text)
    return match[1] if match else "unknown"
