"""Each file fits its JSON Schema, can be decoded, and lies where its own keys say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from opscan.errors import MatrixError
from opscan.matrix.lint.problem import Problem
from opscan.matrix.schema import FILES, document, problems_of


def check(root: Path) -> Iterator[Problem]:
    for name, pattern in FILES.items():
        for path in sorted(root.glob(pattern)):
            file = str(path.relative_to(root))
            try:
                yield from (Problem(file, key, message) for key, message in problems_of(path, name))
            except MatrixError as error:
                yield Problem(file, "", error.message)
                continue
            yield from _misplaced(path, root)


#: Keys that the parts of a path repeat.
_PLACES = {
    "torch_npu": ("release",),
    "torchair": ("release",),
    "onnx": ("release",),
    "onnx_exports": ("release",),
    "observed": ("release", "soc"),
    "cann": ("release", "soc"),
}


def _misplaced(path: Path, root: Path) -> Iterator[Problem]:
    relative = path.relative_to(root)
    parts = (*relative.parts[:-1], relative.name.removesuffix(".json"))
    content = document(path)
    for key, part in zip(_PLACES.get(parts[0], ()), parts[1:], strict=False):
        if content.get(key) != part:
            yield Problem(str(relative), key, f"is {content.get(key)!r}, but the file lies at {part!r}")
