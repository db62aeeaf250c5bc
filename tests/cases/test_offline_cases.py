"""The same kind of inputs for the offline route: ONNX files as people send them to ATC, and models exported."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import model, node, value, weight

from opscan.assessment import Assessment
from opscan.loading.onnx_reference import OnnxFileReference
from opscan.loading.reference import parse_reference
from opscan.scan import OnnxRequest, ScanRequest, scan, scan_onnx
from opscan.workload import INFERENCE, DynamicInput, Workload

MODELS = Path(__file__).parent / "models"


def silent(stage: str) -> None: ...


def of_file(folder: Path, made: onnx.ModelProto) -> Assessment:
    path = folder / "model.onnx"
    path.write_bytes(made.SerializeToString())
    return scan_onnx(OnnxFileReference(str(path)), OnnxRequest("2.13.0", "9.1.0", "ascend910b"), silent)


def exported(name: str, workload: Workload = INFERENCE) -> Assessment:
    reference = parse_reference(str(MODELS / f"{name}.py"))
    return scan(ScanRequest(reference, (), "2.13.0", "9.1.0", "ascend910b", workload, route="offline"), silent)


def rules(result: Assessment) -> dict[str, str]:
    return {finding.rule: finding.message for finding in result.findings}


def test_a28_an_operator_of_a_custom_domain_has_no_parser(tmp_path: Path) -> None:
    custom = node("MMCVModulatedDeformConv2d", "x w", "y", "/backbone/layer2/dcn", domain="mmcv")
    result = of_file(tmp_path, model(custom, weights=(weight("w", 4, 3, 1, 1),), mmcv=1))
    (op,) = result.ops
    assert (op.name, op.verdict, op.rule) == ("mmcv::MMCVModulatedDeformConv2d", "unsupported", "OPS121")
    assert op.locations[0].module == "/backbone/layer2/dcn"
    assert op.facts["code"] == "E19010"
    assert not result.gate.passed


def test_a34_matmul_integer_has_no_parser(tmp_path: Path) -> None:
    inputs = (value("a", (2, 4), TensorProto.UINT8), value("b", (4, 3), TensorProto.UINT8))
    outputs = (value("y", (2, 3), TensorProto.INT32),)
    result = of_file(tmp_path, model(node("MatMulInteger", "a b", "y", "matmul"), inputs=inputs, outputs=outputs))
    (op,) = result.ops
    assert (op.verdict, op.rule, op.facts["code"]) == ("unsupported", "OPS121", "E19010")


def test_a35_a_slice_of_open_sizes_asks_for_gears(tmp_path: Path) -> None:
    ends = [helper.make_tensor(name, TensorProto.INT64, [1], [number]) for name, number in (("a", 0), ("b", 2))]
    result = of_file(
        tmp_path, model(node("Slice", "x a b", "y"), inputs=(value("x", ("N", 3, "H", "W")),), weights=ends)
    )
    assert {op.verdict for op in result.ops} <= {"supported", "unknown"}
    assert "x[N, 3, H, W]" in rules(result)["OPS621"]
    assert "--dynamic_dims" in rules(result)["OPS667"]


def test_a29_grid_sample_is_exported_at_an_opset_that_has_it() -> None:
    result = exported("a29")
    (op,) = (op for op in result.ops if op.name == "ai.onnx::GridSample")
    assert op.verdict in ("supported", "slow")
    assert result.trace.complete


def test_a42_height_and_width_that_vary_are_a_finding_with_gears() -> None:
    result = exported("a42", Workload(dynamic=(DynamicInput("x", (2, 3)),)))
    assert "ai.onnx::Resize" in {op.name for op in result.ops}
    assert "--dynamic_image_size" in rules(result)["OPS667"]


def test_t12_a_fourier_transform_has_no_offline_route() -> None:
    result = exported("t12")
    refused = {op.name: op.rule for op in result.ops if op.verdict == "unsupported"}
    assert refused
    assert set(refused.values()) <= {"OPS121", "OPS123"}
    assert not result.gate.passed


@pytest.mark.parametrize("name", ["t01", "t03", "t10"])
def test_a_branch_on_data_is_no_silent_constant(name: str) -> None:
    result = exported(name)
    assert not result.trace.complete
    assert {"OPS603"} <= {f.rule for f in result.findings} or result.trace.attempts[-1].reason
