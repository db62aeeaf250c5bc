from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from opscan.matrix import Matrix
from opscan.matrix.data import support_matrix_dir
from opscan.target import Target

MatrixFor = Callable[[str, str], Matrix]


@cache
def _load(torch_npu: str, cann: str) -> Matrix:
    return Matrix.load(Target(torch_npu, cann, "ascend910b"))


@pytest.fixture(scope="session")
def matrix_for() -> MatrixFor:
    """The committed matrix for a torch_npu and a CANN release on ascend910b."""
    return _load


@pytest.fixture(scope="session")
def root() -> Path:
    return support_matrix_dir()
