"""Two hundred operators, one in ten of them faulty, through the real worker program on the CPU."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from threading import Event

import msgspec
import pytest
from processes import NAME, all_ended, new_mark

from opscan.probing.fake_device import ENVIRONMENT, Fault, Faults
from opscan.probing.pool import Options, PoolReport, run_pool
from opscan.probing.protocol import Limits, Outcome
from opscan.probing.signature import Signature, TensorArgument
from opscan.probing.worker_process import Start

OPERATORS = ("relu", "sigmoid", "exp", "tanh", "neg", "abs")
SIGNATURES = [
    Signature(f"aten::{OPERATORS[number % 6]}", (TensorArgument("self", "float32", (2, 3 + number)),))
    for number in range(200)
]

#: Fault → the status that it must end in.
ENDS = {
    "segfault": "crashed", "exit": "crashed", "garbage": "crashed", "truncated": "crashed",
    "hang": "timeout", "stop": "timeout", "flood": "timeout",
    "nan": "wrong", "wrong": "wrong", "refused": "refused", "fallback": "fallback",
    "device_lost": "device_lost", "out_of_memory": "out_of_memory", "slow": "native",
}  # fmt: skip

#: A tenth of the operators, each kind at least once, in some order.
KINDS = (
    "segfault", "nan", "hang", "out_of_memory", "garbage", "refused", "exit", "fallback", "device_lost", "wrong",
    "stop", "truncated", "slow", "flood", "segfault", "nan", "out_of_memory", "device_lost", "refused", "wrong",
)  # fmt: skip

Ran = tuple[list[Outcome], PoolReport]


def run(
    folder: Path, calls: dict[str, Fault], starts: dict[str, str], signatures: list[Signature], retries: int
) -> Ran:
    """An outcome for each signature, and no process left."""
    plan = folder / "faults.json"
    plan.write_bytes(msgspec.json.encode(Faults(str(folder / "state"), calls, starts)))
    mark = new_mark()
    start = Start(Path(sys.executable), "fake", {ENVIRONMENT: str(plan), NAME: mark})
    options = Options(
        time_limit=2.0, first_extra=20.0, start_limit=20.0, start_pause=0.05, retries=retries, timing=Limits(0, 1)
    )
    outcomes: dict[int, Outcome] = {}

    def listen(index: int, outcome: Outcome) -> None:
        assert index not in outcomes
        outcomes[index] = outcome

    report = run_pool(start, (0, 1), signatures, options, listen, Event())
    assert all_ended(mark)
    assert sorted(outcomes) == list(range(len(signatures)))
    return [outcomes[index] for index in range(len(signatures))], report


def test_no_result_is_lost_and_no_process_left(tmp_path: Path) -> None:
    faulty = dict(zip(range(4, 200, 10), KINDS, strict=True))
    calls = {SIGNATURES[index].key: Fault(kind) for index, kind in faulty.items()}  # type: ignore[arg-type]
    starts = {"3": "die", "6": "garbage", "9": "unable"}
    outcomes, report = run(tmp_path, calls, starts, SIGNATURES, retries=0)

    expected = ["native" if index not in faulty else ENDS[faulty[index]] for index in range(200)]
    assert [outcome.status for outcome in outcomes] == expected
    assert Counter(expected)["native"] == 181
    assert set(faulty.values()) == set(ENDS)
    assert report.complete
    assert not any(device.given_up for device in report.devices)
    # Two at first, one after each loss, one for those that ran out of memory and one after it.
    losses = sum(ENDS[kind] in ("crashed", "timeout", "device_lost") for kind in faulty.values())
    assert sum(device.starts for device in report.devices) <= 2 + losses + 1

    by_kind = {kind: outcomes[index] for index, kind in faulty.items()}
    assert by_kind["segfault"].code == "SIGSEGV"
    assert "exit code 3" in by_kind["exit"].message
    assert by_kind["device_lost"].code == "507010"
    assert by_kind["refused"].code == "EZ1001"
    assert by_kind["fallback"].operators == ("aten::fake",)
    assert by_kind["nan"].errors is not None
    assert by_kind["nan"].errors.nonfinite > 0
    assert by_kind["wrong"].errors is not None
    assert by_kind["wrong"].errors.max_abs == pytest.approx(1.0, abs=1e-4)
    assert all(o.versions is not None and o.versions.soc == "fake" for o in outcomes)
    assert all(o.errors is not None and o.latency is not None for o in outcomes if o.status == "native")


def test_what_goes_wrong_once_is_forgiven(tmp_path: Path) -> None:
    kinds = ("segfault", "device_lost", "garbage", "out_of_memory")
    calls = {SIGNATURES[index].key: Fault(kind, times=1) for index, kind in enumerate(kinds)}  # type: ignore[arg-type]
    outcomes, report = run(tmp_path, calls, {}, SIGNATURES[:6], retries=1)
    assert [outcome.status for outcome in outcomes] == ["native"] * 6
    assert report.complete


def test_a_device_that_never_starts_leaves_all_to_the_other(tmp_path: Path) -> None:
    outcomes, report = run(tmp_path, {}, {"device 1": "die"}, SIGNATURES[:8], retries=1)
    assert [outcome.status for outcome in outcomes] == ["native"] * 8
    assert "libfake.so: cannot start" in report.devices[1].given_up
    assert report.complete
