from __future__ import annotations

import pytest
from recorded_calls import spec

from opscan.inventory import OpCall
from opscan.substitution.arguments import Operand, Symbol, base_name, operands, value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", 3),
        ("-1", -1),
        ("[1, 2]", [1, 2]),
        ("'mean'", "mean"),
        ("None", None),
        ("True", True),
        ("1e-05", 1e-5),
        ("inf", float("inf")),
        ("-inf", float("-inf")),
        ("(1+2j)", 1 + 2j),
        ("torch.float64", Symbol("torch.float64")),
        ("torch.contiguous_format", Symbol("torch.contiguous_format")),
        ("device(type='npu', index=0)", Symbol("npu:0", is_device=True)),
        ("device(type='cpu')", Symbol("cpu", is_device=True)),
    ],
)
def test_values_are_read_back(text: str, expected: object) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    "text", ["<torch._C.Generator object at 0x7f>", "s0", "__import__('os')", "[1, 2, 3, 4, 5...", ""]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a plain value"):
        value(text)


def test_operands_know_their_place_in_a_list() -> None:
    x, index = spec("float32", 4, 4), spec("int64", 2)
    call = OpCall("aten::index.Tensor", "forward", (x, index), (), parameters=("self", "indices[1]"))
    assert operands(call) == (Operand("self", None, x), Operand("indices", 1, index))
    assert operands(OpCall("aten::index.Tensor", "forward", (x, index), ())) is None


def test_names_have_three_parts() -> None:
    assert base_name(OpCall("aten::add.Tensor", "forward", (), ())) == ("aten", "add", "Tensor")
    assert base_name(OpCall("torchvision::nms", "forward", (), ())) == ("torchvision", "nms", "default")
