"""What a probe loses to faulty operators: nothing, or this says what.

    python benchmarks/probe_faults.py [--operators 200] [--rate 0.1] [--devices 2] [--seed 0]

The real pool and the real worker program, on the CPU in the place of an NPU. A share of the operators is faulty in one
of fourteen ways (segmentation fault, exit, hang, stop, garbage or half a reply on the protocol, a flood of output, NaN,
wrong values, refusal, fallback, lost device, out of memory, slowness), and workers die, babble or find no device
when they start. Ends with 1 where an outcome is missing or not the one that the fault leads to, a process is left, or
a device was given up.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
import uuid
from collections import Counter
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import get_args

import msgspec

from opscan.probing.fake_device import ENVIRONMENT, Fault, Faults, Kind
from opscan.probing.pool import Options, PoolReport, run_pool
from opscan.probing.protocol import Limits, Outcome
from opscan.probing.signature import Signature, TensorArgument
from opscan.probing.worker_process import Start

OPERATORS = ("relu", "sigmoid", "exp", "tanh", "neg", "abs", "sin", "cos", "erf", "square")

ENDS = {
    "segfault": "crashed", "exit": "crashed", "garbage": "crashed", "truncated": "crashed",
    "hang": "timeout", "stop": "timeout", "flood": "timeout", "nan": "wrong", "wrong": "wrong", "refused": "refused",
    "fallback": "fallback", "device_lost": "device_lost", "out_of_memory": "out_of_memory", "slow": "native",
}  # fmt: skip

MARK = "OPSCAN_BENCHMARK_MARK"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--operators", type=int, default=200)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    signatures = [
        Signature(f"aten::{OPERATORS[n % len(OPERATORS)]}", (TensorArgument("self", "float32", (2, 3 + n)),))
        for n in range(given.operators)
    ]
    faulty = _faulty(given.operators, given.rate, random.Random(given.seed))
    mark = uuid.uuid4().hex
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        outcomes, report = _run(Path(folder), signatures, faulty, given.devices, mark)
    seconds = time.monotonic() - begin
    return _told(signatures, faulty, outcomes, report, _left(mark), seconds)


def _faulty(operators: int, rate: float, draw: random.Random) -> dict[int, Kind]:
    """Each kind as often as the others, at places drawn at random."""
    kinds = get_args(Kind)
    places = draw.sample(range(operators), round(operators * rate))
    return {place: kinds[number % len(kinds)] for number, place in enumerate(places)}


def _run(
    folder: Path, signatures: list[Signature], faulty: dict[int, Kind], devices: int, mark: str
) -> tuple[dict[int, list[Outcome]], PoolReport]:
    calls = {signatures[place].key: Fault(kind) for place, kind in faulty.items()}
    starts = {"3": "die", "8": "garbage", "13": "unable"}
    plan = folder / "faults.json"
    plan.write_bytes(msgspec.json.encode(Faults(str(folder / "state"), calls, starts)))
    start = Start(Path(sys.executable), "fake", {ENVIRONMENT: str(plan), MARK: mark})
    options = Options(time_limit=3.0, first_extra=30.0, start_pause=0.1, timing=Limits(1, 3))
    outcomes: dict[int, list[Outcome]] = {}

    def listen(index: int, outcome: Outcome) -> None:
        outcomes.setdefault(index, []).append(outcome)

    return outcomes, run_pool(start, range(devices), signatures, options, listen, Event())


def _left(mark: str) -> int:
    """Processes that bear the mark."""
    wanted, count = f"{MARK}={mark}".encode(), 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            with suppress(OSError):
                count += wanted in (folder / "environ").read_bytes().split(b"\0")
    return count


def _told(
    signatures: list[Signature],
    faulty: dict[int, Kind],
    outcomes: dict[int, list[Outcome]],
    report: PoolReport,
    left: int,
    seconds: float,
) -> int:
    once = sum(len(outcomes.get(index, ())) == 1 for index in range(len(signatures)))
    astray: list[str] = []
    for index in range(len(signatures)):
        expected = ENDS[faulty[index]] if index in faulty else "native"
        status = outcomes[index][0].status if index in outcomes else "none"
        if status != expected:
            astray.append(f"{signatures[index]}, {faulty.get(index, 'no fault')}: {status} instead of {expected}")
    print(f"operators      {len(signatures)}, {len(faulty)} of them faulty: {dict(Counter(faulty.values()))}")
    print(f"one outcome    {once} of {len(signatures)}")
    print(f"right outcome  {len(signatures) - len(astray)} of {len(signatures)}")
    print(f"processes left {left}")
    print(f"workers        {', '.join(f'device {d.index}: {d.starts} starts' for d in report.devices)}")
    print(f"time           {seconds:.1f} s")
    for line in astray:
        print(f"  {line}")
    given_up = [device.given_up for device in report.devices if device.given_up]
    for reason in given_up:
        print(f"  given up: {reason}")
    return int(once < len(signatures) or bool(astray) or left > 0 or bool(given_up) or not report.complete)


if __name__ == "__main__":
    sys.exit(main())
