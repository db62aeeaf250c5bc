"""The real torch_npu, on the simulated runtime: the worker's own path to a device, end to end."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from opscan.probing.environment import RehearsalEnvironment
from opscan.probing.pool import Options, run_pool
from opscan.probing.probe import NoNpu, greet
from opscan.probing.protocol import Limits, Outcome
from opscan.probing.signature import Signature, TensorArgument
from opscan.probing.simulator.build import environment_variables
from opscan.probing.worker_process import Start


def of(name: str, *shape: int, dtype: str = "float32", **attributes: str) -> Signature:
    return Signature(name, (TensorArgument("self", dtype, shape),), tuple(attributes.items()))


RELU, LGAMMA = of("aten::relu", 2, 3), of("aten::lgamma", 2, 3)
CHANNELS_LAST = of("aten::_to_copy", 1, 2, 3, 4, memory_format="torch.channels_last")
LOGCUMSUMEXP = of("aten::logcumsumexp", 2, 3, dim="0")
AGAIN = of("aten::lgamma", 3, 3)


@pytest.fixture(scope="module")
def start(rehearsal_environment: RehearsalEnvironment, simulated_runtime: Path) -> Start:
    variables = environment_variables(simulated_runtime, "ascend910b", "8.5.0")
    return Start(rehearsal_environment.interpreter, "npu", variables)


@pytest.fixture(scope="module")
def outcomes(start: Start) -> dict[Signature, Outcome]:
    signatures = [RELU, LGAMMA, AGAIN, LOGCUMSUMEXP, CHANNELS_LAST]
    found: dict[Signature, Outcome] = {}

    def listen(index: int, outcome: Outcome) -> None:
        found[signatures[index]] = outcome

    report = run_pool(start, (0,), signatures, Options(timing=Limits(0, 1)), listen, Event())
    assert report.complete
    assert report.devices[0].starts == 1
    return found


def test_it_knows_that_it_is_simulated(outcomes: dict[Signature, Outcome]) -> None:
    for outcome in outcomes.values():
        assert outcome.versions is not None
        assert (outcome.versions.soc, outcome.versions.cann) == ("Ascend910B3", "8.5.0")
        assert outcome.versions.torch_npu.startswith("2.13.0")
        assert outcome.versions.simulated
        assert outcome.status != "wrong"


def test_a_kernel_of_the_adapter_is_native(outcomes: dict[Signature, Outcome]) -> None:
    assert (outcomes[RELU].status, outcomes[RELU].kernels) == ("native", ("aclnnRelu",))


def test_a_fallback_is_seen_each_time_though_the_adapter_warns_once(outcomes: dict[Signature, Outcome]) -> None:
    assert (outcomes[LGAMMA].status, outcomes[LGAMMA].operators) == ("fallback", ("aten::lgamma.out",))
    assert (outcomes[AGAIN].status, outcomes[AGAIN].operators) == ("fallback", ("aten::lgamma",))


def test_a_fallback_below_the_operator_is_named(outcomes: dict[Signature, Outcome]) -> None:
    assert outcomes[LOGCUMSUMEXP].status == "fallback"
    assert outcomes[LOGCUMSUMEXP].operators == ("aten::_logcumsumexp",)


def test_a_refusal_of_the_adapter_carries_its_code(outcomes: dict[Signature, Outcome]) -> None:
    assert outcomes[CHANNELS_LAST].status == "refused"
    assert outcomes[CHANNELS_LAST].code == "ERR01007"


def test_a_device_that_is_not_there(start: Start) -> None:
    with pytest.raises(NoNpu, match="there is no device 77"):
        greet(start, (77,), 60.0, Event())
