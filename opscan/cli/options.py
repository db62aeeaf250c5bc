"""Options that several commands share, spelled once."""

from __future__ import annotations

from typing import Annotated

import typer

Model = Annotated[str, typer.Argument(help="A Python file that builds the model: model.py or model.py:Name.")]
InputShapes = Annotated[
    list[str] | None,
    typer.Option("--input-shape", metavar="1,3,224,224", help="Shape of a positional input; repeat for more."),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="NAME=1x128:int64", help="Shape and dtype of a named input; repeat for more."),
]
Train = Annotated[bool, typer.Option("--train", help="Add the backward pass and an optimizer step (AdamW).")]
TorchNpu = Annotated[
    str | None,
    typer.Option("--torch-npu", metavar="RELEASE", help="torch_npu release. Default: for the installed torch."),
]
Cann = Annotated[
    str | None, typer.Option("--cann", metavar="RELEASE", help="CANN release. Default: the one torch_npu names.")
]
Soc = Annotated[str | None, typer.Option("--soc", metavar="SOC", help="SoC. Default: ascend910b (Atlas A2).")]
FailOn = Annotated[
    str,
    typer.Option(
        "--fail-on",
        metavar="unsupported|fallback|slow|unknown|never",
        help="Worst verdict that still fails the scan (exit code 1).",
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 3 where the trace is not complete.")]
Html = Annotated[str, typer.Option("--html", metavar="PATH", help="Where to write the report; - is stdout.")]
Json = Annotated[str | None, typer.Option("--json", metavar="PATH", help="Write the result as JSON; - is stdout.")]
Language = Annotated[
    str | None,
    typer.Option("--lang", metavar="en|zh", help="Language of the summary and the report. Default: the locale's."),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]
