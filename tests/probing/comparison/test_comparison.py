from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from opscan.probing.comparison import Comparison, NoReference, compare, reference_of, results_of
from opscan.probing.comparison.tolerance import tolerances
from opscan.probing.samples.drawing import draw
from opscan.probing.samples.interface import Sample
from opscan.probing.signature import Signature, TensorArgument

Parameter = tuple[str, str, tuple[int, ...]]


def sample(operator: str, *tensors: Parameter, **attributes: Any) -> Sample:
    arguments = tuple(TensorArgument(*tensor) for tensor in tensors)
    return draw(Signature(operator, arguments, tuple((name, repr(value)) for name, value in attributes.items())))


def on_cpu(one: Sample) -> list[Tensor]:
    args, kwargs = one.placed(lambda tensor: tensor)
    return results_of(one, args, kwargs, one.operator(*args, **kwargs))


def compared(one: Sample, change: Callable[[list[Tensor]], Any] = lambda results: None) -> Comparison:
    """The CPU in the place of the device; ``change`` alters its results, in place or by returning others."""
    results = [result.clone() for result in on_cpu(one)]
    return compare(reference_of(one), change(results) or results)


def add(value: float, at: int = 0) -> Callable[[list[Tensor]], None]:
    def change(results: list[Tensor]) -> None:
        results[at][(0,) * results[at].dim()] += value

    return change


MM = ("aten::mm", ("self", "float32", (8, 64)), ("mat2", "float32", (64, 8)))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "complex64", "float64"])
def test_the_cpu_agrees_with_the_reference(dtype: str) -> None:
    found = compared(sample("aten::mm", ("self", dtype, (8, 64)), ("mat2", dtype, (64, 8))))
    assert found.passed
    assert found.errors is not None
    assert (found.errors.nonfinite, found.errors.unequal) == (0, 0)


def test_an_error_beyond_tolerance_is_found() -> None:
    found = compared(sample(*MM), add(0.05))
    assert not found.passed
    assert found.errors is not None
    assert found.errors.max_abs == pytest.approx(0.05, rel=1e-3)
    assert "1 of 64 elements are out of tolerance" in found.message


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_found(value: float) -> None:
    found = compared(sample("aten::exp", ("self", "float32", (8,))), add(value))
    assert not found.passed
    assert found.errors is not None
    assert found.errors.nonfinite == 1


def test_integers_must_be_equal() -> None:
    one = sample("aten::add.Tensor", ("self", "int64", (8,)), ("other", "int64", (8,)), alpha=1)
    assert compared(one).passed
    found = compared(one, add(1))
    assert found.errors is not None
    assert (found.passed, found.errors.unequal) == (False, 1)


def test_booleans_must_be_equal() -> None:
    one = sample("aten::gt.Scalar", ("self", "float32", (8,)), other=0.0)
    found = compared(one, lambda results: [~results[0]])
    assert found.errors is not None
    assert (found.passed, found.errors.unequal, found.message) == (False, 8, "8 of 8 elements differ")


def test_dtype_and_shape_must_be_those_expected() -> None:
    one = sample("aten::relu", ("self", "float32", (4,)))
    assert "float16, where float32" in compared(one, lambda results: [results[0].half()]).message
    assert "shape [2, 2], where [4]" in compared(one, lambda results: [results[0].view(2, 2)]).message
    assert "2 results, where 1" in compared(one, lambda results: results * 2).message


def test_double_precision_that_the_device_lacks_is_told_and_compared_as_single() -> None:
    one = sample("aten::exp", ("self", "float64", (8,)))
    found = compared(one, lambda results: [results[0].float()])
    assert found.passed
    assert found.note == "result 0 is float32, where float64 is expected"
    assert not compared(one, lambda results: [(results[0] * 1.001).float()]).passed


def test_arguments_that_are_written_to_are_compared() -> None:
    one = sample("aten::add_.Tensor", ("self", "float32", (4,)), ("other", "float32", (4,)), alpha=2)
    assert len(on_cpu(one)) == 1
    assert compared(one).passed
    assert not compared(one, add(0.1)).passed
    lists = sample("aten::_foreach_mul_.Scalar", ("self[0]", "float32", (4,)), ("self[1]", "float32", (3,)), scalar=2.0)
    assert [tuple(result.shape) for result in on_cpu(lists)] == [(4,), (3,)]
    assert not compared(lists, add(0.1, at=1)).passed
    out = sample("aten::mm.out", ("self", "float32", (2, 3)), ("mat2", "float32", (3, 2)), ("out", "float32", (2, 2)))
    assert len(on_cpu(out)) == 1
    assert not compared(out, add(0.1)).passed


