"""``opscan batch``: options to a request, the roll-up to files, a summary and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from opscan.batch.entries import Entry, OptionValue, check_options
from opscan.cli.choices import language
from opscan.errors import UsageError
from opscan.rendering.interface import Lang
from opscan.rollup import RollUp, SkippedFile


@dataclass(frozen=True, slots=True)
class BatchArguments:
    """The options of a batch, as typed. ``shared``: options of each scan, by name; ``options``: further ones, as
    ``NAME=VALUE`` or ``NAME``.
    """

    source: str
    output: str
    jobs: int | None
    time_limit: float
    again: bool
    lang: str | None
    shared: Mapping[str, OptionValue] = field(default_factory=dict)
    options: tuple[str, ...] = ()


def run(arguments: BatchArguments) -> int:
    """Scan all, write the roll-up, print it; return the exit code. What is finished is kept whatever happens."""
    from filelock import FileLock, Timeout

    from opscan.batch.records import make_folder

    lang = language(arguments.lang)
    if arguments.jobs is not None and arguments.jobs < 1:
        raise UsageError(f"--jobs {arguments.jobs}: at least one scan must run.", "Write --jobs 2")
    if not arguments.time_limit > 0:
        raise UsageError(f"--time-limit {arguments.time_limit:g}: no scan is that fast.", "Write --time-limit 600")
    output = Path(arguments.output)
    entries, skipped = _models(arguments, output)
    make_folder(output)
    try:
        with FileLock(output / "records" / ".lock", timeout=0):
            return _finish(_scan(arguments, entries, skipped, output, lang), output, lang)
    except Timeout:
        raise UsageError(
            f"Another batch writes into {output}.", "Wait for its end, or choose another folder with --output."
        ) from None


def _models(arguments: BatchArguments, output: Path) -> tuple[list[Entry], list[SkippedFile]]:
    from opscan.batch.folder import find_models
    from opscan.batch.listing import read_list

    known = scan_options()
    shared = {**arguments.shared, **_typed(arguments.options, known)}
    check_options(shared, known, "opscan batch")
    source = Path(arguments.source)
    try:
        if source.is_dir():
            return find_models(source, output, shared.get("trust") is True, shared)
        if not source.exists():
            raise UsageError(f"No such folder or list: {source}", "Give a folder of models, or a list as TOML.")
    except ValueError as error:
        raise UsageError(f"Cannot look at {arguments.source!r}: {error}.", "Check the path.") from error
    return read_list(source, shared, known), []


def scan_options() -> dict[str, bool]:
    """The options of ``opscan scan`` by name, and whether each is a flag."""
    import typer.main

    from opscan.cli.main import app

    command = typer.main.get_command(app).commands["scan"]  # type: ignore[attr-defined]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    return {opt.removeprefix("--"): bool(p.is_flag) for p in options for opt in p.opts if opt.startswith("--")}


def _typed(options: tuple[str, ...], known: Mapping[str, bool]) -> dict[str, OptionValue]:
    found: dict[str, OptionValue] = {}
    for option in options:
        name, equals, value = option.partition("=")
        name = name.strip().removeprefix("--")
        if not equals:
            found[name] = True
        elif name in found and not known.get(name, False):
            before = found[name]
            found[name] = (*(before if isinstance(before, tuple) else (str(before),)), value)
        else:
            found[name] = value
    return found


def _scan(
    arguments: BatchArguments, entries: list[Entry], skipped: list[SkippedFile], output: Path, lang: Lang
) -> RollUp:
    from opscan import __version__
    from opscan.batch import memory
    from opscan.batch.batch import BatchRequest, run_batch
    from opscan.batch.digest import common_parts
    from opscan.batch.schedule import Limits
    from opscan.cli.batch_progress import BatchProgress
    from opscan.matrix.data import matrix_roots
    from opscan.matrix.releases import installed_torch, resolve_target
    from opscan.probing.interrupt import interruption

    torch_npu, cann, soc = (_text(arguments.shared.get(part)) for part in ("torch-npu", "cann", "soc"))
    target, _ = resolve_target(torch_npu, cann, soc, "eager", installed_torch())
    request = BatchRequest(
        source=arguments.source,
        entries=entries,
        skipped=skipped,
        output=output,
        command=[sys.executable, str(Path(__file__).with_name("scan_process.py")), "scan"],
        lang=lang,
        common=common_parts(__version__, str(target), matrix_roots()),
        limits=Limits(arguments.jobs or default_jobs(), arguments.time_limit, memory.available),
        again=arguments.again,
    )
    with interruption() as stop, BatchProgress(len(entries)) as progress:
        return run_batch(request, progress, stop)


def _text(value: OptionValue | None) -> str | None:
    return value if isinstance(value, str) else None


def default_jobs() -> int:
    """Half of the cores that this process may use: a scan has threads of its own."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(cores // 2, 1)


def _finish(roll_up: RollUp, output: Path, lang: Lang) -> int:
    from opscan.batch.records import HTML, JSON
    from opscan.cli.messages import RuleMessages
    from opscan.rendering.batch import print_roll_up, render_batch_html, render_batch_json
    from opscan.rendering.screen import Screen
    from opscan.rendering.terminal import summary_console
    from opscan.rendering.write import write_text

    written = [str(output / HTML), str(output / JSON)]
    write_text(written[0], render_batch_html(roll_up, lang, RuleMessages()))
    write_text(written[1], render_batch_json(roll_up))
    print_roll_up(roll_up, Screen(summary_console(sys.stdout)), lang, written)
    return roll_up.exit_code
