"""How long the command takes, beside what a user would run instead.

    python benchmarks/speed.py [--rounds 7]

Each round runs every command once, one after another, in a process of its own; a ratio compares two commands of the
same round, so that what else the machine does weighs on both. Reported are medians over the rounds. Goals: ``--help``
and ``--version`` within 0.3 of ``import torch``; a scan within 1.4 of importing the file, building its model on the CPU
and running it once. One round more, the first, is not counted: it fills the file cache.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESNET = str(HERE / "models" / "resnet50.py")
SHAPE = "1,3,224,224"
OPSCAN = str(Path(sys.executable).with_name("opscan"))

COMMANDS = {
    "import torch": [sys.executable, "-c", "import torch"],
    "opscan --help": [OPSCAN, "--help"],
    "opscan --version": [OPSCAN, "--version"],
    "build and run ResNet-50": [sys.executable, str(HERE / "bare_forward.py"), RESNET, SHAPE],
    "opscan ResNet-50": [OPSCAN, RESNET, "--input-shape", SHAPE],
}

#: (command, what it is compared with, goal of the ratio).
RATIOS = (
    ("opscan --help", "import torch", 0.3),
    ("opscan --version", "import torch", 0.3),
    ("opscan ResNet-50", "build and run ResNet-50", 1.4),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        one_round(folder)
        seconds = [one_round(folder) for _ in range(rounds)]
    for name in COMMANDS:
        times = [r[name] for r in seconds]
        print(f"{name:26} median {statistics.median(times):5.2f} s   fastest {min(times):5.2f} s")
    for name, other, goal in RATIOS:
        ratio = statistics.median(r[name] / r[other] for r in seconds)
        print(f"{name} / {other}: {ratio:.2f} (goal: at most {goal})")


def one_round(folder: str) -> dict[str, float]:
    """Seconds by command. ``folder`` takes the reports."""
    return {name: _seconds(command, folder) for name, command in COMMANDS.items()}


def _seconds(command: list[str], folder: str) -> float:
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
