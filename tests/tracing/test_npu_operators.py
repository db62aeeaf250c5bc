"""Operators of torch_npu's own, called by name as libraries do on an NPU."""

from __future__ import annotations

import pytest
from traced_files import Trace


def body(call: str) -> str:
    return f"""
        import torch_npu
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(8))
            def forward(self, x):
                return {call}
        """


@pytest.mark.parametrize(
    ("call", "operator", "shape"),
    [
        ("torch_npu.npu_geglu(x, dim=-1, approximate=1)[0]", "npu::npu_geglu", (2, 6, 4)),
        ("torch_npu.npu_swiglu(x, 1)", "npu::npu_swiglu", (2, 3, 8)),
        ("torch_npu.npu_rms_norm(x, self.weight, epsilon=1e-5)[0]", "npu::npu_rms_norm", (2, 6, 8)),
        ("torch.ops.npu.npu_fast_gelu(x)", "npu::npu_fast_gelu", (2, 6, 8)),
        ("torch_npu.npu_confusion_transpose(x, [1, 0], [12, 8], False)", "npu::npu_confusion_transpose", (8, 12)),
        ("torch_npu.npu_fusion_attention(x, x, x, 2, 'BSH', scale=0.5)[0]", "npu::npu_fusion_attention", (2, 6, 8)),
    ],
)
def test_the_call_and_the_shape_of_its_result(trace: Trace, call: str, operator: str, shape: tuple[int, ...]) -> None:
    found = trace(body(call), "2,6,8")
    assert found.complete
    assert found.only(operator).outputs[0].shape == shape


def test_what_a_normalisation_keeps_is_float32(trace: Trace) -> None:
    found = trace(body("torch_npu.npu_rms_norm(x, self.weight.half())[0]"), "2,6,8:float16")
    assert [(s.dtype, s.shape) for s in found.only("npu::npu_rms_norm").outputs] == [
        ("float16", (2, 6, 8)),
        ("float32", (2, 6, 1)),
    ]


def test_rows_of_an_attention_by_its_layout(trace: Trace) -> None:
    found = trace(body("torch_npu.npu_fusion_attention(x, x, x, 3, 'BNSD')[1]"), "2,3,5,8")
    assert found.only("npu::npu_fusion_attention").outputs[1].shape == (2, 3, 5, 8)
    found = trace(body("torch_npu.npu_fusion_attention(x, x, x, 3, 'TND')[1]"), "7,3,16")
    assert found.only("npu::npu_fusion_attention").outputs[1].shape == (7, 3, 8)


def test_the_derivative_of_one(trace: Trace) -> None:
    found = trace(body("torch_npu.npu_rms_norm(x * self.weight, self.weight)[0]"), "2,8", train=True)
    assert found.complete
    assert found.times("npu::npu_rms_norm_backward", "backward") == 1


def test_libraries_find_an_installed_release(trace: Trace) -> None:
    found = trace(
        """
        import importlib.metadata, importlib.util
        installed = importlib.util.find_spec("torch_npu") is not None
        version = importlib.metadata.version("torch_npu")
        class M(nn.Module):
            def forward(self, x):
                return x.sin() if installed and version.startswith("2.") else x.cos()
        """,
        "2,8",
    )
    assert found.names() == ["aten::sin"]


def test_none_in_the_place_of_a_tensor_ends_the_trace_as_it_ends_a_run(trace: Trace) -> None:
    found = trace(body("torch_npu.npu_rms_norm(x.sin(), None)[0]"), "2,8")
    assert found.names() == ["aten::sin", "npu::npu_rms_norm"]
    assert "has None for its tensor gamma" in (found.inventory.trace.attempts[0].reason or "")
