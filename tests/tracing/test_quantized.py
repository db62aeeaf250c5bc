"""Quantized models: packed weights and quantized tensors reach the inventory, and are judged."""

from __future__ import annotations

import warnings

import pytest
from traced_files import Trace

from opscan.assess import judge_calls
from opscan.matrix.query import Matrix
from opscan.target import Target

warnings.filterwarnings("ignore", category=DeprecationWarning)

STATIC = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant = torch.ao.quantization.QuantStub()
        self.conv = nn.Conv2d(3, 4, 3)
        self.relu = nn.ReLU()
        self.fc = nn.Linear(4, 2)
        self.dequant = torch.ao.quantization.DeQuantStub()
    def forward(self, x):
        x = self.relu(self.conv(self.quant(x)))  # <-- here
        return self.dequant(self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1)))
def build_model():
    model = M().eval()
    model.qconfig = torch.ao.quantization.get_default_qconfig("qnnpack")
    torch.ao.quantization.prepare(model, inplace=True)
    model(torch.randn(2, 3, 8, 8))
    return torch.ao.quantization.convert(model)
"""

DYNAMIC = """
def build_model():
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    return torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)
"""


@pytest.fixture(scope="module")
def verdict():  # type: ignore[no-untyped-def]
    matrix = Matrix.load(Target("2.13.0", "9.1.0", "ascend910b"))

    def of(found, name: str) -> tuple[str, str | None]:  # type: ignore[no-untyped-def]
        judged = [j for j in judge_calls(found.inventory, matrix) if j.example.name == name]
        assert len(judged) == 1, [j.example.name for j in judge_calls(found.inventory, matrix)]
        return judged[0].ruling.verdict, judged[0].ruling.rule

    return of


def test_dynamically_quantized_layers_run_on_the_cpu(trace: Trace, verdict) -> None:  # type: ignore[no-untyped-def]
    found = trace(DYNAMIC, "2,8")
    assert found.times("quantized::linear_dynamic") == 2
    assert verdict(found, "quantized::linear_dynamic") == ("fallback", "OPS102")
    assert found.complete
    assert not found.findings()


def test_statically_quantized_layers_run_nowhere(trace: Trace, verdict) -> None:  # type: ignore[no-untyped-def]
    found = trace(STATIC, "2,3,8,8")
    assert found.only("quantized::conv2d.new").dtypes == ("quint8",)
    assert found.lines_of("quantized::conv2d.new") == {found.line()}
    assert found.only("quantized::linear").outputs[0].shape == (2, 2)
    assert verdict(found, "quantized::conv2d.new") == ("unsupported", "OPS101")
    assert verdict(found, "aten::_adaptive_avg_pool2d") == ("unsupported", "OPS101")
    assert verdict(found, "aten::view")[0] == "supported"
    assert found.complete


def test_what_a_release_is_not_known_to_take(trace: Trace) -> None:
    found = trace(STATIC, "2,3,8,8")
    matrix = Matrix.load(Target("2.6.0", "8.1.RC1", "ascend910b"))
    rulings = {j.example.name: j.ruling for j in judge_calls(found.inventory, matrix)}
    assert rulings["aten::_adaptive_avg_pool2d"].verdict == "unknown"


def test_tensors_quantized_on_the_way(trace: Trace, verdict) -> None:  # type: ignore[no-untyped-def]
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                q = torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)
                return q.reshape(-1).dequantize() + q.int_repr().reshape(-1)
        """,
        "4,8",
    )
    assert found.only("aten::quantize_per_tensor").outputs[0].dtype == "qint8"
    assert found.only("aten::dequantize.self").dtypes == ("qint8",)
    assert verdict(found, "aten::int_repr")[0] == "unknown"  # a kernel there is, of which no table tells
    assert found.only("aten::add.Tensor").outputs[0].shape == (32,)


def test_the_fallback_cannot_give_a_quantized_result(trace: Trace, verdict) -> None:  # type: ignore[no-untyped-def]
    source = (
        "def build_model():\n    return lambda x: torch.quantize_per_tensor_dynamic(x, torch.qint8, False).dequantize()"
    )
    assert verdict(trace(source, "4,8"), "aten::quantize_per_tensor_dynamic") == ("unsupported", "OPS106")


def test_weights_of_a_tensor_subclass(trace: Trace) -> None:
    found = trace(
        """
        class Int8(torch.Tensor):
            @staticmethod
            def __new__(cls, q, s):
                return torch.Tensor._make_wrapper_subclass(cls, q.shape, dtype=s.dtype, device=q.device)
            def __init__(self, q, s):
                self.q, self.s = q, s
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                if func is torch.ops.aten.detach.default:
                    return Int8(args[0].q, args[0].s)
                if func is torch.ops.aten._to_copy.default:
                    return Int8(args[0].q.to(kwargs["device"]), args[0].s.to(kwargs["device"]))
                full = lambda t: t.q.to(t.s.dtype) * t.s[:, None]
                return func(*torch.utils._pytree.tree_map_only(Int8, full, args), **(kwargs or {}))
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                q, s = torch.ones(4, 8, dtype=torch.int8), torch.ones(4)
                self.weight = nn.Parameter(Int8(q, s), requires_grad=False)
            def forward(self, x):
                return F.linear(x, self.weight)
        """,
        "2,8",
    )
    assert any("int8" in call.dtypes for call in found.calls)
    assert "aten::mul.Tensor" in found.names()
    assert found.complete


def test_fake_quantization_in_training(trace: Trace) -> None:
    found = trace(
        """
        def build_model():
            model = nn.Sequential(nn.Linear(8, 4))
            model.train()
            model.qconfig = torch.ao.quantization.get_default_qat_qconfig("qnnpack")
            return torch.ao.quantization.prepare_qat(model)
        """,
        "2,8",
        train=True,
    )
    assert any("fake_quant" in name or "_fq_" in name for name in found.names())
    assert found.names("optimizer")
    assert not found.failed
