"""Installing packages into another environment with the user's own tool and its configuration.

The pip of this environment comes first, since it is the one whose indexes and proxies the user has set; uv where
there is no pip, as in environments that uv made; else the pip that Python carries for new environments.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from packaging.version import InvalidVersion, Version

from opscan.errors import OpscanError
from opscan.rendering.inert import inert, shorten

Progress = Callable[[str], None]

#: From here on pip can install into another environment than its own (``--python``).
_PIP_FOR_OTHERS = Version("22.3")

#: From here on pip can report bytes while it downloads (``--progress-bar raw``).
_PIP_RAW_PROGRESS = Version("24.1")

#: Variables that send packages elsewhere than into the environment at hand.
_ELSEWHERE = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONHOME")

#: Lines of the installer's output that an error message repeats.
_LAST_LINES = 12

_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@")
_QUERY = re.compile(r"(https?://[^\s?#]+)[?#]\S*")
_DOWNLOADING = re.compile(r"\s*Downloading (?:\S*/)?(?P<name>[^/\s?#]+)\S*(?P<size> \([^)]*\))?")
_TOLD = re.compile(
    r"\s*(Collecting|Using cached|Installing collected packages|Building|Resolved|Prepared|Installed)\b.*"
)
_BYTES = re.compile(r"Progress (\d+) of (\d+)")


def install(interpreter: Path, requirements: Sequence[str], progress: Progress, dependencies: bool = True) -> None:
    """Install ``requirements`` into the environment of ``interpreter``.

    Raises OpscanError with the end of the tool's output where it fails.
    """
    command = [*_tool(interpreter), *(() if dependencies else ("--no-deps",)), *requirements]
    lines: deque[str] = deque(maxlen=_LAST_LINES)

    def read(line: str) -> None:
        lines.append(line)
        _tell(line, progress)

    code = _run(command, read)
    if code:
        raise OpscanError(
            "\n  ".join(
                [f"Could not install {', '.join(requirements)} (exit code {code}):", *map(_presentable, lines)]
            ),
            "Check the network, the proxy and the package index that pip or uv is configured with (`pip config list`), "
            "and the free disk space; then run the command again.",
        )


def _tool(interpreter: Path) -> list[str]:
    """The command that installs into the environment of ``interpreter``, up to its requirements."""
    own = _own_pip()
    if own is not None and own >= _PIP_FOR_OTHERS:
        return [sys.executable, "-m", "pip", "--python", str(interpreter), *_pip_install(own)]
    uv = shutil.which("uv")
    if uv is not None:
        return [uv, "pip", "install", "--python", str(interpreter)]
    return [str(interpreter), "-m", "pip", *_pip_install(_carried_pip(interpreter))]


def _pip_install(pip: Version) -> list[str]:
    bar = "raw" if pip >= _PIP_RAW_PROGRESS else "off"
    return ["install", "--disable-pip-version-check", "--no-input", "--no-user", "--progress-bar", bar]


def _own_pip() -> Version | None:
    try:
        return Version(metadata.version("pip"))
    except (metadata.PackageNotFoundError, InvalidVersion):
        return None


def _carried_pip(interpreter: Path) -> Version:
    """Put the pip that Python carries into the environment."""
    lines: deque[str] = deque(maxlen=_LAST_LINES)
    if _run([str(interpreter), "-m", "ensurepip"], lines.append):
        raise OpscanError(
            "There is neither pip nor uv to install packages with.",
            f"Install pip for {sys.executable} (`python -m ensurepip`, or your system's python3-pip), or install uv.",
        )
    return _PIP_FOR_OTHERS


def _run(command: Sequence[str], line_read: Callable[[str], object]) -> int:
    """Run a command with its output read line by line; its exit code. It ends where this is interrupted."""
    environment = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        with process.stdout as output:
            for line in output:
                line_read(line.decode("utf-8", "replace").rstrip())
        return process.wait()
    except BaseException:
        # The group: pip for another environment is a pip that started a pip.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


def _tell(line: str, progress: Progress) -> None:
    """Pass on what tells a person how far it is."""
    if counted := _BYTES.match(line):
        done, total = (int(number) / 1e6 for number in counted.groups())
        progress(f"downloading: {done:,.0f} of {total:,.0f} MB")
    elif loading := _DOWNLOADING.match(line):
        progress(_presentable(f"downloading {loading['name']}{loading['size'] or ''}"))
    elif _TOLD.match(line):
        progress(shorten(_presentable(line.strip()), 120))


def _presentable(line: str) -> str:
    """A line without what could be a secret in an index's address, and without control characters."""
    return inert(_QUERY.sub(r"\1", _CREDENTIALS.sub("", line)))
