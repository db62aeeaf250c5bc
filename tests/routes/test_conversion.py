"""What the arguments of a call decide of its conversion."""

from __future__ import annotations

import pytest

from opscan.inventory import OpCall, TensorSpec
from opscan.routes.conversion import Conversion, conversion_of, of_the_chip


def call(name: str, inputs: list[str], output: str = "float32", rank: int = 4, **attributes: str) -> OpCall:
    shape = (2,) * rank
    specs = tuple(TensorSpec(dtype, shape) for dtype in inputs)
    return OpCall(f"aten::{name}", "forward", specs, (TensorSpec(output, shape),), tuple(attributes.items()))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (call("convolution", ["float32"] * 2, rank=3, transposed="False"), ("Conv2D",)),
        (call("convolution", ["float32"] * 2, rank=4, transposed="False"), ("Conv2D",)),
        (call("convolution", ["float32"] * 2, rank=5, transposed="False"), ("Conv3D",)),
        (call("convolution", ["float32"] * 2, rank=4, transposed="True"), ("Conv2DTranspose",)),
        (call("mean.dim", ["float32"], dim="[1]"), ("ReduceMean",)),
        (call("mean.dim", ["float16"], dim="[1]", dtype="torch.float32"), ("ReduceMeanWithCast",)),
        (call("max_pool2d_with_indices", ["float32"]), ("MaxPoolWithArgmaxV1",)),
        (call("relu", ["float32"]), ()),
    ],
)
def test_operators(made: OpCall, expected: tuple[str, ...]) -> None:
    assert conversion_of(made, "ascend910b").operators == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (call("add.Tensor", ["bool", "int64"], "int64"), Conversion(("Add",), "int64")),
        (call("add.Tensor", ["float32"] * 2, alpha="2"), Conversion(("AxpyV2",), "float32")),
        (call("mul.Tensor", ["bool", "bool"], "bool"), Conversion(("Mul",), "uint8")),
        (call("mul.Tensor", ["float16"], "float16", other="2.0"), Conversion(("Muls",))),
        (call("mul.Tensor", ["float32"], other="2.0"), Conversion(("Mul",), "float32")),
        (call("bitwise_and.Tensor", ["bool", "bool"], "bool"), Conversion(("LogicalAnd",), "bool")),
        (call("bitwise_not", ["int32"], "int32"), Conversion(("Invert",), "int32")),
        (call("cumsum", ["bool"], "int64"), Conversion((), "int64")),
        (call("any", ["float32"], "bool"), Conversion(("ReduceAny",), "bool")),
    ],
)
def test_dtypes(made: OpCall, expected: Conversion) -> None:
    assert conversion_of(made, "ascend910b") == expected


def test_newer_operators_for_the_newest_chip() -> None:
    made = call("max_pool2d_with_indices", ["float32"])
    assert conversion_of(made, "ascend950pr").operators == ("MaxPoolWithArgmaxV3",)


def test_statistics_of_a_batch_are_converted_on_one_chip_only() -> None:
    made = call("_native_batch_norm_legit.no_stats", ["float32"] * 3, training="True")
    assert conversion_of(made, "ascend910b").refusal == "it is converted on Ascend950 only"
    assert of_the_chip(made.name, "ascend910b").refusal == "it is converted on Ascend950 only"
    assert conversion_of(made, "ascend950pr") == Conversion(("BatchNormV3",))
    assert of_the_chip(made.name, "ascend950pr") == Conversion()
    outside = call("_native_batch_norm_legit", ["float32"] * 5, training="False")
    assert conversion_of(outside, "ascend950pr").refusal == "it is converted in training only"
