"""Products of matrices read from calls, and which of them are worth telling."""

from __future__ import annotations

import pytest

from opscan.inventory import Location, OpCall, TensorSpec
from opscan.sizes.alignment import products, unaligned


def call(
    name: str,
    *inputs: tuple[int, ...],
    out: tuple[int, ...],
    dtype: str = "float16",
    count: int = 1,
    attributes: tuple[tuple[str, str], ...] = (),
) -> OpCall:
    specs = tuple(TensorSpec(dtype, shape) for shape in inputs)
    return OpCall(name, "forward", specs, (TensorSpec(dtype, out),), attributes, Location("m.py", 3), count)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (call("aten::mm", (32, 100), (100, 300), out=(32, 300)), [(32, 100, 300, 1)]),
        (call("aten::addmm", (300,), (32, 100), (100, 300), out=(32, 300)), [(32, 100, 300, 1)]),
        (call("aten::matmul", (2, 16, 100), (100, 50257), out=(2, 16, 50257)), [(32, 100, 50257, 1)]),
        (call("aten::bmm", (8, 16, 64), (8, 64, 17), out=(8, 16, 17)), [(16, 64, 17, 8)]),
        (call("aten::linear", (2, 16, 100), (300, 100), out=(2, 16, 300)), [(32, 100, 300, 1)]),
        (call("ai.onnx::Gemm", (2, 100), (300, 100), out=(2, 300)), [(2, 100, 300, 1)]),
        (call("aten::convolution", (1, 24, 8, 8), (40, 24, 3, 3), out=(1, 40, 8, 8)), [(64, 24, 40, 9)]),
        (call("aten::convolution", (1, 24, 8, 8), (24, 12, 3, 3), out=(1, 24, 8, 8)), [(64, 12, 12, 18)]),
        (
            call("npu::npu_fusion_attention_v3", *[(2, 5, 16, 20)] * 3, out=(2, 5, 16, 20)),
            [(16, 20, 16, 10), (16, 16, 20, 10)],
        ),
        (call("aten::convolution", (1, 3, 8, 8), (64, 3, 7, 7), out=(1, 64, 8, 8)), []),
        (call("aten::convolution", (1, 32, 8, 8), (32, 1, 3, 3), out=(1, 32, 8, 8)), []),
        (call("aten::add.Tensor", (3, 3), (3, 3), out=(3, 3)), []),
        (call("aten::mm", (32, 100), (100, 300), out=(32, 300), dtype="float64"), []),
    ],
)
def test_products_of_a_call(one: OpCall, expected: list[tuple[int, int, int, int]]) -> None:
    assert [(p.m, p.k, p.n, p.batch) for p in products(one)] == expected


def test_a_product_that_fills_its_blocks_is_not_told() -> None:
    assert unaligned([call("aten::mm", (32, 64), (64, 128), out=(32, 128))]) == ()


def test_one_that_does_not_is_told_with_its_share() -> None:
    (told,) = unaligned(
        [
            call("aten::mm", (32, 64), (64, 17), out=(32, 17), count=2),
            call("aten::mm", (32, 64), (64, 32), out=(32, 32), count=2),
        ]
    )
    assert (told.operator, told.calls) == ("aten::mm", 2)
    assert told.waste == pytest.approx(15 / 32)
    assert told.share == pytest.approx(15 / 64)
    assert told.locations == (Location("m.py", 3),)


def test_what_is_little_of_the_model_is_not_told() -> None:
    assert not unaligned(
        [
            call("aten::mm", (32, 64), (64, 17), out=(32, 17)),
            call("aten::mm", (512, 1024), (1024, 1024), out=(512, 1024)),
        ]
    )


def test_a_small_batch_is_not_padding() -> None:
    assert unaligned([call("aten::mm", (1, 64), (64, 128), out=(1, 128))]) == ()


def test_blocks_are_as_wide_as_the_dtype_makes_them() -> None:
    single = call("aten::mm", (32, 24), (24, 32), out=(32, 32), dtype="float32")
    assert unaligned([single]) == ()
    assert unaligned([single], narrows=True)[0].waste == pytest.approx(0.25)
