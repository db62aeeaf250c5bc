"""One signature on a device that follows a script: the order of the stages, and what each outcome rests on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from opscan.probing.device import Seen
from opscan.probing.protocol import Limits, Outcome, Run, Stage, Versions
from opscan.probing.signature import Signature, TensorArgument
from opscan.probing.trying import try_signature


class ScriptedDevice:
    """Runs on the CPU; ``answer`` makes of the true result what the device returns, or raises."""

    name = "cpu"
    count = 1

    def __init__(self, answer: Callable[[Any], Any] = lambda result: Seen(result), simulated: bool = False) -> None:
        self.versions = Versions("2", "2", "8", "chip", simulated)
        self.answer = answer
        self.healthy = True
        self.runs = 0

    def observe(self, signature: Signature, call: Callable[[], Any]) -> Seen:
        seen = self.answer(call())
        assert isinstance(seen, Seen)
        return seen

    def synchronize(self) -> None:
        self.runs += 1

    def empty_cache(self) -> None:
        pass

    def prepare(self, model: torch.nn.Module) -> None:
        pass

    def computes(self) -> bool:
        return self.healthy


def tensor(parameter: str, *shape: int, dtype: str = "float32") -> TensorArgument:
    return TensorArgument(parameter, dtype, shape)


RELU = Signature("aten::relu", (tensor("self", 2, 3),))
ADD_ = Signature("aten::add_.Tensor", (tensor("self", 4), tensor("other", 4)), (("alpha", "2"),))


def attempt(
    device: ScriptedDevice, signature: Signature, **more: Any
) -> tuple[Outcome, bool, list[tuple[Stage, Outcome | None]]]:
    stages: list[tuple[Stage, Outcome | None]] = []

    def report(stage: Stage, so_far: Outcome | None = None) -> None:
        stages.append((stage, so_far))

    outcome, healthy = try_signature(device, Run(1, signature, limits=Limits(1, 3), **more), report)
    return outcome, healthy, stages


def test_all_stages_of_an_operator_that_runs() -> None:
    outcome, healthy, stages = attempt(ScriptedDevice(), RELU)
    assert [stage for stage, _ in stages] == ["arguments", "reference", "device", "comparison", "timing"]
    assert (outcome.status, healthy) == ("native", True)
    assert outcome.errors is not None
    assert outcome.errors.max_abs == 0.0
    assert outcome.latency is not None
    assert (outcome.latency.runs, outcome.latency.least <= outcome.latency.median) == (3, True)
    known = dict(stages)
    assert known["comparison"] == Outcome("native", versions=outcome.versions)
    assert known["timing"] is not None
    assert known["timing"].errors == outcome.errors


def test_an_operator_in_place_is_compared_by_what_it_wrote() -> None:
    def forgetful(result: torch.Tensor) -> Seen:
        result.zero_()
        return Seen(result)

    assert attempt(ScriptedDevice(), ADD_)[0].status == "native"
    assert attempt(ScriptedDevice(forgetful), ADD_)[0].status == "wrong"


def test_a_wrong_result_says_how_wrong() -> None:
    outcome, _, _ = attempt(ScriptedDevice(lambda result: Seen(result + 1)), RELU)
    assert outcome.status == "wrong"
    assert outcome.message
    assert outcome.errors is not None
    assert outcome.errors.max_abs == pytest.approx(1.0, abs=1e-6)
    assert outcome.latency is not None


def test_what_was_seen_inside_is_kept() -> None:
    seen = lambda result: Seen(result, ("aten::relu",), ("aclnnRelu",))  # noqa: E731
    outcome, _, _ = attempt(ScriptedDevice(seen), RELU)
    assert (outcome.status, outcome.operators, outcome.kernels) == ("fallback", ("aten::relu",), ("aclnnRelu",))


def test_an_error_of_the_device_is_a_refusal_with_its_words() -> None:
    def refuse(result: Any) -> Seen:
        raise RuntimeError("error code is 161002")

    device = ScriptedDevice(refuse)
    device.healthy = False
    outcome, healthy, _ = attempt(device, RELU)
    assert (outcome.status, outcome.message, healthy) == ("refused", "RuntimeError: error code is 161002", False)


def test_arguments_that_the_cpu_refuses_too_say_nothing_of_the_operator() -> None:
    mismatched = Signature("aten::mm", (tensor("self", 2, 3), tensor("mat2", 5, 2)))
    outcome, _, stages = attempt(ScriptedDevice(), mismatched)
    assert outcome.status == "not_run"
    assert "the arguments made for it do not fit" in outcome.message
    assert stages[-1][0] == "device"


def test_a_call_that_torch_does_not_begin_says_nothing_of_the_operator() -> None:
    def refuse(result: Any) -> Seen:
        raise RuntimeError("aten::x() Expected a value of type 'int' for argument 'dim'")

    assert attempt(ScriptedDevice(refuse), RELU, compare=False)[0].status == "not_run"


def test_an_operator_that_torch_does_not_know_is_not_run() -> None:
    outcome, healthy, stages = attempt(ScriptedDevice(), Signature("mine::op"))
    assert (outcome.status, healthy) == ("not_run", True)
    assert "mine::op" in outcome.message
    assert [stage for stage, _ in stages] == ["arguments"]


def test_a_size_without_a_number_is_not_run() -> None:
    outcome, _, _ = attempt(ScriptedDevice(), Signature("aten::relu", (TensorArgument("self", "float32", ("n", 3)),)))
    assert outcome.status == "not_run"
    assert "n" in outcome.message


def test_without_a_reference_it_is_run_and_not_compared() -> None:
    outcome, _, _ = attempt(ScriptedDevice(lambda result: Seen(result + 1)), RELU, compare=False)
    assert (outcome.status, outcome.errors) == ("native", None)
    assert outcome.note.startswith("not compared")


def test_a_simulated_device_is_never_wrong() -> None:
    outcome, _, _ = attempt(ScriptedDevice(lambda result: Seen(result * 0 + 7), simulated=True), RELU)
    assert (outcome.status, outcome.errors) == ("native", None)
    assert outcome.versions is not None
    assert outcome.versions.simulated
