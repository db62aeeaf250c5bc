"""The jit tracer: the same calls as eager mode from the same lines and modules, and what the trace took for granted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from capturing import ARGUMENTS, NESTED, OWN_DERIVATIVE, Captures, assert_alike, scanner_of
from traced_files import Scanner, Trace

from opscan.errors import CaptureError, ModelError


@pytest.fixture(scope="module")
def scanner_jit() -> Iterator[Scanner]:
    with scanner_of("jit") as scanner:
        yield scanner


@pytest.fixture
def capture(scanner_jit: Scanner, tmp_path: Path) -> Captures:
    return lambda source, *inputs, train=False: scanner_jit(tmp_path, source, inputs, train)


@pytest.mark.parametrize("train", [False, True])
def test_calls_are_those_of_eager_mode(capture: Captures, trace: Trace, train: bool) -> None:
    source = NESTED.replace("with torch.no_grad():", "if True:")
    captured, run = capture(source, "2,3,8,8", train=train), trace(source, "2,3,8,8", train=train)
    assert captured.inventory.trace.tracer == "jit"
    assert_alike(captured, run, train)


def test_a_derivative_of_the_models_own_is_kept(capture: Captures) -> None:
    captured = capture(OWN_DERIVATIVE, "2,4", train=True)
    assert "aten::sinh" in captured.names("backward")


def test_gradients_that_are_switched_off_are_told_as_unseen(capture: Captures) -> None:
    captured = capture(NESTED, "2,3,8,8", train=True)
    assert captured.inventory.trace.unseen == (
        f"Gradients that are switched off at model.py:{captured.line('off')}: what is captured has them on.",
    )


def test_arguments_of_all_kinds(capture: Captures) -> None:
    assert capture(ARGUMENTS).times("aten::add.Tensor") == 3


def test_what_the_trace_took_for_a_constant_is_a_finding(capture: Captures) -> None:
    captured = capture(
        """
        class Net(nn.Module):
            def forward(self, x):
                table = torch.rand(64, 64).numpy()
                y = x * 2 if x.sum() > 0 else x - 2  # <-- branch
                for row in y:  # <-- loop
                    y = y + row
                y = y * len(x)  # <-- length
                return y + torch.from_numpy(table)  # <-- table
        model = Net()
        """,
        "2,64,64",
    )
    assert captured.finding_lines("OPS603") >= {captured.line("branch")}
    assert captured.finding_lines("OPS632") == {captured.line("loop"), captured.line("length")}
    assert captured.finding_lines("OPS631") == {captured.line("table")}
    assert {f.facts["what"] for f in captured.findings("OPS631")} >= {"float32[64, 64], 16 KB"}
    assert not captured.complete
    assert any("only become values of Python" in words for words in captured.inventory.trace.unseen)


def test_a_write_to_shared_memory_is_a_finding(capture: Captures) -> None:
    captured = capture(
        """
        class Net(nn.Module):
            def forward(self, x):
                y = x * 2
                z = y.view(-1)
                y.add_(1)  # <-- here
                return y, z
        model = Net()
        """,
        "2,4",
    )
    assert captured.finding_lines("OPS633") <= {captured.line()}
    assert captured.names() == ["aten::mul.Tensor", "aten::view", "aten::add_.Tensor"]


def test_objects_in_the_result_are_not_looked_into(capture: Captures) -> None:
    captured = capture(
        """
        class Cache:
            def __init__(self, kept): self.kept = kept
        class Net(nn.Module):
            def forward(self, x):
                return x + 1, Cache(x * 2)
        model = Net()
        """,
        "2",
    )
    assert captured.inventory.trace.unseen == ("What is held by Cache in the result alone: the traced graph drops it.",)


def test_a_large_model_is_not_run(capture: Captures) -> None:
    with pytest.raises(CaptureError, match=r"its weights take 4\.0 GiB"):
        capture("model = nn.Linear(32768, 32768)", "1,32768")


def test_a_model_that_does_not_run_is_the_models_own_error(capture: Captures) -> None:
    source = """
        class Net(nn.Module):
            def forward(self, x):
                return x @ torch.ones(3, 3)
        model = Net()
        """
    with pytest.raises(ModelError, match=r"model.py:7: running the model failed"):
        capture(source, "2,4")
