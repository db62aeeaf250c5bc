"""``--optimizer``: the operators of one step, as torch takes it on an npu; none of torch's ends a trace."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from traced_files import Trace

from opscan.cli.workload_options import OPTIMIZERS
from opscan.errors import UsageError

LINEAR = "model = nn.Linear(8, 4)"


def test_every_optimizer_of_torch_has_a_name() -> None:
    classes = [c for c in vars(torch.optim).values() if isinstance(c, type) and issubclass(c, torch.optim.Optimizer)]
    assert {c.__name__.lower() for c in classes} - {"optimizer"} <= set(OPTIMIZERS)


def _is_here(name: str) -> bool:
    return any(kind.lower() == name for kind in vars(torch.optim))


@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if _is_here(name) and name != "sparseadam"])
def test_a_step_of_each(trace: Trace, name: str) -> None:
    found = trace(LINEAR, "2,8", optimizer=name)
    assert found.names("optimizer")
    assert not found.failed
    assert not found.findings()


def test_the_options_are_the_constructors(trace: Trace) -> None:
    plain = trace(LINEAR, "2,8", optimizer="sgd").names("optimizer")
    nesterov = trace(LINEAR, "2,8", optimizer="sgd:momentum=0.9,nesterov=true").names("optimizer")
    assert plain == ["aten::_foreach_add_.List"]
    assert nesterov.count("aten::_foreach_add_.List") == 1
    assert "aten::_foreach_add.List" in nesterov or "aten::clone" in nesterov


def test_one_kernel_for_the_whole_step(trace: Trace) -> None:
    found = trace(LINEAR, "2,8", optimizer="adamw:fused=true")
    assert "aten::_fused_adamw_" in found.names("optimizer")


def test_loops_over_single_tensors(trace: Trace) -> None:
    found = trace(LINEAR, "2,8", optimizer="adamw:foreach=false")
    assert found.times("aten::addcdiv_", "optimizer") == 2
    assert not any("_foreach_" in name for name in found.names("optimizer"))


def test_older_chips_loop_over_single_tensors(trace_for: Callable[..., Trace]) -> None:
    found = trace_for("2.13.0", "ascend310p")(LINEAR, "2,8", train=True)
    assert found.times("aten::addcdiv_", "optimizer") == 2
    assert not any("_foreach_" in name for name in found.names("optimizer"))


def test_clipped_gradients(trace: Trace) -> None:
    found = trace(LINEAR, "2,8", optimizer="sgd:clip_grad_norm=1.0")
    names = found.names("optimizer")
    assert names.index("aten::_foreach_norm.Scalar") < names.index("aten::_foreach_add_.List")
    assert "aten::clamp" in names


def test_muon_takes_matrices_alone(trace: Trace) -> None:
    found = trace(LINEAR, "2,8", optimizer="muon")
    assert "aten::_foreach_addcdiv_.ScalarList" not in found.names("optimizer")
    (unseen,) = found.inventory.trace.unseen
    assert unseen.startswith("The optimizer step of 1 among 2 parameters: Muon takes matrices only")
    assert trace("model = nn.Linear(8, 4, bias=False)", "2,8", optimizer="muon").complete


def test_what_takes_sparse_gradients_alone(trace: Trace) -> None:
    dense = trace(LINEAR, "2,8", optimizer="sparseadam")
    assert "SparseAdam does not take these gradients" in dense.inventory.trace.unseen[0]
    assert not dense.failed


def test_an_optimizer_that_asks_for_the_loss_again(trace: Trace) -> None:
    found = trace(LINEAR, "2,8", optimizer="lbfgs:max_iter=2")
    assert found.times("aten::addmm") > 1
    assert "aten::_local_scalar_dense" in found.names("optimizer")
    assert "LBFGS asks for values" in found.inventory.trace.unseen[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sgd:nestrov=true", "no option of that name"),
        ("sgd:nesterov=true", "does not take these options: ValueError: Nesterov"),
        ("adamw:lr=-1", "does not take these options: ValueError: Invalid learning rate"),
    ],
)
def test_options_that_torch_refuses(trace: Trace, text: str, words: str) -> None:
    with pytest.raises(UsageError) as raised:
        trace(LINEAR, "2,8", optimizer=text)
    assert words in raised.value.message
    assert "momentum" in raised.value.hint or "betas" in raised.value.hint
