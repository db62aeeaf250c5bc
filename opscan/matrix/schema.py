"""Checking every file of the matrix against its JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from opscan.errors import MatrixError
from opscan.matrix.data import support_matrix_dir
from opscan.matrix.files import remedy

#: Schema name → the files it describes, below ``support_matrix/``.
FILES = {
    "torch_npu": "torch_npu/*.json",
    "observed": "observed/*/*.json",
    "measured": "measured/*/*.json",
    "cann": "cann/*/*.json",
    "torchair": "torchair/*.json",
    "onnx": "onnx/*.json",
    "onnx_exports": "onnx_exports/*.json",
    "releases": "releases.json",
    "socs": "socs.json",
    "overrides": "overrides/*.json",
    "exceptions": "exceptions.json",
    "errors": "errors.json",
}


def check_schemas(root: Path) -> list[str]:
    """What does not fit: ``file: key: problem``. An empty list is a clean tree."""
    return [
        f"{path.relative_to(root)}: {key}: {message}"
        for name, pattern in FILES.items()
        for path in sorted(root.glob(pattern))
        for key, message in problems_of(path, name)
    ]


def problems_of(path: Path, name: str) -> Iterator[tuple[str, str]]:
    """(key, problem) of one file against the packaged schema ``name``. Raises MatrixError as ``document`` does."""
    return problems_in(document(path), name)


def problems_in(content: dict[str, Any], name: str) -> Iterator[tuple[str, str]]:
    """(key, problem) of the content of a file against the packaged schema ``name``."""
    for error in _validator(name).iter_errors(content):
        where = ".".join(map(str, error.instance_path)) or "(file)"
        yield where, error.message[:200]


def document(path: Path) -> dict[str, Any]:
    """The file as plain values. Raises MatrixError where it is no JSON object, or says something twice."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_once)
    except OSError as error:
        raise MatrixError(f"{path}: {error.strerror or error}", remedy(path)) from error
    except (ValueError, RecursionError) as error:
        raise MatrixError(f"{path}: {error}", remedy(path)) from error
    if not isinstance(content, dict):
        raise MatrixError(f"{path}: is no JSON object", remedy(path))
    return content


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, unless a key is in it twice: readers would see the last one and lose the other in silence."""
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"key {next(key for key in made if keys.count(key) > 1)} is there twice")
    return made


@cache
def _validator(name: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(load_schema(support_matrix_dir(), name))


def load_schema(root: Path, name: str) -> dict[str, Any]:
    """The schema of one kind of file."""
    schema: dict[str, Any] = json.loads((root / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return schema
