"""A scan of the graph route from beginning to end, without torch_npu."""

from __future__ import annotations

from pathlib import Path

from opscan.loading.inputs import parse_input_shape
from opscan.loading.reference import parse_reference
from opscan.scan import ScanRequest, scan

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "classifier.py"


def test_an_example_by_tables() -> None:
    request = ScanRequest(
        parse_reference(str(EXAMPLE)),
        (parse_input_shape("1,3,224,224"),),
        torch_npu="2.13.0",
        cann="9.1.0",
        soc="ascend910b",
        engine="virtual",
        route="graph",
    )
    found = scan(request, lambda stage: None)
    assert (found.trace.tracer, found.trace.engine) == ("captured-graph", "virtual")
    assert found.trace.complete
    assert found.summary.unsupported == found.summary.unknown == 0
    ops = {op.name: op for op in found.ops}
    assert ops["aten::convolution"].count == 46
    assert ops["aten::convolution"].kernels == ("Conv2D",)
    assert [e.kind for e in ops["aten::convolution"].evidence] == ["torchair", "cann"]
    assert "aten::batch_norm" not in ops
