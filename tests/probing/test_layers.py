from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from opscan.probing.layers.comparing import compare_layers
from opscan.probing.layers.report import LayerReport, NoLayers
from opscan.tracing.interface import Recipe

HERE = Path(__file__).resolve()


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + functional.dropout(self.linear(self.norm(x)), 0.2, self.training)


class Net(nn.Module):
    def __init__(self, blocks: int = 4, width: int = 32) -> None:
        super().__init__()
        self.blocks = nn.Sequential(*(Block(width) for _ in range(blocks)))
        self.head = nn.Linear(width, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(x))


class Convolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm2d(8)
        self.relu = nn.ReLU(inplace=True)
        self.last = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.relu(self.norm(self.first(x))).mean((2, 3)))


def recipe(kind: Callable[[], nn.Module], *args: Tensor) -> Recipe:
    return Recipe(lambda: (kind(), args, {}), HERE.parent)


def compare(model: Callable[[], nn.Module], *args: Tensor, **more: Any) -> LayerReport:
    return compare_layers(recipe(model, *args), "cpu", **more)


def data(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(7))


def wrong(path: str, change: Callable[[Tensor], Tensor]) -> Callable[[nn.Module], None]:
    """Changes the result of one module of the device's copy."""

    def apply(model: nn.Module) -> None:
        module = model.get_submodule(path)
        forward = module.forward
        module.forward = lambda *args, **kwargs: change(forward(*args, **kwargs))

    return apply


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_model_on_the_cpu_agrees_with_itself(train: bool, dtype: torch.dtype) -> None:
    report = compare(lambda: Net().to(dtype), data(6, 32).to(dtype), train=train)
    assert report.first is None
    assert report.agrees
    assert {layer.status for layer in report.layers} == {"agrees"}
    assert [layer.module for layer in report.layers][:3] == ["blocks.0.norm", "blocks.0.linear", "blocks.0"]
    assert [layer.module for layer in report.layers][-1] == ""


def test_the_first_wrong_module_is_named_with_its_class() -> None:
    report = compare(Net, data(6, 32), on_device=wrong("blocks.1.linear", lambda out: out * 1.01))
    assert report.first is not None
    assert report.first.module == "blocks.1.linear"
    assert (report.first.kind, report.first.order) == ("Linear", 5)
    assert report.first.errors is not None
    assert report.first.errors.max_rel == pytest.approx(0.01, rel=0.01)
    departing = [layer.module for layer in report.layers if layer.status == "departs"]
    assert departing == ["blocks.1.linear", "blocks.1", "blocks", ""]  # those after it are not blamed


def test_code_between_modules_is_blamed_on_the_module_around_it() -> None:
    report = compare(Net, data(6, 32), on_device=wrong("blocks.2", lambda out: out + 0.1))
    assert report.first is not None
    assert (report.first.module, report.first.kind) == ("blocks.2", "Block")
    assert report.first.file == HERE.name
    assert report.first.line == Block.__init__.__code__.co_firstlineno - 1


def test_not_a_number_and_another_shape_are_found() -> None:
    def nan(out: Tensor) -> Tensor:
        out = out.clone()
        out[0, 0] = float("nan")
        return out

    report = compare(Net, data(6, 32), on_device=wrong("head", nan))
    assert report.first is not None
    assert report.first.errors is not None
    assert (report.first.module, report.first.errors.nonfinite) == ("head", 1)
    shorter = compare(Net, data(6, 32), on_device=wrong("head", lambda out: out[:, :4]))
    assert shorter.first is not None
    assert "shape [6, 4]" in shorter.first.message


def test_modules_that_work_in_place_and_keep_statistics_agree_in_training() -> None:
    report = compare(Convolutions, data(4, 3, 8, 8), train=True)
    assert report.agrees
    assert {layer.status for layer in report.layers} == {"agrees"}


def test_dropout_is_off_and_that_is_said() -> None:
    assert any("dropout was off" in note for note in compare(Net, data(6, 32), train=True).notes)
    assert compare(Net, data(6, 32)).notes == ()


def test_a_wrong_gradient_is_found_though_the_forward_pass_agrees() -> None:
    def twice(model: nn.Module) -> None:
        model.get_parameter("blocks.1.linear.weight").register_hook(lambda grad: grad * 2)

    report = compare(Net, data(6, 32), train=True, on_device=twice)
    assert report.first is None
    assert [layer.module for layer in report.gradients] == ["blocks.1.linear.weight"]
    assert not report.agrees


def test_what_draws_random_numbers_is_not_compared() -> None:
    class Noisy(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + torch.randn_like(x)

    report = compare(lambda: nn.Sequential(Noisy(), nn.Linear(8, 2)), data(3, 8))
    assert report.first is None
    assert [(layer.kind, layer.status) for layer in report.layers] == [
        ("Noisy", "open"), ("Linear", "agrees"), ("Sequential", "open"),
    ]  # fmt: skip
    assert report.layers[0].message == "not compared: it draws random numbers"


def test_a_module_that_fixes_its_dtype_is_compared_in_it() -> None:
    class Fixed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(8, 8))

        def forward(self, x: Tensor) -> Tensor:
            return x.to(torch.float32) @ self.weight

    assert [layer.status for layer in compare(Fixed, data(3, 8)).layers] == ["agrees"]


def test_a_function_has_no_layers() -> None:
    def function(x: Tensor) -> Tensor:
        return x

    with pytest.raises(NoLayers, match="function"):
        compare_layers(Recipe(lambda: (function, (data(2),), {}), HERE.parent), "cpu")


def test_a_model_that_differs_when_built_again_is_refused() -> None:
    widths = iter([4, 5, 6])
    with pytest.raises(NoLayers, match="built again"):
        compare(lambda: nn.Linear(3, next(widths)), data(2, 3))
