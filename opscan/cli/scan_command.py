"""``opscan scan``: arguments to a request, the assessment to outputs and an exit code."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import get_args

from opscan.assessment import Assessment, FailOn
from opscan.cli.choices import choice, language
from opscan.cli.progress import Spinner
from opscan.errors import UsageError
from opscan.rendering.interface import Lang

INCOMPLETE = 3
FAILED_GATE = 1


@dataclass(frozen=True, slots=True)
class ScanArguments:
    """The options of a scan, as typed."""

    model: str
    input_shape: tuple[str, ...]
    input: tuple[str, ...]
    train: bool
    torch_npu: str | None
    cann: str | None
    soc: str | None
    engine: str
    probe: str
    fail_on: str
    strict: bool
    html: str
    json: str | None
    lang: str | None
    route: str | None = None
    arguments: tuple[str, ...] = ()
    trust: bool = False
    optimizer: str | None = None
    amp: str = "off"
    tracer: str = "auto"
    cross_check: bool = False
    dynamic: tuple[str, ...] = ()


def run(arguments: ScanArguments) -> int:
    """Scan, write the outputs, print the summary; return the exit code."""
    from opscan.all_routes import scan_all
    from opscan.chain import TracerChoice, check
    from opscan.cli.onnx_command import assess_file
    from opscan.cli.workload_options import parse_workload
    from opscan.engine import EngineChoice
    from opscan.loading.dynamic_sizes import parse_dynamic
    from opscan.loading.factory_arguments import parse_argument
    from opscan.loading.inputs import parse_input, parse_input_shape
    from opscan.loading.onnx_reference import recognise
    from opscan.loading.reference import parse_reference
    from opscan.measure import ProbeChoice
    from opscan.rendering.write import check_writable
    from opscan.scan import ScanRequest, scan
    from opscan.target import Route

    lang = language(arguments.lang)
    fail_on = choice("--fail-on", arguments.fail_on, get_args(FailOn))
    engine = choice("--engine", arguments.engine, get_args(EngineChoice))
    probe = choice("--probe", arguments.probe, get_args(ProbeChoice))
    tracer = choice("--tracer", arguments.tracer, get_args(TracerChoice))
    dynamic = tuple(map(parse_dynamic, arguments.dynamic))
    workload = parse_workload(arguments.train, arguments.optimizer, arguments.amp, dynamic)
    _check_outputs(arguments)
    onnx_file = recognise(arguments.model)
    if onnx_file is not None:
        for path in _outputs(arguments):
            check_writable(path)
        with Spinner() as spinner:
            assessment = assess_file(onnx_file, arguments, fail_on, spinner.update)  # type: ignore[arg-type]
        return _finish(assessment, arguments, lang)
    # An ONNX model's nodes are judged for the offline route alone.
    default = "offline" if tracer == "onnx" else "eager"
    asked = choice("--route", arguments.route or default, (*get_args(Route), "all"))
    route = "eager" if asked == "all" else asked
    check(tracer, route, engine, arguments.cross_check)  # type: ignore[arg-type]
    request = ScanRequest(
        parse_reference(arguments.model, tuple(map(parse_argument, arguments.arguments)), arguments.trust),
        tuple(map(parse_input_shape, arguments.input_shape)) + tuple(map(parse_input, arguments.input)),
        arguments.torch_npu,
        arguments.cann,
        arguments.soc,
        workload,
        fail_on,  # type: ignore[arg-type]
        engine,  # type: ignore[arg-type]
        probe,  # type: ignore[arg-type]
        route,  # type: ignore[arg-type]
        tracer,  # type: ignore[arg-type]
        arguments.cross_check,
    )
    for path in _outputs(arguments):
        check_writable(path)
    with Spinner() as spinner:
        assessment = (scan_all if asked == "all" else scan)(request, spinner.update)
    return _finish(assessment, arguments, lang)


def _finish(assessment: Assessment, arguments: ScanArguments, lang: Lang) -> int:
    try:
        _write(assessment, arguments, lang)
    except BrokenPipeError:
        # Whoever read the output has seen enough; the exit code still tells the result.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _exit_code(assessment, arguments.strict)


def _outputs(arguments: ScanArguments) -> list[str]:
    return [path for path in (arguments.html, arguments.json) if path is not None]


def _check_outputs(arguments: ScanArguments) -> None:
    """No output may take the place of another, or of the model."""
    if arguments.html == "-" and arguments.json == "-":
        raise UsageError("--html - and --json - both ask for stdout.", "Write one of them to a file.")
    files = [os.path.realpath(path) for path in _outputs(arguments) if path != "-"]
    if len(set(files)) < len(files):
        raise UsageError("--html and --json name the same file.", "Write them to two files.")
    if os.path.realpath(arguments.model) in files:
        raise UsageError(f"An output would overwrite the model file {arguments.model}.", "Choose another path.")


def _write(assessment: Assessment, arguments: ScanArguments, lang: Lang) -> None:
    from opscan.cli.messages import RuleMessages
    from opscan.rendering.html import render_html
    from opscan.rendering.json import render_json
    from opscan.rendering.terminal import print_summary, summary_console
    from opscan.rendering.write import write_text

    messages = RuleMessages()
    written = [path for path in _outputs(arguments) if path != "-"]
    if arguments.json is not None:
        write_text(arguments.json, render_json(assessment))
    write_text(arguments.html, render_html(assessment, lang, messages))
    # The summary makes room on stdout for an output that was sent there.
    stream = sys.stderr if "-" in (arguments.html, arguments.json) else sys.stdout
    print_summary(assessment, summary_console(stream), lang, messages, written)


def _exit_code(assessment: Assessment, strict: bool) -> int:
    """Incomplete beats a failed gate: what was not seen may be worse. A tracer that failed part-way is always
    incomplete, unless another took its place; so is a comparison of routes without the eager one.
    """
    attempts = assessment.trace.attempts
    failed = bool(attempts) and not attempts[-1].ok
    without_eager = assessment.routes is not None and assessment.target.route != "eager"
    if failed or without_eager or (strict and not assessment.trace.complete):
        return INCOMPLETE
    return 0 if assessment.gate.passed else FAILED_GATE
