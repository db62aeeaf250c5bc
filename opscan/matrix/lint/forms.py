"""Each file fits its JSON Schema, says nothing twice, and lies where its own keys say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opscan.errors import MatrixError
from opscan.matrix.lint.problem import Problem
from opscan.matrix.schema import FILES, document, problems_in

#: Folders of people's files that are no part of the matrix.
_OTHERS = frozenset({"schema", "sources"})


def check(root: Path) -> Iterator[Problem]:
    described = {path: name for name, pattern in FILES.items() for path in root.glob(pattern)}
    for path in sorted(root.rglob("*.json")):
        relative = path.relative_to(root)
        if path not in described:
            if relative.parts[0] not in _OTHERS:
                yield Problem(str(relative), "", "no file of the matrix lies here")
            continue
        try:
            content = document(path)
        except MatrixError as error:
            yield Problem(str(relative), "", error.message.removeprefix(f"{path}: "))
            continue
        yield from (Problem(str(relative), *found) for found in problems_in(content, described[path]))
        yield from _misplaced(relative, content)


#: Keys that the parts of a path repeat.
_PLACES = {
    "torch_npu": ("release",),
    "torchair": ("release",),
    "onnx": ("release",),
    "onnx_exports": ("release",),
    "observed": ("release", "soc"),
    "cann": ("release", "soc"),
}


def _misplaced(relative: Path, content: dict[str, Any]) -> Iterator[Problem]:
    parts = (*relative.parts[:-1], relative.name.removesuffix(".json"))
    for key, part in zip(_PLACES.get(parts[0], ()), parts[1:], strict=False):
        if content.get(key) != part:
            yield Problem(str(relative), key, f"is {content.get(key)!r}, but the file lies at {part!r}")
