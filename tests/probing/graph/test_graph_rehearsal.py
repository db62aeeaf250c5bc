"""torchair's real conversion of small models, over its inert core and the simulated runtime."""

from __future__ import annotations

from collections.abc import Callable

from opscan.inventory import Inventory, OpCall, TensorSpec

Rehearse = Callable[..., Inventory]

BLOCKS = """
    import torch
    from torch import nn

    class Attention(nn.Module):
        def forward(self, x):
            return torch.softmax(x @ x.transpose(-2, -1), -1) @ x

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
            self.blocks = nn.ModuleList([nn.Linear(36, 36) for _ in range(2)])
            self.attention = Attention()

        def forward(self, x):
            x = self.stem(x).flatten(2)
            for block in self.blocks:
                x = nn.functional.gelu(block(x))
            return self.attention(x)

    def build_model():
        return Model()

    def example_inputs():
        return (torch.randn(2, 3, 8, 8),)
"""


def call(inventory: Inventory, name: str) -> OpCall:
    return next(c for c in inventory.calls if c.name == name)


def kernels(inventory: Inventory, name: str) -> list[str]:
    observed = call(inventory, name).observed
    assert observed is not None
    return [launch.api for launch in observed.launches]


def test_blocks_become_graph_engine_operators(rehearse: Rehearse) -> None:
    inventory = rehearse(BLOCKS)
    assert inventory.trace.complete
    assert inventory.parameters == 4 * 27 + 4 + 2 * 4 + 2 * (36 * 36 + 36)
    assert kernels(inventory, "aten::convolution") == ["GE Conv2D"]
    assert kernels(inventory, "aten::_native_batch_norm_legit_no_training") == ["GE BNInfer"]
    assert kernels(inventory, "aten::relu") == ["GE Relu"]
    assert "GE MatMulV2" in kernels(inventory, "aten::addmm")
    assert kernels(inventory, "aten::_softmax") == ["GE SoftmaxV2"]
    conv = call(inventory, "aten::convolution")
    assert conv.phase == "forward"
    assert conv.parameters == ("input", "weight", "bias")
    assert conv.inputs[0] == TensorSpec("float32", (2, 3, 8, 8))
    assert conv.outputs == (TensorSpec("float32", (2, 4, 6, 6)),)
    assert dict(conv.attributes)["groups"] == "1"
    assert (conv.location and (conv.location.file, conv.location.module)) == ("model.py", "stem.0")
    launch = conv.observed.launches[0] if conv.observed else None
    assert launch is not None
    assert [(a.name, a.kind, [t.dtype for t in a.tensors], a.formats) for a in launch.arguments] == [
        ("x", "T", ["float32"], ("NCHW",)),
        ("filter", "T", ["float32"], ("NCHW",)),
        ("bias", "T", ["float32"], ("NCHW",)),
        ("offset_w", "0", [], ()),
    ]
    modules = {c.location.module for c in inventory.calls if c.name == "aten::addmm" and c.location}
    assert modules == {"blocks.0", "blocks.1"}


REFUSED = """
    import torch

    class Model(torch.nn.Module):
        def forward(self, x):
            y = torch.lgamma(torch.exp(x))
            z = torch.roll(torch.tanh(y), 1)
            return z.abs()

    def build_model():
        return Model()

    def example_inputs():
        return (torch.randn(4),)
"""


def test_a_refusal_does_not_hide_the_next(rehearse: Rehearse) -> None:
    inventory = rehearse(REFUSED)
    refused = {c.name: c.observed.raised for c in inventory.calls if c.observed and c.observed.raised}
    assert set(refused) == {"aten::lgamma", "aten::roll"}
    assert "aten.roll.default ge_converter is not implemented" in refused["aten::roll"]
    # What stands before, between and behind them is converted, and needed.
    assert [kernels(inventory, f"aten::{name}") for name in ("exp", "tanh", "abs")] == [
        ["GE Exp"],
        ["GE Tanh"],
        ["GE Abs"],
    ]
    lines = {c.name: c.location.line for c in inventory.calls if c.location}
    assert (lines["aten::lgamma"], lines["aten::roll"]) == (6, 7)


BREAKING = """
    import torch

    class Model(torch.nn.Module):
        def forward(self, x):
            x = torch.exp(x)
            if x.sum() > 3:  # it is 4
                kept = x[torch.nonzero(x)]
                return torch.cos(kept)
            return torch.sin(x)

    def build_model():
        return Model()

    def example_inputs():
        return (torch.zeros(4),)
"""


def test_a_graph_break_is_a_finding_with_its_line(rehearse: Rehearse) -> None:
    inventory = rehearse(BREAKING)
    found = {place.line: f.facts["reason"] for f in inventory.findings if f.rule == "OPS607" for place in f.locations}
    assert set(found) == {7, 8}
    assert "Data-dependent branching" in found[7]
    assert "Dynamic shape operator" in found[8]
    assert not inventory.trace.complete
    assert "model.py:7, model.py:8; there run" in inventory.trace.unseen[0]
    assert "aten::nonzero" in inventory.trace.unseen[0]


def test_values_between_graphs_lead_the_model_the_right_way(rehearse: Rehearse) -> None:
    inventory = rehearse(BREAKING)
    assert kernels(inventory, "aten::cos") == ["GE Cos"]
    assert call(inventory, "aten::cos").inputs[0].shape == (4, 1)
    assert "aten::sin" not in {c.name for c in inventory.calls}


FAILING = """
    import torch

    class Model(torch.nn.Module):
        def forward(self, x):
            x = torch.exp(x)
            x = torch.nn.functional.interpolate(x, size=(4, 4), mode="bilinear", align_corners=False)
            return torch.cos(x)

    def build_model():
        return Model().to(memory_format=torch.channels_last)

    def example_inputs():
        return (torch.ones(1, 8, 4, 4).to(memory_format=torch.channels_last),)
"""


def test_what_torch_compile_itself_refuses_is_a_finding(rehearse: Rehearse) -> None:
    inventory = rehearse(FAILING)
    found = next(f for f in inventory.findings if f.rule == "OPS609")
    assert [(place.file, place.line) for place in found.locations] == [("model.py", 7)]
    assert "contiguous memory format" in found.facts["reason"]
    assert not inventory.trace.complete
    assert not inventory.trace.attempts[0].ok


def test_training_has_a_backward_graph(rehearse: Rehearse) -> None:
    inventory = rehearse(BLOCKS, train=True)
    backward = {c.name for c in inventory.calls if c.phase == "backward"}
    assert {"aten::convolution_backward", "aten::native_batch_norm_backward", "aten::threshold_backward"} <= backward
    assert "GE Conv2DBackpropFilter" in kernels(inventory, "aten::convolution_backward")
    places = {c.location.module for c in inventory.calls if c.name == "aten::convolution_backward" and c.location}
    assert places == {"stem.0"}
    assert [said for said in inventory.trace.unseen if "optimizer" in said]