def test_running_statistics_that_the_schema_does_not_announce_are_compared() -> None:
    one = sample(
        "aten::native_batch_norm", ("input", "float32", (4, 3)), ("running_mean", "float32", (3,)),
        ("running_var", "float32", (3,)), training=True, momentum=0.1, eps=1e-5,
    )  # fmt: skip
    assert len(on_cpu(one)) == 5
    assert compared(one).passed
    assert not compared(one, add(0.1, at=4)).passed


@pytest.mark.parametrize(
    ("operator", "tensors", "attributes"),
    [
        ("aten::rand", (), {"size": [100]}),
        ("aten::randint.low", (), {"low": 3, "high": 9, "size": [100]}),
        ("aten::bernoulli_.float", (("self", "float32", (100,)),), {"p": 0.3}),
        ("aten::multinomial", (("self", "float32", (5, 6)),), {"num_samples": 3}),
        ("aten::native_dropout", (("input", "float32", (200,)),), {"p": 0.4, "train": True}),
        (
            "aten::native_dropout_backward",
            (("grad_output", "float32", (200,)), ("mask", "uint8", (25,))),
            {"scale": 2.0},
        ),
        ("aten::randperm", (), {"n": 20}),
        ("aten::normal_", (("self", "float32", (500,)),), {"mean": 1.0, "std": 2.0}),
        ("aten::exponential_", (("self", "float32", (500,)),), {"lambd": 2.0}),
    ],
)
def test_random_results_are_asked_for_what_must_hold(
    operator: str, tensors: tuple[Parameter, ...], attributes: dict[str, Any]
) -> None:
    one = sample(operator, *tensors, **attributes)
    torch.manual_seed(1)
    found = compared(one)
    assert found.passed
    assert found.errors is None
    assert found.note == "not compared: it draws random numbers; dtype, shape and range were"
    assert not compared(one, add(1000)).passed


def test_a_random_result_with_another_mean_is_found() -> None:
    assert "mean" in compared(sample("aten::rand", size=[1000]), lambda results: [results[0] * 0.5]).message


def test_a_mask_that_the_device_drew_itself_is_no_error_and_nan_is_one() -> None:
    one = sample(
        "aten::native_dropout_backward", ("grad_output", "float32", (200,)), ("mask", "uint8", (25,)), scale=2.0
    )
    for seed in range(3):
        torch.manual_seed(seed)
        assert compared(one).passed
    assert not compared(one, lambda results: [results[0] * math.nan]).passed
    dropped = sample("aten::native_dropout", ("input", "float32", (200,)), p=0.4, train=True)
    assert not compared(dropped, lambda results: [results[0] * math.nan, *results[1:]]).passed


def test_unfilled_results_are_not_compared() -> None:
    found = compared(
        sample("aten::empty_like", ("self", "float32", (4,))), lambda results: [torch.full((4,), math.nan)]
    )
    assert (found.passed, found.errors) == (True, None)
    assert "not filled" in found.note
    assert not compared(sample("aten::empty_like", ("self", "float32", (4,))), lambda results: [torch.zeros(3)]).passed


@pytest.mark.parametrize(
    ("operator", "parameter", "flip"),
    [
        ("aten::_linalg_eigh", "A", lambda r: [r[0], -r[1]]),
        ("aten::_linalg_svd", "A", lambda r: [-r[0], r[1], -r[2]]),
        ("aten::linalg_qr", "A", lambda r: [-r[0], -r[1]]),
    ],
)
def test_factors_may_have_other_signs(
    operator: str, parameter: str, flip: Callable[[list[Tensor]], list[Tensor]]
) -> None:
    one = sample(operator, (parameter, "float32", (5, 5)))
    found = compared(one, flip)
    assert found.passed
    assert "their product was compared" in found.note
    assert not compared(one, add(0.05)).passed


def test_places_of_equal_values_are_compared_by_the_values() -> None:
    one = sample("aten::sort", ("self", "int8", (300,)), dim=-1)

    def swap(results: list[Tensor]) -> None:
        values, places = results
        tie = int((values[1:] == values[:-1]).nonzero()[0])
        places[[tie, tie + 1]] = places[[tie + 1, tie]]

    found = compared(one, swap)
    assert found.passed
    assert "by the values that they name" in found.note
    assert not compared(one, lambda results: [results[0], results[1].flip(0)]).passed
    assert not compared(one, lambda results: [results[0], results[1] + 300]).passed


def test_places_of_different_values_must_be_equal() -> None:
    one = sample("aten::sort", ("self", "float32", (30,)), dim=-1)
    assert not compared(one, lambda results: [results[0], results[1].roll(1)]).passed


