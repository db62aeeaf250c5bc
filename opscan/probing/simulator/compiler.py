"""A C compiler: the user's, the system's, or the ``ziglang`` package's."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from opscan.errors import OpscanError

_HINT = "Install a C compiler (gcc or clang), or: pip install 'opscan-npu[rehearse]', which brings one."

#: Lines of a compiler's message that are shown.
_LINES = 8


def find_compiler() -> tuple[str, ...]:
    """The command, without arguments. ``$CC`` counts first, and is an error where it does not exist."""
    chosen = shlex.split(os.environ.get("CC", ""))
    if chosen:
        if shutil.which(chosen[0]) is None:
            raise OpscanError(f"The C compiler that CC names does not exist: {chosen[0]}.", f"Unset CC. {_HINT}")
        return tuple(chosen)
    for name in ("cc", "gcc", "clang"):
        path = shutil.which(name)
        if path is not None:
            return (path,)
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "cc")
    raise OpscanError("The simulated NPU has to be compiled, and this machine has no C compiler.", _HINT)


def run_compiler(compiler: Sequence[str], arguments: Sequence[str], folder: Path) -> None:
    """One call, in ``folder``. Raises OpscanError with the first lines of what the compiler says."""
    try:
        done = subprocess.run(
            [*compiler, *arguments], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, errors="replace"
        )
    except OSError as error:
        raise OpscanError(f"The C compiler {compiler[0]} cannot be started: {error.strerror}.", _HINT) from error
    if done.returncode != 0:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()][:_LINES]
        command = " ".join(compiler)
        raise OpscanError(
            "\n  ".join([f"The simulated NPU does not compile. {command} says:", *lines]),
            "Another compiler can be named in the environment variable CC.",
        )
