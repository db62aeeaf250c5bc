"""PyTorch models exported in the tracing process: nodes with their origin, comparison, and failures with reasons."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch
from onnx_models import convolution
from torch import nn

from opscan.errors import ModelError
from opscan.inventory import Attempt, Inventory, OpCall, Trace
from opscan.tracing import real_model
from opscan.tracing.interface import Recipe, TraceOptions
from opscan.tracing.onnx import exporters
from opscan.tracing.onnx.check import compare
from opscan.tracing.onnx.tracer import OnnxExportTracer
from opscan.workload import Workload

HERE = Path(__file__).parent
OPTIONS = TraceOptions("model.py", frozenset(), frozenset(), "2.13.0", "2.13.0")

needs_onnxscript = pytest.mark.skipif(
    importlib.util.find_spec("onnxscript") is None, reason="onnxscript is not installed: the extra onnx"
)


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exporter that needs nothing besides torch."""

    def missing() -> None:
        raise exporters.ExporterMissing("it needs onnxscript: pip install 'opscan-npu[onnx]'")

    monkeypatch.setattr(exporters, "_needs_onnxscript", missing)


class StandIn:
    """In place of the dispatch tracer, which would set up a device in this process."""

    name = "dispatch"
    operator = "aten::_fft_c2c"

    def trace(self, recipe: Recipe, options: TraceOptions, progress: Callable[[str], None]) -> Inventory:
        trace = Trace("dispatch", "virtual", "2.13.0", False, True, attempts=(Attempt("dispatch", True),))
        return Inventory(options.reference, 0, trace, (OpCall(self.operator, "forward", (), ()),))


class GatherStandIn(StandIn):
    operator = "aten::gather"


def traced(model: Any, *args: Any, train: bool = False, dispatch: type[StandIn] = StandIn) -> Inventory:
    options = TraceOptions("model.py", frozenset(), frozenset(), "2.13.0", "2.13.0", Workload(train))
    return OnnxExportTracer(dispatch).trace(Recipe(lambda: (model, args, {}), HERE), options, lambda stage: None)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x).relu()


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = Block()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.block(x) + 1


def check_model(inventory: Inventory) -> None:
    calls = {call.name: call for call in inventory.calls}
    conv = calls["ai.onnx::Conv"]
    assert conv.location is not None
    assert (conv.location.file, conv.location.module) == (Path(__file__).name, "block.conv")
    assert "self.conv(x)" in Path(__file__).read_text(encoding="utf-8").splitlines()[conv.location.line - 1]
    assert conv.inputs[0].shape == (1, 3, 8, 8)
    assert dict(conv.attributes)["opset"] == "18"
    assert inventory.parameters == 4 * 3 * 9 + 4
    assert (inventory.trace.values, inventory.trace.values_note, inventory.findings) == ("computed", "", ())
    assert inventory.trace.complete


def test_the_older_exporter_tells_lines_and_modules(older: None) -> None:
    inventory = traced(Model().eval(), torch.randn(1, 3, 8, 8))
    check_model(inventory)
    assert [(a.tracer, a.ok) for a in inventory.trace.attempts] == [
        ("onnx (dynamo)", False),
        ("onnx (torchscript)", True),
    ]
    assert inventory.trace.attempts[0].reason == "it needs onnxscript: pip install 'opscan-npu[onnx]'"


@needs_onnxscript
def test_the_newer_exporter_tells_the_operator_of_torch_too() -> None:
    inventory = traced(Model().eval(), torch.randn(1, 3, 8, 8))
    check_model(inventory)
    origins = {call.name: dict(call.attributes).get("origin") for call in inventory.calls}
    assert origins["ai.onnx::Conv"] == "aten::conv2d"
    assert origins["ai.onnx::Add"] == "aten::add.Tensor"


@needs_onnxscript
def test_a_large_model_is_exported_without_its_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_model, "MOST_WEIGHTS", 100)

    def load() -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        return Model().eval(), (torch.randn(1, 3, 8, 8),), {}

    inventory = OnnxExportTracer().trace(Recipe(load, HERE), OPTIONS, lambda stage: None)
    assert inventory.parameters == 112
    assert inventory.trace.values == "none"
    assert inventory.trace.values_note == "exported without its weights: nothing was compared"
    assert "ai.onnx::Conv" in {call.name for call in inventory.calls}


