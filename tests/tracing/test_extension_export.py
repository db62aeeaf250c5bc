"""A model that cannot be exported to ONNX, since it imports a CUDA extension that is not installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opscan.errors import ModelError
from opscan.inventory import Attempt, Inventory, OpCall, Trace
from opscan.tracing.interface import Recipe, TraceOptions
from opscan.tracing.onnx.tracer import OnnxExportTracer

OPTIONS = TraceOptions("model.py", frozenset(), frozenset(), "2.13.0", "2.13.0")


class StandIn:
    """In place of the dispatch tracer, which would set up a device in this process."""

    name = "dispatch"

    def trace(self, recipe: Recipe, options: TraceOptions, progress: Callable[[str], None]) -> Inventory:
        trace = Trace("dispatch", "virtual", "2.13.0", False, True, attempts=(Attempt("dispatch", True),))
        call = OpCall("cuda_extension::spconv.pytorch.SubMConv3d", "forward", (), ())
        return Inventory(options.reference, 0, trace, (call,))


def importing(name: str) -> Callable[[], Any]:
    def load() -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    return load


def test_its_operators_stand_in(tmp_path: Path) -> None:
    tracer = OnnxExportTracer(StandIn)
    found = tracer.trace(Recipe(importing("spconv"), tmp_path), OPTIONS, lambda stage: None)
    assert [call.name for call in found.calls] == ["cuda_extension::spconv.pytorch.SubMConv3d"]
    assert not found.trace.complete
    assert "imports spconv, a CUDA extension" in found.trace.unseen[0]
    assert not found.trace.attempts[-1].ok


def test_other_packages_have_to_be_installed(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="einops"):
        OnnxExportTracer(StandIn).trace(Recipe(importing("einops"), tmp_path), OPTIONS, lambda stage: None)
