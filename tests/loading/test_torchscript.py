"""Archives of torch.jit, run in Python: the same results as torch's own interpreter, seen call by call."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from opscan.errors import LoadError
from opscan.graphs.script_graph import Unsupported
from opscan.loading.inputs import parse_input_shape
from opscan.loading.reference import TorchScriptReference
from opscan.loading.torchscript import load

# ruff: noqa: SIM108, RUF005 — TorchScript reads these functions as they stand.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning")


class Branching(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.scale = 3

    def forward(self, x: torch.Tensor, times: int = 2) -> torch.Tensor:
        y = self.norm(self.first(x))
        for _ in range(times):
            y = y * self.scale
        for layer in self.layers:
            y = layer(y)
        if bool(y.sum() > 0):
            y = y.relu()
        else:
            y = self.other(y)
        return y

    def other(self, y: torch.Tensor) -> torch.Tensor:
        return y - 1


class Containers(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[dict[str, torch.Tensor], list[int], str]:
        parts: list[torch.Tensor] = []
        sizes = [1]
        for i in range(x.size(0)):
            parts.append(x[i] + i)
            sizes.append(i * 2)
        sizes.reverse()
        first, second = parts[0], parts[-1]
        named = {"a": first, "b": second}
        named["c"] = torch.stack(parts, dim=0).sum(dim=[0])
        n = int(x[0, 0] * 0 + 5)
        while n > 3:
            n -= 1
        return named, sizes[:2] + [n], f"of {n}"


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.LSTM(4, 3, 2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        return self.inner(x)


class WithBuffer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(1))
        self.count = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        self.seen = self.seen + 1
        return x * self.seen + self.count


class Seen(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, str, int]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        frame = inspect.currentframe().f_back  # type: ignore[union-attr]
        while frame is not None and frame.f_code.co_filename != __file__:
            frame = frame.f_back
        self.calls.append((func._schema.name, frame.f_code.co_name if frame else "", frame.f_lineno if frame else 0))
        return func(*args, **(kwargs or {}))


def saved(module: Any, path: Path) -> str:
    module.save(str(path / "m.pt"))
    return str(path / "m.pt")


def loaded(path: str, *shapes: str) -> Any:
    return load(TorchScriptReference(path), tuple(map(parse_input_shape, shapes)), train=False)


@pytest.mark.parametrize("module", [Branching(), Containers(), Recurrent(), nn.MultiheadAttention(4, 2)])
def test_scripted_modules_compute_the_same(tmp_path: Path, module: nn.Module) -> None:
    script = torch.jit.script(module.eval())
    shapes = ["3,1,4"] * (3 if isinstance(module, nn.MultiheadAttention) else 1)
    shapes = ["3,4"] if isinstance(module, (Branching, Containers)) else shapes
    model = loaded(saved(script, tmp_path), *shapes)
    with torch.no_grad():
        ours, theirs = model.callable(*model.args), script(*model.args)
    assert type(ours) is type(theirs)
    for mine, other in zip(tree_leaves(ours), tree_leaves(theirs), strict=True):
        assert torch.equal(mine, other) if isinstance(mine, torch.Tensor) else mine == other


def test_methods_functions_defaults_and_the_other_branch(tmp_path: Path) -> None:
    script = torch.jit.script(Branching().eval())
    model = loaded(saved(script, tmp_path), "2,4").callable
    assert list(inspect.signature(model.forward).parameters) == ["x", "times"]
    for x in (torch.ones(2, 4) * 9, -torch.ones(2, 4) * 9):
        torch.testing.assert_close(model(x), script(x))
        torch.testing.assert_close(model(x, times=0), script(x, times=0))


def test_parameters_keep_their_names_and_modules_their_hooks(tmp_path: Path) -> None:
    script = torch.jit.script(Branching())
    model = loaded(saved(script, tmp_path), "2,4").callable
    assert dict(model.named_parameters()).keys() == dict(script.named_parameters()).keys()
    called: list[str] = []
    for name, module in model.named_modules():
        module.register_forward_hook(lambda m, i, o, name=name: called.append(name))
    model(torch.rand(2, 4))
    assert called == ["first", "norm", "layers.0", "layers.1", ""]


def test_state_changes_as_in_the_script(tmp_path: Path) -> None:
    path = saved(torch.jit.script(WithBuffer()), tmp_path)
    model, script = loaded(path, "2").callable, torch.jit.load(path)
    for _ in range(2):
        torch.testing.assert_close(model(torch.ones(2)), script(torch.ones(2)))


def test_calls_come_from_the_line_of_the_source(tmp_path: Path) -> None:
    model = loaded(saved(torch.jit.script(Branching()), tmp_path), "2,4")
    with Seen() as seen, torch.no_grad():
        model.callable(*model.args)
    lines, first = inspect.getsourcelines(Branching.forward)
    multiplied = first + next(i for i, line in enumerate(lines) if "y * self.scale" in line)
    assert {line for name, function, line in seen.calls if name == "aten::mul"} == {multiplied}
    assert {function for _, function, _ in seen.calls} == {"forward"}


def test_traced_modules_bring_the_shapes_of_their_inputs(tmp_path: Path) -> None:
    class Ids(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(9, 4)

        def forward(self, ids: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
            return self.table(ids) * scale

    script = torch.jit.trace(Ids(), (torch.zeros(2, 3, dtype=torch.int64), torch.rand(4)))
    model = loaded(saved(script, tmp_path))
    assert [(a.dtype, tuple(a.shape)) for a in model.args] == [(torch.int64, (2, 3)), (torch.float32, (4,))]
    assert "int64[2, 3]" in model.notes[0].en
    torch.testing.assert_close(model.callable(*model.args), script(*model.args))


def test_scripted_modules_need_inputs(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"takes inputs \(x\)") as raised:
        loaded(saved(torch.jit.script(Branching()), tmp_path))
    assert "--input-shape" in raised.value.hint


def test_training_mode_and_gradients(tmp_path: Path) -> None:
    path = saved(torch.jit.script(Branching()), tmp_path)
    model = load(TorchScriptReference(path), (parse_input_shape("3,4"),), train=True)
    model.callable(*model.args).sum().backward()
    assert model.callable.training
    assert all(p.grad is not None for p in model.callable.parameters())


def test_a_traced_convolution_is_the_call_that_eager_mode_makes(tmp_path: Path) -> None:
    module = nn.Conv2d(2, 3, 2, stride=2, padding=1, dilation=2, bias=False)
    x = torch.rand(1, 2, 8, 8)
    model = loaded(saved(torch.jit.trace(module, (x,)), tmp_path))
    with Seen() as seen:
        out = model.callable(x)
    assert [name for name, _, _ in seen.calls] == ["aten::convolution"]
    torch.testing.assert_close(out, module(x))


def test_what_is_not_run_is_named(tmp_path: Path) -> None:
    class Forks(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.jit.wait(torch.jit.fork(torch.relu, x))

    model = loaded(saved(torch.jit.script(Forks()), tmp_path), "2")
    with pytest.raises(Unsupported, match="prim::fork"):
        model.callable(*model.args)


def test_a_damaged_archive(tmp_path: Path) -> None:
    (tmp_path / "m.pt").write_bytes(b"PK\3\4")
    with pytest.raises(LoadError, match=r"cannot read m\.pt"):
        loaded(str(tmp_path / "m.pt"), "2")
