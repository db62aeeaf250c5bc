"""Takes the place of ``opscan scan`` in tests of a batch: what it does is in the reference.

``ok`` passes, ``refused`` fails the gate, ``partly`` is incomplete; ``error`` and ``crash`` have no result; ``hang``
has no end, and a child of its own; ``once`` is killed the first time.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def main(arguments: list[str]) -> int:
    files = {
        name: Path(value) for name, _, value in (a.partition("=") for a in arguments) if name in ("--json", "--html")
    }
    what = arguments[-1].rpartition("/")[2].split("-")[0]
    print("noise of the model", file=sys.stderr)
    if what == "error":
        print("opscan: error: model.py:3: it\n  raised <b>\x1b[31m\n  hint: Read it.", file=sys.stderr)
        return 2
    if what == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "once" and not (mark := Path("tried")).exists():
        time.sleep(0.5)  # until the others have begun
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "hang":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        time.sleep(60)
    files["--json"].write_bytes((HERE / "result.json").read_bytes())
    files["--html"].write_text("a report")
    return {"refused": 1, "partly": 3}.get(what, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
