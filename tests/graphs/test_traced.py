"""Graphs of torch.jit.trace, with the calls that eager mode makes in place of those that the trace writes down."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from opscan.graphs.traced import TracedProgram

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning")


class Operators(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func.name())
        return func(*args, **(kwargs or {}))


def program_of(model: nn.Module, *inputs: torch.Tensor) -> TracedProgram:
    graph, _ = torch.jit._trace._get_trace_graph(model, inputs, strict=False)
    state = torch.jit._trace._unique_state_dict(model, keep_vars=True)
    return TracedProgram(graph, state, model.training, torch.device("cpu"))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.register_buffer("shift", torch.ones(2, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        table = torch.arange(4.0, device=x.device)
        return (self.conv(x)[:, :, 0] + self.shift[:, 0]) * table.sum()


def test_the_same_result_and_operators_as_eager_mode() -> None:
    model, x = Net(), torch.rand(1, 1, 4, 4)
    program = program_of(model, x)
    with torch.no_grad():
        with Operators() as eager:
            expected = model(x)
        with Operators() as traced:
            found = program(x)
    assert torch.equal(found, expected)
    assert traced.names == eager.names
    assert [name for name, _ in program.named_parameters()] == ["conv.weight", "conv.bias"]


def test_constants_are_buffers() -> None:
    class Table(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + torch.tensor([1.0, 2.0])

    program = program_of(Table(), torch.zeros(2))
    assert [buffer.tolist() for buffer in program.buffers()] == [[1.0, 2.0]]
    assert program(torch.zeros(2)).tolist() == [1.0, 2.0]


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, times: float) -> torch.Tensor:
        return x * times

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        return gradients[0] * 100, None


def test_a_derivative_of_the_models_own_is_kept() -> None:
    class Gate(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return Doubled.apply(x, 2.0)  # type: ignore[no-any-return]

    x = torch.ones(2, requires_grad=True)
    out = program_of(Gate(), x)(x)
    out.sum().backward()
    assert out.tolist() == [2, 2]
    assert x.grad is not None
    assert x.grad.tolist() == [100, 100]


def test_a_device_in_the_graph_is_the_one_given() -> None:
    class Made(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.zeros(2, device=x.device)

    graph, _ = torch.jit._trace._get_trace_graph(Made(), (torch.ones(2),), strict=False)
    assert TracedProgram(graph, {}, False, torch.device("meta"))(torch.ones(2)).device.type == "meta"
