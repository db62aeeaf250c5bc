"""Libraries that make models: imported when a reference names them."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Iterable
from typing import Any

from opscan.errors import LoadError


def library(name: str, reference: str) -> Any:
    """The module. Raises LoadError where it is not installed, or does not import."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise LoadError(
                f"{reference} needs {name}, whose import fails: {error}.", f"Install {error.name!r} beside it."
            ) from error
        raise LoadError(
            f"{reference} needs {name}, which is not installed for {sys.executable}.",
            f"Install it there: python -m pip install {name}",
        ) from error
    except (ImportError, RuntimeError) as error:
        raise LoadError(
            f"{reference} needs {name}, whose import fails: {_first_line(error)}.",
            f"Does it fit the installed torch? Try: python -c 'import {name}'",
        ) from error


def unknown_model(reference: str, name: str, known: Iterable[str]) -> LoadError:
    """An error that names the nearest models."""
    listed = sorted(known)
    close = difflib.get_close_matches(name, listed, n=5, cutoff=0.5) or [n for n in listed if name in n][:5]
    hint = f"Did you mean {', '.join(close)}?" if close else f"It has {len(listed)}: {', '.join(listed[:8])}, …"
    return LoadError(f"{reference}: there is no such model in the installed release.", hint)


def _first_line(error: BaseException) -> str:
    return next((line.strip().rstrip(".") for line in str(error).splitlines() if line.strip()), type(error).__name__)
