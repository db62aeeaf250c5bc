"""The options of ``opscan matrix …``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from opscan.cli.failing import guarded

matrix_app = typer.Typer(no_args_is_help=True, help="The support matrix that verdicts come from.")

TorchNpu = Annotated[
    str | None, typer.Option("--torch-npu", metavar="RELEASE", help="torch_npu release. Default: the newest.")
]
Cann = Annotated[
    str | None, typer.Option("--cann", metavar="RELEASE", help="CANN release. Default: the one torch_npu names.")
]
Soc = Annotated[str | None, typer.Option("--soc", metavar="SOC", help="SoC. Default: ascend910b (Atlas A2).")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]


@matrix_app.command("list")
def list_(json: Json = False, debug: Debug = False) -> None:
    """Releases, SoCs, how much is known of each, and where it comes from."""
    from opscan.cli.matrix_command import show_holdings

    raise typer.Exit(guarded(lambda: show_holdings(json), debug))


@matrix_app.command()
def query(
    operator: Annotated[
        str, typer.Argument(help="An operator (aten::add.Tensor, ai.onnx::Add) or a kernel (aclnnAdd).")
    ],
    torch_npu: TorchNpu = None,
    cann: Cann = None,
    soc: Soc = None,
    dtype: Annotated[
        list[str] | None, typer.Option("--dtype", metavar="DTYPE", help="float32, float16 …; repeat for more.")
    ] = None,
    opset: Annotated[int, typer.Option("--opset", min=1, help="ONNX opset of the offline route.")] = 18,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """One operator's verdict in each route for a target; without any option, its history over the releases."""
    from opscan.cli.matrix_command import QueryArguments, show_operator

    arguments = QueryArguments(operator, torch_npu, cann, soc, tuple(dtype or ()), opset, json)
    raise typer.Exit(guarded(lambda: show_operator(arguments), debug))


@matrix_app.command()
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="A torch_npu release, a CANN release or a SoC.")],
    after: Annotated[str, typer.Argument(metavar="B", help="Another one of the same kind.")],
    torch_npu: TorchNpu = None,
    cann: Cann = None,
    soc: Soc = None,
    route: Annotated[str, typer.Option("--route", metavar="eager|graph|offline", help="Migration route.")] = "eager",
    dtype: Annotated[
        list[str] | None, typer.Option("--dtype", metavar="DTYPE", help="Compare these dtypes only; repeat for more.")
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """What gains and loses support from A to B, by operator and dtype."""
    from opscan.cli.matrix_command import DiffArguments, show_diff

    arguments = DiffArguments(before, after, torch_npu, cann, soc, route, tuple(dtype or ()), json)
    raise typer.Exit(guarded(lambda: show_diff(arguments), debug))


@matrix_app.command()
def lint(json: Json = False, debug: Debug = False) -> None:
    """Check the form of every file and that the files agree with each other. Exits with 1 for a problem."""
    from opscan.cli.matrix_command import lint as run

    raise typer.Exit(guarded(lambda: run(json), debug))


@matrix_app.command()
def build(
    wheel: Annotated[
        str | None, typer.Option("--wheel", metavar="RELEASE|FILE", help="Add a torch_npu release from its wheel.")
    ] = None,
    add: Annotated[
        bool, typer.Option("--add", help="With --wheel, in a checkout: add it to the sources and rebuild.")
    ] = False,
    cann_home: Annotated[
        Path | None, typer.Option("--cann-home", metavar="DIR", help="Add an installed CANN toolkit.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--source", metavar="DIR", help="Add a checkout of CANN operator repositories; needs --cann."),
    ] = None,
    cann: Annotated[
        str | None, typer.Option("--cann", metavar="RELEASE", help="The CANN release of --source or --cann-home.")
    ] = None,
    from_probe: Annotated[
        str | None,
        typer.Option(
            "--from-probe",
            metavar="FILE|cache",
            help="Add what a real NPU measured: a file of opscan probe --json, or all results kept in the cache.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="DIR", help="With --from-probe: write there. Default: your data folder."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail where a file differs from what its sources yield.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Add tables of your own to the matrix; or, in a checkout and without options, rebuild all from sources/.

    Your own tables go to your data folder and take precedence. A rebuild yields the same bytes.
    """
    from opscan.cli.matrix_build import BuildArguments
    from opscan.cli.matrix_build import build as run

    arguments = BuildArguments(wheel, add, cann_home, source, cann, from_probe, output, check)
    raise typer.Exit(guarded(lambda: run(arguments), debug))
