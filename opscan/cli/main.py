"""The ``opscan`` command. ``opscan MODEL …`` is ``opscan scan MODEL …``."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from opscan import __version__
from opscan.cli import options
from opscan.cli.failing import guarded
from opscan.cli.matrix_app import matrix_app


class _ScanByDefault(TyperGroup):
    """A first argument that is no command is a model to scan; options that belong to a scan may come first too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = {"--help", "-h", "--version", "--install-completion", "--show-completion"}
        if args and args[0] not in self.commands and args[0] not in own:
            args = ["scan", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_ScanByDefault,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Tells, before anyone rents or buys an Ascend NPU, whether a PyTorch model will run on it.\n\n"
    "opscan MODEL is short for opscan scan MODEL.",
)
app.add_typer(matrix_app, name="matrix")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"opscan {__version__}")
        raise typer.Exit


@app.callback()
def _global(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def scan(
    model: options.Model,
    input_shape: options.InputShapes = None,
    input: options.Inputs = None,
    arg: options.Arguments = None,
    trust: options.Trust = False,
    dynamic: options.Dynamic = None,
    train: options.Train = False,
    optimizer: options.Optimizer = None,
    amp: options.Amp = "off",
    torch_npu: options.TorchNpu = None,
    cann: options.Cann = None,
    soc: options.Soc = None,
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="auto|virtual|rehearse",
            help="What runs the model: a virtual device, or the real torch_npu on a simulated CANN. "
            "auto: torch_npu where the target's release is at hand.",
        ),
    ] = "auto",
    rehearse: Annotated[bool, typer.Option("--rehearse", help="Short for --engine rehearse.")] = False,
    probe: Annotated[
        str,
        typer.Option(
            "--probe",
            metavar="auto|require|off",
            help="Try each operator on the NPU of this machine: its answer outranks tables. "
            "auto: where there is one and it is the target.",
        ),
    ] = "off",
    route: Annotated[
        str | None,
        typer.Option(
            "--route",
            metavar="eager|graph|offline|all",
            help="The migration route: operator by operator (eager, the default), torch.compile with torchair "
            "(rehearsed where torch_npu is at hand, else by tables), or ONNX and ATC. all: the three side by side, and "
            "which is recommended.",
        ),
    ] = None,
    tracer: options.Tracer = "auto",
    cross_check: options.CrossCheck = False,
    fail_on: options.FailOn = "unsupported",
    strict: options.Strict = False,
    html: options.Html = "opscan-report.html",
    json: options.Json = None,
    lang: options.Language = None,
    debug: options.Debug = False,
) -> None:
    """Scan a model: which operators run on the NPU, which are slow, fall back or fail."""
    from opscan.cli.scan_command import ScanArguments, run

    arguments = ScanArguments(
        model,
        tuple(input_shape or ()),
        tuple(input or ()),
        train,
        torch_npu,
        cann,
        soc,
        "rehearse" if rehearse else engine,
        probe,
        fail_on,
        strict,
        html,
        json,
        lang,
        route,
        arguments=tuple(arg or ()),
        trust=trust,
        tracer=tracer,
        cross_check=cross_check,
        dynamic=tuple(dynamic or ()),
        optimizer=optimizer,
        amp=amp,
    )
    raise typer.Exit(guarded(lambda: run(arguments), debug))