def test_what_serves_the_implementation_alone_may_have_another_form() -> None:
    one = sample("aten::max_pool2d_with_indices", ("self", "float32", (1, 1, 4, 4)), kernel_size=[2, 2], stride=[2, 2])
    found = compared(one, lambda results: [results[0], torch.zeros(9, dtype=torch.int8)])
    assert found.passed
    assert "result 1 has shape [9]" in found.note
    assert not compared(one, add(0.5)).passed


def test_a_value_near_a_pole_says_nothing_of_the_device() -> None:
    one = sample("aten::logit", ("self", "bfloat16", (200,)), eps=1e-5)
    assert compared(one).passed


def test_precision_that_is_part_of_the_operator_is_kept() -> None:
    one = sample("aten::nextafter", ("self", "float32", (4,)), ("other", "float32", (4,)))
    assert compared(one).passed
    limits = sample("aten::nan_to_num", ("self", "float32", (4,)))
    limits.args[0][0] = math.inf
    assert compared(limits).passed


def test_an_operator_without_a_kernel_on_the_cpu_has_no_reference() -> None:
    library = torch.library.Library("opscan_test_comparison", "FRAGMENT")
    library.define("nowhere(Tensor self) -> Tensor")
    one = sample("opscan_test_comparison::nowhere", ("self", "float32", (2,)))
    with pytest.raises(NoReference, match="the CPU does not compute it"):
        reference_of(one)


def test_an_operator_without_a_double_kernel_is_compared_in_its_own_precision() -> None:
    library = torch.library.Library("opscan_test_narrow", "FRAGMENT")
    library.define("narrow(Tensor self) -> Tensor")

    def narrow(x: Tensor) -> Tensor:
        if x.dtype == torch.float64:
            raise RuntimeError("no double")
        return x * 2

    library.impl("narrow", narrow, "CPU")
    found = compared(sample("opscan_test_narrow::narrow", ("self", "float16", (4,))))
    assert (found.passed, found.note) == (True, "the reference is float32")
    single = compared(sample("opscan_test_narrow::narrow", ("self", "float32", (4,))))
    assert single.passed


def test_tolerances_are_those_of_torch_and_grow_with_the_root_of_the_terms() -> None:
    assert tolerances(torch.float32) == (1.3e-6, 1e-5)
    assert tolerances(torch.float32, 64) == pytest.approx((8 * 1.3e-6, 8e-5))
    assert tolerances(torch.int64, 64) == (0.0, 0.0)
    assert reference_of(sample(*MM)).terms == 64
    assert reference_of(sample("aten::add.Tensor", ("self", "float32", (99,)), ("other", "float32", (99,)))).terms == 1
    assert reference_of(sample("aten::amax", ("self", "float32", (9, 99)), dim=[1])).terms == 1
    assert reference_of(sample("aten::sum.dim_IntList", ("self", "float32", (9, 99)), dim=[1])).terms == 99
    convolution = sample(
        "aten::convolution", ("input", "float32", (2, 3, 8, 8)), ("weight", "float32", (4, 3, 3, 3)), stride=[1, 1],
        padding=[0, 0], dilation=[1, 1], transposed=False, output_padding=[0, 0], groups=1,
    )  # fmt: skip
    assert reference_of(convolution).terms == 36


def test_complex_results_are_compared() -> None:
    one = sample("aten::_fft_r2c", ("self", "float32", (16,)), dim=[0], normalization=0, onesided=True)
    assert compared(one).passed
    assert not compared(one, lambda results: [results[0] + 0.01j]).passed


CONVOLUTION = {
    "stride": [1, 1], "padding": [0, 0], "dilation": [1, 1], "transposed": False, "output_padding": [0, 0], "groups": 1,
}  # fmt: skip


def test_a_convolution_in_hf32_passes_and_is_told() -> None:
    tensors = (("input", "float32", (2, 8, 9, 9)), ("weight", "float32", (4, 8, 3, 3)))
    one = sample("aten::convolution", *tensors, **CONVOLUTION)

    def hf32(tensor: Tensor) -> Tensor:
        bits = tensor.view(torch.int32)
        return ((bits + 0x800) & ~0xFFF).view(torch.float32)  # 11 bits of mantissa

    narrow = torch.nn.functional.conv2d(hf32(one.args[0]), hf32(one.args[1]))
    found = compare(reference_of(one), [narrow])
    assert found.passed
    assert "as precise as HF32" in found.note
    half = torch.nn.functional.conv2d(one.args[0].bfloat16(), one.args[1].bfloat16()).float()
    assert not compare(reference_of(one), [half]).passed
    product = sample(*MM)
    assert not compare(reference_of(product), [hf32(product.args[0]) @ hf32(product.args[1])]).passed
