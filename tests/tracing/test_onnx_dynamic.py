"""Exports with sizes left open, and what they hold as constants all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from opscan.inventory import Inventory
from opscan.tracing.interface import Recipe, TraceOptions
from opscan.tracing.onnx import exporters
from opscan.tracing.onnx.tracer import OnnxExportTracer
from opscan.tracing.sizes.resizing import Resizing
from opscan.workload import DynamicInput


@pytest.fixture(autouse=True)
def older(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exporter that needs nothing besides torch."""

    def missing() -> None:
        raise exporters.ExporterMissing("it needs onnxscript")

    monkeypatch.setattr(exporters, "_needs_onnxscript", missing)


class Doubled(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.interpolate(x, size=(x.shape[2] * 2, x.shape[3] * 2), mode="nearest")


class Looped(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        total = x[:, 0]
        for step in range(1, x.shape[1]):
            total = total * 0.5 + x[:, step]
        return total


def exported(model: nn.Module, dynamic: DynamicInput, *args: Any) -> Inventory:
    recipe = Resizing(Recipe(lambda: (model, args, {}), Path()), lambda: ["x"], (dynamic,)).at({})
    options = TraceOptions("model.py", frozenset(), frozenset(), "2.13.0", "2.13.0")
    return OnnxExportTracer().trace(recipe, options, lambda stage: None)


def facts(inventory: Inventory) -> dict[str, dict[str, str]]:
    return {finding.rule: finding.facts for finding in inventory.findings}


def test_height_and_width_stay_open_through_a_chain_of_shapes() -> None:
    found = exported(Doubled(), DynamicInput("x", (0, 2, 3)), torch.randn(1, 3, 5, 7))
    assert facts(found)["OPS621"] == {"inputs": "x[x.0, 3, x.2, x.3]"}
    assert "OPS669" not in facts(found)
    assert {"ai.onnx::Resize", "ai.onnx::Shape"} <= {call.name for call in found.calls}


def test_a_loop_over_a_size_is_a_constant_of_the_export_and_computes_something_else() -> None:
    found = exported(Looped(), DynamicInput("x", (1,)), torch.randn(2, 4, 8))
    assert facts(found)["OPS669"]["sizes"].startswith("x.1 = 5: output ")
