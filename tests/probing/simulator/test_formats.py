"""How large a tensor is in a storage format of the device's own."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

FLOAT32, FLOAT16, INT8 = 0, 1, 2
ND, FRACTAL_NZ = 2, 29


def size_in(simulator: Any, tensor: int, wanted: int) -> tuple[int, list[int], int]:
    """What the function returns, dimensions and format."""
    dims, count, actual = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_uint64(), ctypes.c_int(-7)
    code = simulator.acl.aclnnNpuFormatCastCalculateSizeAndFormat(
        ctypes.c_void_p(tensor), wanted, -1, ctypes.byref(dims), ctypes.byref(count), ctypes.byref(actual)
    )
    return code, dims[: count.value], actual.value


@pytest.mark.parametrize(
    ("dtype", "dims", "blocked"),
    [
        (FLOAT16, (32, 64), [4, 2, 16, 16]),
        (FLOAT16, (33, 65), [5, 3, 16, 16]),
        (INT8, (32, 64), [2, 2, 16, 32]),
        (FLOAT32, (2, 16, 8), [2, 1, 1, 16, 8]),
        (FLOAT16, (9, 0), [0, 1, 16, 16]),
    ],
)
def test_matrices_in_blocks(simulator, dtype, dims, blocked):
    assert size_in(simulator, simulator.tensor(dtype, *dims), FRACTAL_NZ) == (0, blocked, FRACTAL_NZ)


def test_other_formats_and_vectors_are_as_large_as_they_are(simulator):
    assert size_in(simulator, simulator.tensor(FLOAT16, 3, 5), ND) == (0, [3, 5], ND)
    assert size_in(simulator, simulator.tensor(FLOAT16, 7), FRACTAL_NZ) == (0, [7], FRACTAL_NZ)


def test_what_is_no_tensor_is_refused(simulator):
    assert size_in(simulator, 12345, FRACTAL_NZ)[0] != 0
