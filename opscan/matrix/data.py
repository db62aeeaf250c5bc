"""Where the data of opscan lies: at the top of a checkout, inside the package in an installed wheel."""

from __future__ import annotations

from pathlib import Path

from opscan.errors import MatrixError

_PACKAGE = Path(__file__).resolve().parent.parent


def support_matrix_dir() -> Path:
    """The folder ``support_matrix/`` of the checkout or of the installed package."""
    return _data_dir("support_matrix")


def reports_dir() -> Path:
    """The folder ``reports/`` of the checkout or of the installed package."""
    return _data_dir("reports")


def _data_dir(name: str) -> Path:
    for candidate in (_PACKAGE / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise MatrixError(
        f"the folder {name}/ of opscan is missing",
        "The installation is damaged: install opscan again.",
    )