@app.command()
def rehearse(
    model: Annotated[str | None, typer.Argument(help="A Python file that builds the model.")] = None,
    input_shape: options.InputShapes = None,
    input: options.Inputs = None,
    arg: options.Arguments = None,
    trust: options.Trust = False,
    dynamic: options.Dynamic = None,
    train: options.Train = False,
    optimizer: options.Optimizer = None,
    amp: options.Amp = "off",
    setup: Annotated[
        str | None,
        typer.Option(
            "--setup",
            metavar="RELEASE",
            help="Make an environment with this torch_npu release in the user cache (downloads it).",
        ),
    ] = None,
    remove: Annotated[
        str | None, typer.Option("--remove", metavar="RELEASE", help="Delete the environment of a release.")
    ] = None,
    environments: Annotated[bool, typer.Option("--list", help="List the environments at hand.")] = False,
    route: Annotated[
        str,
        typer.Option(
            "--route",
            metavar="eager|graph|all",
            help="graph: what torch.compile with torchair makes of the model, and what its converters refuse. "
            "all: both, and the model exported to ONNX, side by side.",
        ),
    ] = "eager",
    torch_npu: options.TorchNpu = None,
    cann: options.Cann = None,
    soc: options.Soc = None,
    fail_on: options.FailOn = "unsupported",
    strict: options.Strict = False,
    html: options.Html = "opscan-report.html",
    json: options.Json = None,
    lang: options.Language = None,
    debug: options.Debug = False,
) -> None:
    """Run a model on the real torch_npu over a simulated CANN, without an NPU, and judge what it launched."""
    from opscan.cli.rehearse_command import manage
    from opscan.cli.scan_command import ScanArguments, run

    def go() -> int:
        if model is None or setup or remove or environments:
            code = manage(setup, remove, environments)
            if model is None:
                return code
        return run(
            ScanArguments(
                model,
                tuple(input_shape or ()),
                tuple(input or ()),
                train,
                torch_npu or setup,
                cann,
                soc,
                "rehearse",
                "off",
                fail_on,
                strict,
                html,
                json,
                lang,
                route,
                tuple(arg or ()),
                trust,
                dynamic=tuple(dynamic or ()),
                optimizer=optimizer,
                amp=amp,
            )
        )

    raise typer.Exit(guarded(go, debug))


def _instead(asked: bool, what: str) -> None:
    """Answer in place of a probe: no model is needed."""
    if asked:
        from opscan.cli import probe_results

        raise typer.Exit(guarded(getattr(probe_results, what), debug=False))


@app.command()
def probe(
    model: options.Model,
    input_shape: options.InputShapes = None,
    input: options.Inputs = None,
    arg: options.Arguments = None,
    trust: options.Trust = False,
    train: options.Train = False,
    optimizer: options.Optimizer = None,
    amp: options.Amp = "off",
    device: Annotated[
        str, typer.Option("--device", metavar="0,1", help="NPUs to use, by number; one process each.")
    ] = "0",
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            help="For one operator on the device, 60 by default; the first of a process has two minutes more. "
            "With --layers for the whole model, half an hour by default.",
        ),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option("--python", metavar="PATH", help="The Python that has torch_npu. Default: the one of opscan."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Try again what earlier probes have tried.")] = False,
    layers: Annotated[
        bool,
        typer.Option(
            "--layers", help="Run the whole model instead, and find the first module whose output is not the CPU's."
        ),
    ] = False,
    list_results: Annotated[
        bool,
        typer.Option(
            "--list-results",
            is_eager=True,
            callback=lambda asked: _instead(asked, "list_results"),
            help="List what earlier probes found, and exit.",
        ),
    ] = False,
    clear_results: Annotated[
        bool,
        typer.Option(
            "--clear-results",
            is_eager=True,
            callback=lambda asked: _instead(asked, "clear_results"),
            help="Delete what earlier probes found, and exit.",
        ),
    ] = False,
    json: options.Json = None,
    debug: options.Debug = False,
) -> None:
    """Try a model's operators on a real NPU, one by one: do they run, are they right, how long do they take?

    Exits with 3 where not all could be tried, and with 130 where it was interrupted; what was found is written all the
    same. With --layers it exits with 1 where a module departs.
    """
    from opscan.cli.probe_command import ProbeArguments, run

    arguments = ProbeArguments(
        model,
        tuple(input_shape or ()),
        tuple(input or ()),
        train,
        device,
        time_limit,
        python,
        fresh,
        layers,
        json,
        tuple(arg or ()),
        trust,
        optimizer=optimizer,
        amp=amp,
    )
    raise typer.Exit(guarded(lambda: run(arguments), debug))


