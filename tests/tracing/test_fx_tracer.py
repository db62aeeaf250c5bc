"""The fx tracer: the same calls as eager mode from the same lines and modules, or the line that it cannot follow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from capturing import ARGUMENTS, NESTED, OWN_DERIVATIVE, Captures, assert_alike, scanner_of
from traced_files import Scanner, Trace

from opscan.errors import CaptureError, ModelError


@pytest.fixture(scope="module")
def scanner_fx() -> Iterator[Scanner]:
    with scanner_of("fx") as scanner:
        yield scanner


@pytest.fixture
def capture(scanner_fx: Scanner, tmp_path: Path) -> Captures:
    return lambda source, *inputs, train=False: scanner_fx(tmp_path, source, inputs, train)


@pytest.mark.parametrize("train", [False, True])
def test_calls_are_those_of_eager_mode(capture: Captures, trace: Trace, train: bool) -> None:
    captured, run = capture(NESTED, "2,3,8,8", train=train), trace(NESTED, "2,3,8,8", train=train)
    assert captured.inventory.trace.tracer == "fx"
    assert_alike(captured, run, train)


def test_a_derivative_of_the_models_own_is_kept(capture: Captures) -> None:
    captured = capture(OWN_DERIVATIVE, "2,4", train=True)
    assert "aten::sinh" in captured.names("backward")
    assert "aten::threshold_backward" not in captured.names("backward")


def test_arguments_of_all_kinds(capture: Captures) -> None:
    assert capture(ARGUMENTS).times("aten::add.Tensor") == 3


def test_operators_on_constants_are_seen(capture: Captures) -> None:
    captured = capture(
        """
        class Net(nn.Module):
            def forward(self, x):
                return x * torch.arange(4).float().exp()  # <-- here
        model = Net()
        """,
        "2,4",
    )
    assert captured.lines_of("aten::exp") == {captured.line()}
    assert captured.finding_lines("OPS602") == {captured.line()}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("if x.mean() > 0: x = x * 2", "control flow"),
        ("x = sum(row for row in x)", "cannot be iterated"),
        ("x = x * len(x)", "len"),
        ("x = x * int(x.sum())", "int()"),
    ],
)
def test_what_a_symbol_cannot_answer_is_told_with_its_line(capture: Captures, line: str, reason: str) -> None:
    source = f"""
        class Net(nn.Module):
            def forward(self, x):
                {line}
                return x
        model = Net()
        """
    with pytest.raises(CaptureError) as caught:
        capture(source, "2,4")
    assert "The tracer fx cannot follow the model at model.py:7" in caught.value.message
    assert reason in caught.value.message
    assert line in caught.value.message


def test_a_model_that_does_not_run_is_the_models_own_error(capture: Captures) -> None:
    source = """
        class Net(nn.Module):
            def forward(self, x):
                return x @ torch.ones(3, 3)
        model = Net()
        """
    with pytest.raises(ModelError, match=r"model.py:7: running the model failed"):
        capture(source, "2,4")
