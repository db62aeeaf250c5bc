"""Options that several commands share, spelled once."""

from __future__ import annotations

from typing import Annotated

import typer

Model = Annotated[
    str,
    typer.Argument(
        help="model.py[:Name], package.module:name, torchvision:resnet50, timm:NAME, hf:FOLDER (a configuration), "
        "or a file: TorchScript .pt, exported .pt2, .onnx."
    ),
]
Arguments = Annotated[
    list[str] | None,
    typer.Option("--arg", metavar="NAME=VALUE", help="An argument for what builds the model; repeat for more."),
]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Run code that the model's files bring along: pickled modules, remote code."),
]
InputShapes = Annotated[
    list[str] | None,
    typer.Option(
        "--input-shape",
        metavar="1,3,224,224",
        help="Shape of a positional input; repeat for more. [3x8x8, 4:int64] is a list of tensors, 2.0:value a value.",
    ),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="NAME=1x128:int64", help="Shape and dtype of a named input; repeat for more."),
]
Dynamic = Annotated[
    list[str] | None,
    typer.Option(
        "--dynamic",
        metavar="INPUT:DIM,…",
        help="Dimensions of an input that vary: x:0,2, or by position 0:0; x:0=1..64 gives the range. Repeat for more.",
    ),
]
Train = Annotated[bool, typer.Option("--train", help="Add the backward pass and an optimizer step.")]
Optimizer = Annotated[
    str | None,
    typer.Option(
        "--optimizer",
        metavar="NAME[:OPTION=VALUE,…]",
        help="The optimizer of torch.optim that training steps (adamw): sgd:momentum=0.9,nesterov=true. "
        "clip_grad_norm=1.0 clips before it. Implies --train.",
    ),
]
Amp = Annotated[
    str,
    typer.Option(
        "--amp", metavar="off|fp16|bf16", help="Run forward under autocast; training with fp16 scales gradients, too."
    ),
]
TorchNpu = Annotated[
    str | None,
    typer.Option("--torch-npu", metavar="RELEASE", help="torch_npu release. Default: for the installed torch."),
]
Cann = Annotated[
    str | None, typer.Option("--cann", metavar="RELEASE", help="CANN release. Default: the one torch_npu names.")
]
Soc = Annotated[str | None, typer.Option("--soc", metavar="SOC", help="SoC. Default: ascend910b (Atlas A2).")]
Tracer = Annotated[
    str,
    typer.Option(
        "--tracer",
        metavar="auto|dispatch|export|fx|jit|onnx",
        help="What lists the operators. auto: dispatch, and others where it cannot follow the model to its end.",
    ),
]
CrossCheck = Annotated[
    bool,
    typer.Option("--cross-check", help="Ask the other tracers as well, and show where their inventories differ."),
]
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
