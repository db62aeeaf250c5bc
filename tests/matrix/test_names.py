"""One spelling of an operator, from all that users write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opscan.matrix.names import canonical_operator, nearest


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("aten::add.Tensor", "aten::add.Tensor"),
        ("torch.ops.aten.add.Tensor", "aten::add.Tensor"),
        ("aten.add.Tensor", "aten::add.Tensor"),
        ("add.Tensor", "aten::add.Tensor"),
        (" aten::addmm.default ", "aten::addmm"),
        ("torch.ops.aten.addmm.default", "aten::addmm"),
        ("grid_sampler_2d", "aten::grid_sampler_2d"),
        ("torch.ops.npu.npu_rms_norm.default", "npu::npu_rms_norm"),
        ("torch_npu.npu_rms_norm", "npu::npu_rms_norm"),
        ("npu_rms_norm", "npu::npu_rms_norm"),
        ("torch.ops.torchvision.nms", "torchvision::nms"),
        ("_softmax", "aten::_softmax"),
        ("Add", "ai.onnx::Add"),
        ("onnx::Add", "ai.onnx::Add"),
        ("ai.onnx::Add", "ai.onnx::Add"),
        ("com.microsoft::FusedMatMul", "com.microsoft::FusedMatMul"),
        ("torch.ops.mylib.op", "mylib::op"),
        ("aclnnAddmm", "aclnnAddmm"),
        ("torch.nn.functional.grid_sample", "torch.nn.functional.grid_sample"),
        ("no operator!", "no operator!"),
        ("", ""),
    ],
)
def test_spellings(written: str, name: str) -> None:
    assert canonical_operator(written) == name


@given(st.text())
def test_a_canonical_name_stays(text: str) -> None:
    name = canonical_operator(text)
    assert canonical_operator(name) == name


def test_the_nearest_names() -> None:
    known = {"aten::add.Tensor", "aten::add.Scalar", "aten::addmm", "npu::npu_rms_norm", "ai.onnx::Add"}
    assert nearest("aten::addmm", known) == ("aten::addmm",)
    assert nearest("aten::add", known)[:2] == ("ai.onnx::Add", "aten::add.Scalar")
    assert nearest("aten::adddmm", known)[0] == "aten::addmm"
    assert nearest("zzz", known) == ()
