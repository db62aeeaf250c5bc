from __future__ import annotations

import msgspec
import pytest
import torch
from recorded_calls import call, spec

from opscan.inventory import TensorSpec
from opscan.substitution import registry, shapes
from opscan.substitution.checking import check, compare, concrete_inputs, replacement_callable
from opscan.substitution.interface import Match

INDEX = call(
    "aten::index.Tensor",
    {"self": spec("complex64", 40_000, 512), "indices[0]": spec("int64", 4_000)},
    (spec("complex64", 4_000, 512),),
)


def first(recorded: object) -> Match:
    matches, _ = registry.find(recorded, "complex64")  # type: ignore[arg-type]
    return matches[0]


def test_large_shapes_are_scaled_down_and_it_is_said() -> None:
    result = check(first(INDEX))
    assert result.check is not None
    assert result.check.scaled
    assert result.check.passed
    used = tuple(TensorSpec(dtype, shape) for dtype, shape in result.check.shapes)
    assert shapes.size_in_bytes(used) <= shapes.LIMIT
    assert result.check.shapes == (("complex64", (10_000, 512)), ("int64", (4_000,)))


def test_symbolic_sizes_get_numbers() -> None:
    recorded = call("aten::gather", {"self": spec("complex64", "s0", 4), "index": spec("int64", "s0 - 1", 4)}, dim=0)
    match = first(recorded)
    assert concrete_inputs(match) == (spec("complex64", 8, 4), spec("int64", 7, 4))
    result = check(match)
    assert result.check is not None
    assert result.check.passed


def test_the_same_call_always_gives_the_same_numbers() -> None:
    recorded = call("aten::mul.Tensor", {"self": spec("complex64", 8, 8), "other": spec("complex64", 8)})
    assert check(first(recorded)) == check(first(recorded))


def test_a_replacement_reads_no_values() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    recorded = call("aten::gather", {"self": spec("complex64", 9, 4), "index": spec("int64", 3, 4)}, dim=0)
    with FakeTensorMode():
        out = replacement_callable(first(recorded))(torch.empty(9, 4, dtype=torch.complex64), torch.zeros(3, 4).long())
    assert (out.dtype, tuple(out.shape)) == (torch.complex64, (3, 4))


def test_matches_and_results_travel_as_json() -> None:
    match = first(INDEX)
    assert msgspec.json.decode(msgspec.json.encode(match), type=Match) == match


@pytest.mark.parametrize(
    ("want", "got", "passed", "worst"),
    [
        ([1.0, 2.0], [1.0, 2.0], True, 0.0),
        ([1.0, 1000.0], [1.0, 1000.001], True, 1e-3),
        ([1.0, 1000.0], [1.0, 1000.01], False, 1e-2),
        ([0.0], [9e-6], True, 9e-6),
        ([float("inf")], [float("inf")], True, 0.0),
        ([float("inf")], [1.0], False, None),
        ([1.0], [float("nan")], False, None),
        ([], [], True, 0.0),
    ],
)
def test_what_passes(want: list[float], got: list[float], passed: bool, worst: float | None) -> None:
    result = compare([torch.tensor(want, dtype=torch.float64)], [torch.tensor(got, dtype=torch.float32)])
    assert result.passed is passed
    assert result.max_abs_error == (None if worst is None else pytest.approx(worst, rel=0.05))


def test_integers_must_be_equal() -> None:
    assert not compare([torch.tensor([3])], [torch.tensor([4])]).passed
    assert compare([torch.tensor([3])], [torch.tensor([3])]).tolerance == 0.0


def test_errors_relative_to_next_to_nothing_are_left_out() -> None:
    result = compare([torch.tensor([1e-9, 2.0]).double()], [torch.tensor([2e-9, 2.0])])
    assert result.max_rel_error == 0.0
