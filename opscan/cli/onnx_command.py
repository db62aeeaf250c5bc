"""``opscan model.onnx``: the options that make sense for a file, which is judged for the offline route."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from opscan.assessment import Assessment, FailOn
from opscan.errors import UsageError
from opscan.text import Text

if TYPE_CHECKING:
    from opscan.cli.scan_command import ScanArguments
    from opscan.loading.onnx_reference import OnnxFileReference

_ONE_ROUTE = Text(
    "An ONNX file has the offline route only: eager and graph need the PyTorch model that it was exported from.",
    "ONNX 文件只有 offline 路线：eager 与 graph 需要导出它的 PyTorch 模型。",
)


def assess_file(
    reference: OnnxFileReference, arguments: ScanArguments, fail_on: FailOn, progress: Callable[[str], None]
) -> Assessment:
    """Raises UsageError for options that are about running a model: a file is read, not run."""
    from opscan.loading.dynamic_sizes import parse_dynamic
    from opscan.scan import OnnxRequest, scan_onnx

    given = {
        "--input-shape": arguments.input_shape,
        "--input": arguments.input,
        "--train": arguments.train,
        "--optimizer": arguments.optimizer,
        "--amp": arguments.amp != "off",
        "--engine rehearse": arguments.engine == "rehearse",
        "--probe require": arguments.probe == "require",
        "--route graph": arguments.route == "graph",
        f"--tracer {arguments.tracer}": arguments.tracer not in ("auto", "onnx"),
        "--cross-check": arguments.cross_check,
    }
    meant = [option for option, is_given in given.items() if is_given]
    if meant:
        raise UsageError(
            f"{meant[0]} does not go with an ONNX file: it is read, not run, and judged for the offline route.",
            "Leave the option away, or scan the Python file that builds the model.",
        )
    dynamic = tuple(map(parse_dynamic, arguments.dynamic))
    request = OnnxRequest(arguments.torch_npu, arguments.cann, arguments.soc, fail_on, dynamic)
    assessment = scan_onnx(reference, request, progress)
    if arguments.route != "all":
        return assessment
    return replace(
        assessment,
        warnings=(*assessment.warnings, _ONE_ROUTE.en),
        warnings_zh=(*assessment.warnings_zh, _ONE_ROUTE.zh),
    )
