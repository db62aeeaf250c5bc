"""Where the data of opscan lies: at the top of a checkout, inside the package in an installed wheel."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_data_path

from opscan.errors import MatrixError

_PACKAGE = Path(__file__).resolve().parent.parent


def support_matrix_dir() -> Path:
    """The folder ``support_matrix/`` of the checkout or of the installed package."""
    return _data_dir("support_matrix")


def user_matrix_dir() -> Path:
    """Where tables that a user builds lie (``opscan matrix build --wheel …``); it need not exist."""
    return user_data_path("opscan", appauthor=False) / "support_matrix"


def matrix_roots() -> tuple[Path, ...]:
    """The folders that hold the matrix, the user's own first: what it holds takes precedence."""
    return user_matrix_dir(), support_matrix_dir()


def find_table(roots: tuple[Path, ...], name: str) -> Path | None:
    """The first file ``name`` (a path below ``support_matrix/``) that exists among ``roots``.

    What is there and cannot be read is found too, so that reading it fails instead of passing it over in silence.
    Raises MatrixError where a folder does not let anyone see what is in it.
    """
    return next((path for root in roots if is_there(path := root / name)), None)


def is_there(path: Path) -> bool:
    """Whether there is anything of that name: a file, or what stands in its place."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise MatrixError(
            f"{path}: {error.strerror}", "The folders above it cannot be read: repair them, or move them away."
        ) from error
    return True


def _data_dir(name: str) -> Path:
    for candidate in (_PACKAGE / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise MatrixError(
        f"the folder {name}/ of opscan is missing",
        "The installation is damaged: install opscan again.",
    )
