"""Graphs of torch.fx, run node by node: the same results, from the lines and in the modules that nodes name."""

from __future__ import annotations

import sys
import traceback

import torch
from torch import fx, nn
from torch.nn.modules.module import register_module_forward_pre_hook

from opscan.graphs.exported import module_of_program
from opscan.graphs.fx_graph import GraphProgram, Surroundings, lines_of, module_of


class Inner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return witness(self.lin(x)) + 1


class Outer(nn.Module):
    """Its modules have names that a module's own methods have, too."""

    def __init__(self) -> None:
        super().__init__()
        self.scope = Inner()
        self.hold = nn.ModuleList([Inner()])
        self.register_buffer("bias", torch.ones(3))

    def forward(self, x: torch.Tensor, scale: int = 2) -> torch.Tensor:
        return self.hold[0](self.scope(x)) * scale + self.bias


SEEN: list[tuple[str, int]] = []


@fx.wrap
def witness(x: torch.Tensor) -> torch.Tensor:
    """Notes the line that calls it, as it is seen on the stack."""
    frames = traceback.extract_stack(sys._getframe(1))
    SEEN.append(next((f.filename, f.lineno or 0) for f in reversed(frames) if f.filename == __file__))
    return x


def captured(model: nn.Module) -> GraphProgram:
    tracer = fx.Tracer()
    tracer.record_stack_traces = True
    return GraphProgram(fx.GraphModule(model, tracer.trace(model)))


def test_results_are_the_models() -> None:
    model = Outer()
    program, x = captured(model), torch.rand(2, 3)
    assert torch.equal(program(x), model(x))
    assert torch.equal(program(x, scale=3), model(x, 3))
    assert {n for n, _ in program.named_parameters()} == {n for n, _ in model.named_parameters()}
    assert [n for n, _ in program.named_buffers()] == ["bias"]


def test_calls_come_from_the_lines_and_modules_of_the_model() -> None:
    program = captured(Outer())
    names = {id(module): name for name, module in program.named_modules()}
    entered: list[str] = []
    hook = register_module_forward_pre_hook(lambda module, args: entered.append(names.get(id(module), "?")))
    SEEN.clear()
    try:
        program(torch.rand(2, 3))
    finally:
        hook.remove()
    line = Inner.forward.__code__.co_firstlineno + 1
    assert [(__file__, line)] * 2 == SEEN
    # The program itself; then of each inner module its linear layer, the function and the sum.
    assert [name for name in entered if name.endswith("lin")] == ["scope.lin", "hold.0.lin"]
    assert {"scope", "hold.0"} < set(entered)


def test_an_exported_program_keeps_containers_and_regions_without_gradients() -> None:
    class Net(nn.Module):
        def forward(self, x: dict[str, torch.Tensor], *, k: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
            with torch.no_grad():
                y = x["a"] * 2
            return y, [x["b"] + k]

    args, kwargs = ({"a": torch.ones(2, requires_grad=True), "b": torch.zeros(2)},), {"k": torch.ones(2)}
    program = GraphProgram(module_of_program(torch.export.export(Net(), args, kwargs, strict=False)))
    first, (second,) = program(*args, **kwargs)
    assert first.tolist() == [2, 2]
    assert not first.requires_grad
    assert second.tolist() == [1, 1]


def test_surroundings_are_those_of_the_capture() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    without, low = graph.call_function(torch.mul, (x, x)), graph.call_function(torch.mm, (x, x))
    Surroundings(False, "cpu", None).put_on(without)
    Surroundings(True, "cpu", torch.bfloat16).put_on(low)
    graph.output((without, low))
    without_gradient, lower = GraphProgram(fx.GraphModule(nn.Module(), graph))(torch.ones(2, 2, requires_grad=True))
    assert not without_gradient.requires_grad
    assert lower.dtype is torch.bfloat16
    assert lower.requires_grad


def test_a_node_says_where_it_is_from() -> None:
    graph = fx.Graph()
    node = graph.call_function(torch.add, (1, 2))
    assert lines_of(node) == ()
    assert module_of(node) == ""
    library = torch.nn.functional.__file__
    node.stack_trace = f'File "/m.py", line 3, in forward\n  a\nFile "{library}", line 9, in f\n  b'
    node.meta["nn_module_stack"] = {"a": ("", Outer), "b": ("block@1", Inner)}
    assert lines_of(node) == (("/m.py", 3),)
    assert module_of(node) == "block"
