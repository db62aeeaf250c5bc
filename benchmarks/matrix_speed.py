"""How long questions to the support matrix take.

    python benchmarks/matrix_speed.py [--rounds 9]

Process time (user and system, of a process of its own) of queries, beside that of an interpreter that does nothing; and
the wall time of opening a target's tables in a process that has imported them. Reported are medians over the rounds;
the first round is not counted: it fills the file cache. Goals: a query within 0.4 s, opening a target within 50 ms.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from opscan.matrix import Matrix
from opscan.target import Target

OPSCAN = str(Path(sys.executable).with_name("opscan"))
QUERY = [OPSCAN, "matrix", "query"]

#: Command → goal in seconds of process time, where it has one.
COMMANDS: dict[str, tuple[list[str], float | None]] = {
    "python -c pass": ([sys.executable, "-c", "pass"], None),
    "query aten::add.Tensor --cann 9.1.0": ([*QUERY, "aten::add.Tensor", "--cann", "9.1.0"], 0.4),
    "query aclnnAdd --cann 9.1.0": ([*QUERY, "aclnnAdd", "--cann", "9.1.0"], 0.4),
    "query ai.onnx::Conv": ([*QUERY, "ai.onnx::Conv"], 0.4),
    "query aten::add.Tensor (history)": ([*QUERY, "aten::add.Tensor"], None),
    "list": ([OPSCAN, "matrix", "list"], None),
    "lint": ([OPSCAN, "matrix", "lint"], None),
}

TARGETS = (
    Target("2.13.0", "9.1.0", "ascend910b"),
    Target("2.6.0.post5", "8.5.0", "ascend910b"),
    Target("2.13.0", "9.1.0", "ascend310p"),
    Target("2.13.0", "8.3.RC1", "ascend910b"),  # two nearest tables
)
OPENING = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    for name, (command, goal) in COMMANDS.items():
        report(name, "process time", medians(rounds, lambda command=command: process_time(command)), goal)
    for target in TARGETS:
        report(f"open {target}", "wall time", medians(rounds, lambda target=target: opening(target)), OPENING)


def medians(rounds: int, measure: Callable[[], float]) -> list[float]:
    measure()
    return [measure() for _ in range(rounds)]


def report(name: str, what: str, seconds: list[float], goal: float | None) -> None:
    median = statistics.median(seconds)
    judged = "" if goal is None else f"   goal {goal * 1000:.0f} ms: {'met' if median < goal else 'MISSED'}"
    print(f"{name:58} {what} median {median * 1000:6.0f} ms   fastest {min(seconds) * 1000:6.0f} ms{judged}")


def process_time(command: list[str]) -> float:
    """Seconds that a command keeps a processor busy. It may end with 0, or with 1 as a check that finds something."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.decode())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def opening(target: Target) -> float:
    start = time.perf_counter()
    Matrix.load(target)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
