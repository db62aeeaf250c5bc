"""``opscan probe``: arguments to a request, the result to a table, a file and an exit code."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from opscan.cli.progress import Spinner
from opscan.errors import UsageError

if TYPE_CHECKING:
    from opscan.probe import ProbeRequest

DEPARTED = 1
INCOMPLETE = 3
#: As a shell reports a process that SIGINT ended.
INTERRUPTED = 130

OPERATOR_SECONDS = 60.0
LAYERS_SECONDS = 1800.0

_DEVICES = re.compile(r"\d{1,4}(,\d{1,4})*")


@dataclass(frozen=True, slots=True)
class ProbeArguments:
    """The options of a probe, as typed."""

    model: str
    input_shape: tuple[str, ...]
    input: tuple[str, ...]
    train: bool
    device: str
    time_limit: float | None
    python: str | None
    fresh: bool
    layers: bool
    json: str | None
    arguments: tuple[str, ...] = ()
    trust: bool = False
    optimizer: str | None = None
    amp: str = "off"


def run(arguments: ProbeArguments) -> int:
    """Probe, write the file, print the table; return the exit code."""
    from opscan.cli.workload_options import parse_workload
    from opscan.loading.factory_arguments import parse_argument
    from opscan.loading.inputs import parse_input, parse_input_shape
    from opscan.loading.reference import parse_reference
    from opscan.measure import Npus
    from opscan.probe import ProbeRequest
    from opscan.probing.pool import Options

    limit = _time_limit(arguments.time_limit, LAYERS_SECONDS if arguments.layers else OPERATOR_SECONDS)
    request = ProbeRequest(
        parse_reference(arguments.model, tuple(map(parse_argument, arguments.arguments)), arguments.trust),
        tuple(map(parse_input_shape, arguments.input_shape)) + tuple(map(parse_input, arguments.input)),
        parse_workload(arguments.train, arguments.optimizer, arguments.amp),
        Npus(_devices(arguments.device), _interpreter(arguments.python), arguments.fresh, Options(time_limit=limit)),
    )
    if arguments.layers and (arguments.optimizer is not None or arguments.amp != "off"):
        raise UsageError(
            "--layers compares modules in the model's own precision, without an optimizer's step.",
            "Leave --optimizer and --amp away, or --layers.",
        )
    _check_output(arguments)
    return _layers(request, limit, arguments.json) if arguments.layers else _operators(request, arguments.json)


def _operators(request: ProbeRequest, output: str | None) -> int:
    from opscan.cli.probe_text import print_probed
    from opscan.probe import probe_model
    from opscan.probing.probed import render_probed

    with Spinner() as spinner:
        probed = probe_model(request, spinner.update)
    written = _write(output, lambda: render_probed(probed))
    print_probed(probed, written, _table_stream(output))
    if probed.interrupted:
        return INTERRUPTED
    return 0 if probed.complete else INCOMPLETE


def _layers(request: ProbeRequest, limit: float, output: str | None) -> int:
    import msgspec

    from opscan.cli.layers_text import print_layered
    from opscan.layers import compare_model

    with Spinner() as spinner:
        layered = compare_model(
            request.reference, request.inputs, request.workload.train, request.npus, limit, spinner.update
        )
    written = _write(output, lambda: msgspec.json.format(msgspec.json.encode(layered), indent=1).decode() + "\n")
    print_layered(layered, written, _table_stream(output))
    return 0 if layered.report.agrees else DEPARTED


def _check_output(arguments: ProbeArguments) -> None:
    from opscan.rendering.write import STDOUT, check_writable

    output = arguments.json
    if output is None:
        return
    if output != STDOUT and os.path.realpath(output) == os.path.realpath(arguments.model):
        raise UsageError(f"An output would overwrite the model file {arguments.model}.", "Choose another path.")
    check_writable(output)


def _write(output: str | None, text: Callable[[], str]) -> str | None:
    """The path to name, None where nothing was written to a file."""
    from opscan.rendering.write import STDOUT, write_text

    if output is None:
        return None
    write_text(output, text())
    return output if output != STDOUT else None


def _table_stream(output: str | None) -> TextIO:
    """The table makes room on stdout for a file that was sent there."""
    return sys.stderr if output == "-" else sys.stdout


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


def _time_limit(seconds: float | None, default: float) -> float:
    if seconds is None:
        return default
    if not 0 < seconds < float("inf"):
        raise UsageError(
            f"--time-limit {seconds:g}: it must be more than zero.",
            "The default is 60 seconds for an operator, half an hour for a model.",
        )
    return seconds