@app.command()
def explain(
    subject: Annotated[
        list[str], typer.Argument(help="A rule (OPS104), an error code (161002), a line of a log, or an operator.")
    ],
    lang: Annotated[
        str | None, typer.Option("--lang", metavar="en|zh", help="Language of the answer. Default: the locale's.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Explain a rule, an error code of CANN, torch_npu, ATC or the driver, or an operator."""
    from opscan.cli.explain_command import run

    raise typer.Exit(guarded(lambda: run(subject, lang, json), debug))


@app.command()
def batch(
    source: Annotated[
        str, typer.Argument(metavar="FOLDER|LIST", help="A folder with models in it and below it, or a list as TOML.")
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output", metavar="DIR", help="Where reports and roll-up go; results that are current stay as they are."
        ),
    ] = "opscan-batch",
    jobs: Annotated[
        int | None, typer.Option("--jobs", metavar="N", help="Scans at a time. Default: half of the cores.")
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="For the scan of one model.")
    ] = 600.0,
    again: Annotated[bool, typer.Option("--again", help="Scan models that have a current result, too.")] = False,
    input_shape: options.InputShapes = None,
    input: options.Inputs = None,
    trust: options.Trust = False,
    train: options.Train = False,
    optimizer: options.Optimizer = None,
    amp: options.Amp = "off",
    torch_npu: options.TorchNpu = None,
    cann: options.Cann = None,
    soc: options.Soc = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on", metavar="VERDICT", help="Worst verdict that still fails a scan. Default: unsupported."
        ),
    ] = None,
    strict: options.Strict = False,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="Any other option of opscan scan; repeat for more."),
    ] = None,
    lang: options.Language = None,
    debug: options.Debug = False,
) -> None:
    """Scan many models, side by side and each by itself, and sum them up.

    Exits with 3 where a model has no result or an incomplete one, with 2 where none has one, else as the worst scan.
    """
    from opscan.cli.batch_command import BatchArguments, run

    shared: dict[str, bool | str | tuple[str, ...] | None] = {
        "input-shape": tuple(input_shape or ()),
        "input": tuple(input or ()),
        "trust": trust,
        "train": train,
        "optimizer": optimizer,
        "amp": amp if amp != "off" else None,
        "torch-npu": torch_npu,
        "cann": cann,
        "soc": soc,
        "fail-on": fail_on,
        "strict": strict,
    }
    given = {name: value for name, value in shared.items() if value}
    arguments = BatchArguments(source, output, jobs, time_limit, again, lang, given, tuple(option or ()))
    raise typer.Exit(guarded(lambda: run(arguments), debug))


@app.command("import-log")
def import_log(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE…",
            help="Output of atc or of a run with torch_npu, a log of CANN, or a table of the profiler "
            "(op_summary_*.csv, kernel_details.csv, op_statistic_*.csv).",
        ),
    ],
    model_report: Annotated[
        str | None,
        typer.Option(
            "--model-report", metavar="REPORT.json", help="Compare with the JSON report of a scan of the same model."
        ),
    ] = None,
    lang: Annotated[
        str | None, typer.Option("--lang", metavar="en|zh", help="Language of the answer. Default: the locale's.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Read logs and profiles of a real run: what fell back, was refused, or ran on the AI CPU.

    Names of operators and kernels, error codes, dtypes, shapes and times come out of a log, and nothing else of it.
    Exits with 1 where it contradicts the report.
    """
    from opscan.cli.import_log_command import ImportLogArguments, run

    arguments = ImportLogArguments(tuple(files), model_report, json, lang)
    raise typer.Exit(guarded(lambda: run(arguments), debug))


@app.command()
def doctor(
    snapshot: Annotated[
        str | None, typer.Option("--snapshot", metavar="FILE", help="Write what is installed to a file.")
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option("--compare", metavar="FILE", help="Show what has changed since a snapshot, and the way back."),
    ] = None,
    lang: Annotated[
        str | None, typer.Option("--lang", metavar="en|zh", help="Language of the answer. Default: the locale's.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Inspect this machine: do torch, torch_npu, CANN, driver and firmware fit each other?"""
    from opscan.cli.doctor_command import DoctorArguments, run

    arguments = DoctorArguments(lang, json, snapshot, compare)
    raise typer.Exit(guarded(lambda: run(arguments), debug))


def main() -> None:
    """Entry point of the installed command."""
    app()


if __name__ == "__main__":
    main()
