"""``--train``, ``--optimizer``, ``--amp``: from what is typed to what is run, without torch."""

from __future__ import annotations

import pytest

from opscan.cli.workload_options import OPTIMIZERS, parse_optimizer, parse_workload
from opscan.errors import UsageError
from opscan.workload import INFERENCE, Optimizer, Workload


def test_nothing_said_is_inference() -> None:
    assert parse_workload(False, None, "off") == INFERENCE


def test_training_steps_adamw() -> None:
    assert parse_workload(True, None, "off") == Workload(train=True, optimizer=Optimizer("adamw"))


def test_an_optimizer_asks_for_training() -> None:
    assert parse_workload(False, "sgd", "bf16") == Workload(train=True, optimizer=Optimizer("sgd"), amp="bf16")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SGD", Optimizer("sgd")),
        (
            "sgd:momentum=0.9,nesterov=true",
            Optimizer("sgd", (("momentum", "0.9"), ("nesterov", "True"))),
        ),
        ("adam:betas=(0.9, 0.95), amsgrad=True", Optimizer("adam", (("betas", "(0.9, 0.95)"), ("amsgrad", "True")))),
        ("adamw:clip_grad_norm=1", Optimizer("adamw", (), 1.0)),
        ("adamw:foreach=none", Optimizer("adamw", (("foreach", "None"),))),
        ("lbfgs:line_search_fn=strong_wolfe", Optimizer("lbfgs", (("line_search_fn", "'strong_wolfe'"),))),
        ("adamw:", Optimizer("adamw")),
    ],
)
def test_options_of_an_optimizer(text: str, expected: Optimizer) -> None:
    assert parse_optimizer(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("adamW2", "no such optimizer"),
        ("sgd:momentum", "'momentum' is no option"),
        ("sgd:momentum=0.9,nesterov", "is no value"),
        ("sgd:lr=1+1j*", "is no value"),
        ("adamw:clip_grad_norm=0", "above zero"),
        ("adamw:clip_grad_norm=true", "above zero"),
    ],
)
def test_what_cannot_be_meant(text: str, words: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_optimizer(text)
    assert words in raised.value.message
    assert raised.value.hint


def test_a_word_that_is_close_is_offered() -> None:
    with pytest.raises(UsageError) as raised:
        parse_optimizer("admaw")
    assert "Did you mean adamw?" in raised.value.hint
    assert all(name in raised.value.hint for name in OPTIMIZERS)


def test_no_other_precisions() -> None:
    with pytest.raises(UsageError):
        parse_workload(False, None, "fp8")
