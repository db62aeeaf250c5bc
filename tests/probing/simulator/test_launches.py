"""Launches as the stubs of the runtime log them: arguments of every kind, in registers and on the stack."""

from __future__ import annotations

import ctypes
import json
from typing import Any

import pytest

from opscan.inventory import KernelArgument, KernelLaunch, TensorSpec

FLOAT, INT, LONG, BF16 = 0, 3, 9, 27


def logged(simulator: Any) -> list[list[Any]]:
    return [json.loads(line) for line in simulator.runtime.drain_lines().splitlines()]


def argument(simulator: Any, handle: int | None) -> list[Any]:
    """How the runtime writes one argument."""
    simulator.call("one", handle)
    (event,) = logged(simulator)
    assert event[:2] == ["launch", "aclnnAdd"]
    (words,) = event[2]
    assert isinstance(words, list)
    return words


def test_a_launch_becomes_a_kernel_launch_with_dtypes_shapes_and_formats(simulator):
    alpha = simulator.scalar(LONG, ctypes.c_int64(3))
    simulator.call("add", simulator.tensor(FLOAT, 2, 3), simulator.tensor(BF16, 3, format=29), alpha, None)
    tensors = [TensorSpec("float32", (2, 3)), TensorSpec("bfloat16", (3,))]
    assert simulator.runtime.drain() == (
        KernelLaunch(
            "aclnnAdd",
            (
                KernelArgument("T", (tensors[0],), ("ND",)),
                KernelArgument("T", (tensors[1],), ("FRACTAL_NZ",)),
                KernelArgument("S", (TensorSpec("int64", ()),)),
                KernelArgument("0"),
            ),
        ),
    )
    assert simulator.runtime.drain() == ()


def test_many_arguments_lie_in_registers_and_on_the_stack_whatever_their_width(simulator):
    tensor = simulator.tensor(FLOAT, 4)
    members = simulator.tensor(FLOAT, 4), simulator.tensor(INT)
    simulator.call(
        "many", tensor, simulator.handles("aclCreateTensorList", *members), ctypes.c_int32(7), ctypes.c_double(0.5)
    )
    t, plain, null = ["T", [FLOAT, [4], 2]], ["v"], ["0"]
    both = ["L", [FLOAT, [4], 2], [INT, [], 2]]
    expected = [t, plain, plain, null, both, plain, plain, null, plain, null, t]
    assert logged(simulator) == [["launch", "aclnnMany", expected]]


def test_strings_on_the_stack_do_not_end_the_arguments(simulator):
    """`many` gives two neighbouring short strings that lie in its own frame."""
    simulator.call("many", None, None, ctypes.c_int32(0), ctypes.c_double(0))
    (event,) = logged(simulator)
    assert len(event[2]) == 11
    assert event[2][5:7] == [["v"], ["v"]]


@pytest.mark.parametrize("length", [0, 1, 13, 3000])
def test_lists_of_any_length(simulator, length):
    tensors = [simulator.tensor(FLOAT, each) for each in range(length)]
    words = argument(simulator, simulator.handles("aclCreateTensorList", *tensors))
    assert words == ["L", *([FLOAT, [each], 2] for each in range(length))]


def test_a_list_keeps_the_place_of_what_is_left_out(simulator):
    words = argument(simulator, simulator.handles("aclCreateTensorList", None, simulator.tensor(FLOAT)))
    assert words == ["L", None, [FLOAT, [], 2]]


def test_values_of_arrays_and_scalars_are_logged(simulator):
    assert argument(simulator, simulator.array("aclCreateIntArray", (ctypes.c_int64 * 2)(-1, 2**40))) == [
        "I",
        -1,
        2**40,
    ]
    assert argument(simulator, simulator.array("aclCreateBoolArray", (ctypes.c_bool * 2)(True, False))) == [
        "B", True, False,
    ]  # fmt: skip
    floats = (ctypes.c_float * 3)(0.5, float("inf"), float("nan"))
    assert argument(simulator, simulator.array("aclCreateFloatArray", floats)) == ["F", 0.5, None, None]
    assert argument(simulator, simulator.scalar(FLOAT, ctypes.c_float(2.5))) == ["S", FLOAT, 2.5]
    assert argument(simulator, simulator.scalar(16, ctypes.c_double(2.5))) == ["S", 16, None]
    scalars = simulator.scalar(FLOAT, ctypes.c_float(1)), simulator.scalar(LONG, ctypes.c_int64(2))
    assert argument(simulator, simulator.handles("aclCreateScalarList", *scalars)) == ["Z", [FLOAT, 1], [LONG, 2]]


@pytest.mark.parametrize("number", [1, -1, 2**31 - 1, 2**40 + 1, 2**63 - 1])
def test_numbers_are_not_taken_for_handles(simulator, number):
    assert argument(simulator, number) == ["v"]


def test_what_has_been_destroyed_is_a_handle_no_more(simulator):
    tensor = simulator.tensor(FLOAT, 2)
    inside = simulator.handles("aclCreateTensorList", tensor)
    assert simulator.acl.aclDestroyTensorList(ctypes.c_void_p(inside)) == 0
    assert argument(simulator, inside) == ["v"]
    assert argument(simulator, tensor) == ["v"]
    assert simulator.acl.aclDestroyTensor(ctypes.c_void_p(tensor)) == 0  # once more is no harm


def test_handles_are_used_again(simulator):
    first = simulator.tensor(FLOAT, 2)
    simulator.acl.aclDestroyTensor(ctypes.c_void_p(first))
    assert simulator.tensor(LONG, 5) == first
    assert argument(simulator, first) == ["T", [LONG, [5], 2]]


def test_a_second_thread_is_read_like_the_first(simulator):
    simulator.call("add_elsewhere", simulator.tensor(FLOAT, 2))
    t = ["T", [FLOAT, [2], 2]]
    assert logged(simulator) == [["launch", "aclnnAdd", [t, t, ["0"], t]]]


def test_the_executor_joins_the_two_calls_of_a_kernel(simulator):
    simulator.call("interleaved", simulator.tensor(FLOAT), simulator.scalar(INT, ctypes.c_int32(4)))
    assert [event[2] for event in logged(simulator)] == [[["S", INT, 4]], [["T", [FLOAT, [], 2]]]]


def test_a_launch_whose_arguments_nobody_saw_is_still_logged(simulator):
    simulator.call("unread")
    assert simulator.runtime.drain() == (KernelLaunch("aclnnAdd", (KernelArgument("?"),)),)