def test_a_function_is_exported_like_a_module(older: None) -> None:
    inventory = traced(lambda x: x.abs() * 2, torch.randn(3))
    assert {"ai.onnx::Abs", "ai.onnx::Mul"} <= {call.name for call in inventory.calls}


class Branching(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return x * 2
        return x - 1


def test_a_branch_that_the_trace_took_is_a_finding(older: None) -> None:
    inventory = traced(Branching(), torch.ones(2, 3))
    (finding,) = inventory.findings
    assert (finding.rule, finding.facts["what"]) == ("OPS603", "a Python boolean")
    assert finding.locations[0].file == Path(__file__).name
    assert not inventory.trace.complete


def test_a_model_that_draws_numbers_is_not_compared(older: None) -> None:
    inventory = traced(lambda x: x + torch.rand(3), torch.ones(3))
    assert inventory.trace.values_note == "the model's results differ from run to run"
    assert inventory.findings == ()


@needs_onnxscript
def test_the_operator_at_which_the_newer_exporter_stops_is_marked() -> None:
    inventory = traced(
        Gathering(), torch.ones(3, dtype=torch.complex64), torch.zeros(2, dtype=torch.int64), dispatch=GatherStandIn
    )
    (call,) = inventory.calls
    assert "onnx_export" in dict(call.attributes)


class Gathering(nn.Module):
    def forward(self, x: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        return torch.view_as_real(torch.view_as_complex(torch.view_as_real(x)).gather(0, ids))


class Fourier(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.fft.ifft2(torch.fft.fft2(x) * 0.5).real


def test_what_cannot_be_exported_is_listed_by_the_dispatcher_and_never_passes_for_complete(older: None) -> None:
    inventory = traced(Fourier(), torch.randn(1, 1, 8, 8))
    assert [call.name for call in inventory.calls] == ["aten::_fft_c2c"]
    assert not inventory.trace.complete
    last = inventory.trace.attempts[-1]
    assert (last.tracer, last.ok) == ("onnx (torchscript)", False)
    assert last.reason is not None
    assert last.reason.startswith("an operator has no translation (UnsupportedOperatorError")
    assert inventory.trace.unseen[0].startswith("The exported model: it cannot be exported.")


def test_a_model_that_cannot_be_built_is_told(older: None) -> None:
    def load() -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        raise ValueError("no such layer")

    with pytest.raises(ModelError, match="ValueError: no such layer"):
        OnnxExportTracer().trace(Recipe(load, HERE), OPTIONS, lambda stage: None)


def test_training_is_not_offline(older: None) -> None:
    assert (
        "Backward and optimizer: an offline model only runs forward."
        in traced(Model(), torch.randn(1, 3, 8, 8), train=True).trace.unseen
    )


# --- the comparison -------------------------------------------------------------------------------------------


def exported() -> onnx.ModelProto:
    return convolution()


def expected(x: torch.Tensor) -> torch.Tensor:
    return nn.functional.conv2d(x, torch.full((4, 3, 1, 1), 0.5)).relu()


def test_equal_results_are_equal() -> None:
    x = torch.randn(1, 3, 8, 8)
    found = compare(exported().SerializeToString(), [x], [expected(x)])
    assert (found.output, found.detail, found.skipped) == ("", "", "")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda y: y + 0.1, "by up to 0.1"),
        (lambda y: y[:, :2], "shape [1, 4, 8, 8] instead of [1, 2, 8, 8]"),
        (lambda y: y.double(), "float32 instead of float64"),
    ],
)
def test_other_results_are_told(change: Any, says: str) -> None:
    x = torch.randn(1, 3, 8, 8)
    found = compare(exported().SerializeToString(), [x], [change(expected(x))])
    assert found.output == "y"
    assert says in found.detail


def test_what_cannot_be_compared_says_why() -> None:
    x = torch.randn(1, 3, 8, 8)
    assert "takes 1 inputs, the module 2 tensors" in compare(exported().SerializeToString(), [x, x], []).skipped
    assert "has 1 outputs, the module 0" in compare(exported().SerializeToString(), [x], []).skipped
    assert "onnxruntime does not run it" in compare(b"no model", [x], [x]).skipped
