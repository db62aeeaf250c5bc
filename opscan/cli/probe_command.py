"""``opscan probe``: arguments to a request, the result to a table, a file and an exit code."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from opscan.cli.progress import Spinner
from opscan.errors import UsageError

INCOMPLETE = 3
#: As a shell reports a process that SIGINT ended.
INTERRUPTED = 130

_DEVICES = re.compile(r"\d{1,4}(,\d{1,4})*")


@dataclass(frozen=True, slots=True)
class ProbeArguments:
    """The options of a probe, as typed."""

    model: str
    input_shape: tuple[str, ...]
    input: tuple[str, ...]
    train: bool
    device: str
    time_limit: float
    python: str | None
    fresh: bool
    json: str | None


def run(arguments: ProbeArguments) -> int:
    """Probe, write the file, print the table; return the exit code."""
    from opscan.cli.probe_text import print_probed
    from opscan.loading.inputs import parse_input, parse_input_shape
    from opscan.loading.reference import parse_reference
    from opscan.measure import Npus
    from opscan.probe import ProbeRequest, probe_model
    from opscan.probing.pool import Options
    from opscan.probing.probed import render_probed
    from opscan.rendering.write import STDOUT, check_writable, write_text

    request = ProbeRequest(
        parse_reference(arguments.model),
        tuple(map(parse_input_shape, arguments.input_shape)) + tuple(map(parse_input, arguments.input)),
        arguments.train,
        Npus(
            _devices(arguments.device),
            _interpreter(arguments.python),
            arguments.fresh,
            Options(time_limit=_time_limit(arguments.time_limit)),
        ),
    )
    output = arguments.json
    if output is not None:
        if output != STDOUT and os.path.realpath(output) == os.path.realpath(arguments.model):
            raise UsageError(f"An output would overwrite the model file {arguments.model}.", "Choose another path.")
        check_writable(output)
    with Spinner() as spinner:
        probed = probe_model(request, spinner.update)
    if output is not None:
        write_text(output, render_probed(probed))
    written = output if output != STDOUT else None
    print_probed(probed, written, sys.stderr if output == STDOUT else sys.stdout)
    if probed.interrupted:
        return INTERRUPTED
    return 0 if probed.complete else INCOMPLETE


def _devices(text: str) -> tuple[int, ...]:
    if not _DEVICES.fullmatch(text):
        raise UsageError(f"--device {text}: not a list of device numbers.", "Write it like this: --device 0,1")
    return tuple(dict.fromkeys(map(int, text.split(","))))


def _interpreter(python: str | None) -> Path | None:
    """As it was typed: the link in a virtual environment's folder is what makes it that environment's Python."""
    if python is None:
        return None
    path = Path(python).absolute()
    if not os.access(path, os.X_OK) or path.is_dir():
        raise UsageError(f"--python {python}: no such program.", "Name the Python that has torch_npu installed.")
    return path


def _time_limit(seconds: float) -> float:
    if not 0 < seconds < float("inf"):
        raise UsageError(f"--time-limit {seconds:g}: it must be more than zero.", "The default is 60 seconds.")
    return seconds
