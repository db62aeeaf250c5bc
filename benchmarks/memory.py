"""How much memory a scan of a model takes whose weights alone are 140 GB. Linux only: it reads ``/proc``.

    python benchmarks/memory.py [MODEL …]
    python benchmarks/memory.py benchmarks/models/llama_405b.py --rehearse

Without arguments it scans ``examples/llama_70b.py``; arguments are those of the command. Reported is the resident
memory of the command and of the child process that traces, two ways: the highest sum seen at one time (looked at every
5 ms), and the sum of the peaks that the kernel keeps for each process (``VmHWM``), which misses no spike. Shared pages
count twice. Goal: less than 1 GB for a scan on the virtual device, less than 3 GB for a rehearsal of 405 billion
parameters.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

LLAMA = Path(__file__).resolve().parent.parent / "examples" / "llama_70b.py"
OPSCAN = str(Path(sys.executable).with_name("opscan"))
INTERVAL = 0.005


def main() -> None:
    arguments = sys.argv[1:] or [str(LLAMA)]
    with tempfile.TemporaryDirectory() as folder:
        command = [OPSCAN, *arguments, "--html", str(Path(folder, "report.html"))]
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        together, peaks = watch(process)
        seconds = time.perf_counter() - start
    print(f"{' '.join(arguments)}: exit code {process.returncode}, {seconds:.1f} s, {len(peaks)} processes")
    print(f"highest sum at one time: {together / 1e6:.0f} MB")
    goal = 3000 if "--rehearse" in arguments else 1000
    print(f"sum of the processes' peaks: {sum(peaks.values()) / 1e6:.0f} MB (goal: less than {goal} MB)")


def watch(process: subprocess.Popen[bytes]) -> tuple[int, dict[int, int]]:
    """Highest sum of resident bytes, and the peak of each process by its id, until the command ends."""
    together, peaks = 0, dict[int, int]()
    while process.poll() is None:
        resident = 0
        for pid in [process.pid, *_children(process.pid)]:
            now, peak = _memory(pid)
            resident += now
            if peak:
                peaks[pid] = max(peak, peaks.get(pid, 0))
        together = max(together, resident)
        time.sleep(INTERVAL)
    return together, peaks


def _children(pid: int) -> list[int]:
    """All descendants."""
    try:
        own = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:  # it has just ended
        return []
    return own + [below for child in own for below in _children(child)]


def _memory(pid: int) -> tuple[int, int]:
    """Resident bytes now, and at most so far; zeros for a process that has just ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0, 0
    kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith(("VmRSS", "VmHWM"))}
    return kilobytes.get("VmRSS", 0) * 1024, kilobytes.get("VmHWM", 0) * 1024


if __name__ == "__main__":
    main()
