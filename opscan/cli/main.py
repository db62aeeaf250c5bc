"""The ``opscan`` command. ``opscan MODEL …`` is ``opscan scan MODEL …``."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from opscan import __version__
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
    model: Annotated[str, typer.Argument(help="A Python file that builds the model: model.py or model.py:Name.")],
    input_shape: Annotated[
        list[str] | None,
        typer.Option("--input-shape", metavar="1,3,224,224", help="Shape of a positional input; repeat for more."),
    ] = None,
    input: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=1x128:int64", help="Shape and dtype of a named input; repeat for more."),
    ] = None,
    train: Annotated[
        bool, typer.Option("--train", help="Add the backward pass and an optimizer step (AdamW).")
    ] = False,
    torch_npu: Annotated[
        str | None,
        typer.Option("--torch-npu", metavar="RELEASE", help="torch_npu release. Default: for the installed torch."),
    ] = None,
    cann: Annotated[
        str | None, typer.Option("--cann", metavar="RELEASE", help="CANN release. Default: the one torch_npu names.")
    ] = None,
    soc: Annotated[
        str | None, typer.Option("--soc", metavar="SOC", help="SoC. Default: ascend910b (Atlas A2).")
    ] = None,
    fail_on: Annotated[
        str,
        typer.Option(
            "--fail-on",
            metavar="unsupported|fallback|slow|unknown|never",
            help="Worst verdict that still fails the scan (exit code 1).",
        ),
    ] = "unsupported",
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 where the trace is not complete.")] = False,
    html: Annotated[
        str, typer.Option("--html", metavar="PATH", help="Where to write the report; - is stdout.")
    ] = "opscan-report.html",
    json: Annotated[
        str | None, typer.Option("--json", metavar="PATH", help="Write the result as JSON; - is stdout.")
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option("--lang", metavar="en|zh", help="Language of the summary and the report. Default: the locale's."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
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
        fail_on,
        strict,
        html,
        json,
        lang,
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


def main() -> None:
    """Entry point of the installed command."""
    app()


if __name__ == "__main__":
    main()
