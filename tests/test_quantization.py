"""What is said of a quantized model: by how it is quantized, and what the release has."""

from __future__ import annotations

from opscan.inventory import Location, OpCall, TensorSpec
from opscan.quantization import findings_on_quantization, is_quantized, makes_quantized
from opscan.rules.registry import RULES


def _call(name: str, dtype: str = "float32", result: str = "float32", line: int = 1) -> OpCall:
    inputs, outputs = (TensorSpec(dtype, (2, 2)),), (TensorSpec(result, (2, 2)),)
    return OpCall(name, "forward", inputs, outputs, location=Location("m.py", line))


def test_one_finding_a_way_of_quantizing() -> None:
    calls = [
        _call("quantized::linear_dynamic", line=3),
        _call("aten::_weight_int8pack_mm", line=5),
        _call("quantized::linear_dynamic", line=4),
        _call("aten::mm"),
    ]
    packed, torchs = findings_on_quantization(calls, lambda name: True)
    assert "npu_weight_quant_batchmatmul" in packed.facts["advice"]
    assert "npu_quant_matmul" in torchs.facts["advice"]
    assert torchs.facts["operators"] == "quantized::linear_dynamic"
    assert [place.line for place in torchs.locations] == [3, 4]
    rule = RULES["OPS652"]
    assert "torch_npu.npu_quant_matmul" in rule.say("en", torchs.facts)
    assert "打包权重" in rule.say("zh", torchs.facts)


def test_operators_that_a_release_lacks_are_not_advised() -> None:
    (finding,) = findings_on_quantization([_call("aten::_scaled_mm", "float8_e4m3fn")], lambda name: False)
    assert finding.facts["advice"] == "This release of torch_npu has nothing instead."


def test_nothing_is_said_of_other_models() -> None:
    assert findings_on_quantization([_call("aten::mm", "int8")], lambda name: True) == []


def test_quantized_tensors_by_their_dtypes() -> None:
    assert is_quantized(_call("aten::relu", "quint8"))
    assert not is_quantized(_call("aten::relu", "uint8"))
    assert makes_quantized(_call("aten::quantize_per_tensor", result="qint8"))
