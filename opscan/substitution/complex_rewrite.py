"""The real form of one complex operator: what ``complex_to_real`` holds one of for each operator it knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from opscan.inventory import OpCall, TensorSpec
from opscan.substitution.interface import Run, Text

#: Complex dtypes whose real view every backend has, with the dtype of the parts.
PARTS = {"complex64": "float32", "complex128": "float64"}

NOT_COMPLEX = Text("no complex64 or complex128 argument", "没有 complex64 或 complex128 参数")


class Rewrite(Protocol):
    """``names`` are the variables of ``call.inputs`` in the lines of ``before`` and ``after``."""

    def miss(self, call: OpCall) -> Text | None:
        """Why these arguments have no real form here, or ``None``."""

    def names(self, call: OpCall) -> tuple[str, ...]: ...

    def before(self, call: OpCall) -> str: ...

    def after(self, call: OpCall) -> str: ...

    def original(self, call: OpCall) -> Run: ...

    def replacement(self, call: OpCall) -> Run: ...

    def limits(self, call: OpCall, specs: Sequence[TensorSpec]) -> list[tuple[int, int]]:
        """Range [low, high) of the integers in each input, when the inputs have the concrete shapes of ``specs``."""
