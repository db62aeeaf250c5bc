"""The export tracer: the same calls as eager mode from the same lines and modules, or the reason why not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from capturing import ARGUMENTS, NESTED, OWN_DERIVATIVE, Captures, assert_alike, places, scanner_of
from traced_files import Scanner, Trace

from opscan.errors import CaptureError, ModelError


@pytest.fixture(scope="module")
def scanner_export() -> Iterator[Scanner]:
    with scanner_of("export") as scanner:
        yield scanner


@pytest.fixture
def capture(scanner_export: Scanner, tmp_path: Path) -> Captures:
    return lambda source, *inputs, train=False: scanner_export(tmp_path, source, inputs, train)


@pytest.mark.parametrize("train", [False, True])
def test_calls_are_those_of_eager_mode(capture: Captures, trace: Trace, train: bool) -> None:
    captured, run = capture(NESTED, "2,3,8,8", train=train), trace(NESTED, "2,3,8,8", train=train)
    assert captured.inventory.trace.tracer == "export"
    assert_alike(captured, run, train)


def test_a_derivative_of_the_models_own_is_told_as_unseen(capture: Captures) -> None:
    captured = capture(OWN_DERIVATIVE, "2,4", train=True)
    assert not captured.complete
    assert "The derivative that Gate defines itself" in captured.inventory.trace.unseen[0]


def test_arguments_of_all_kinds(capture: Captures) -> None:
    assert capture(ARGUMENTS).times("aten::add.Tensor") == 3


def test_results_that_nothing_uses_are_seen(capture: Captures) -> None:
    captured = capture(
        """
        class Net(nn.Module):
            def forward(self, x):
                x.exp()
                return x + 1
        model = Net()
        """,
        "2,4",
    )
    assert captured.names() == ["aten::exp", "aten::add.Tensor"]


def test_a_branch_on_data_is_a_reason(capture: Captures) -> None:
    source = """
        class Net(nn.Module):
            def forward(self, x):
                return x * 2 if x.mean() > 0 else x
        model = Net()
        """
    with pytest.raises(CaptureError) as caught:
        capture(source, "2,4")
    assert "at model.py:7: the path depends on data (GuardOnDataDependentSymNode" in caught.value.message


def test_sizes_that_depend_on_data_are_assumed(capture: Captures) -> None:
    captured = capture(
        """
        class Net(nn.Module):
            def forward(self, x):
                return x[x > 0].exp()  # <-- here
        model = Net()
        """,
        "2,4",
    )
    assert captured.finding_lines("OPS603") == {captured.line()}
    assert "aten::exp" in captured.names()


def test_state_that_changes_is_a_finding(capture: Captures) -> None:
    captured = capture(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("cache", torch.zeros(4, 4))
            def forward(self, x):
                self.cache[0] = x  # <-- here
                return self.cache * 2
        model = Net()
        """,
        "4",
    )
    (finding,) = captured.findings("OPS634")
    assert finding.facts == {"what": "the buffer cache"}
    assert captured.finding_lines("OPS634") == {captured.line()}


def test_a_model_that_does_not_run_is_the_models_own_error(capture: Captures) -> None:
    source = """
        class Net(nn.Module):
            def forward(self, x):
                return x @ torch.ones(3, 3)
        model = Net()
        """
    with pytest.raises(ModelError, match=r"model.py:7: running the model failed"):
        capture(source, "2,4")


def test_constants_are_lifted_as_in_eager_mode(capture: Captures, trace: Trace) -> None:
    source = """
        class Net(nn.Module):
            def forward(self, x):
                low = torch.tensor(-1.0, device=x.device)
                return torch.where(x > 0, x, low) + torch.tensor([1.0, 2.0])  # <-- here
        model = Net()
        """
    captured, run = capture(source, "2,2"), trace(source, "2,2")
    assert places(captured) == places(run)
    assert captured.finding_lines("OPS602") == {captured.line()}


def test_a_tensor_without_elements_is_captured(capture: Captures) -> None:
    captured = capture(
        """
        class Net(nn.Module):
            def forward(self, x):
                return torch.cat([torch.tensor([], dtype=x.dtype, device=x.device), x], -1)
        model = Net()
        """,
        "2",
    )
    assert captured.times("aten::cat") == 1
