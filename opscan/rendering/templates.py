"""Finds the report's templates, in a checkout and in an install alike."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def reports_folder() -> Path:
    """The folder of templates, styles, scripts and texts: ``opscan/reports`` in a wheel, ``reports`` in a checkout."""
    installed = _PACKAGE / "reports"
    return installed if installed.is_dir() else _PACKAGE.parent / "reports"


def read_source(name: str) -> str:
    """The text of one file of the reports folder, with ``\\n`` line ends whatever the checkout made of them."""
    return (reports_folder() / name).read_text(encoding="utf-8")
