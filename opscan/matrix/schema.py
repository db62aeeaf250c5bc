"""Checking every file of the matrix against its JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

#: Schema name → the files it describes, below ``support_matrix/``.
FILES = {
    "torch_npu": "torch_npu/*.json",
    "observed": "observed/*/*.json",
    "cann": "cann/*/*.json",
    "torchair": "torchair/*.json",
    "onnx": "onnx/*.json",
    "releases": "releases.json",
    "socs": "socs.json",
    "overrides": "overrides/*.json",
}


def check_schemas(root: Path) -> list[str]:
    """What does not fit: ``file: key: problem``. An empty list is a clean tree."""
    return [problem for name in FILES for problem in _problems(root, name)]


def load_schema(root: Path, name: str) -> dict[str, Any]:
    """The schema of one kind of file."""
    schema: dict[str, Any] = json.loads((root / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return schema


def _problems(root: Path, name: str) -> Iterator[str]:
    validator = Draft202012Validator(load_schema(root, name))
    for path in sorted(root.glob(FILES[name])):
        document = json.loads(path.read_text(encoding="utf-8"))
        for error in validator.iter_errors(document):
            where = ".".join(str(part) for part in error.absolute_path) or "(file)"
            yield f"{path.relative_to(root)}: {where}: {error.message[:200]}"
