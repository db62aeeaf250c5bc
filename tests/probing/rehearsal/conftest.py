"""Models on the real torch_npu: one child process for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rehearsed_files import Rehearsed, Rehearser

from opscan.probing.environment import RehearsalEnvironment

Rehearse = Callable[..., Rehearsed]


@pytest.fixture(scope="session")
def rehearser(rehearsal_environment: RehearsalEnvironment, simulated_runtime: Path) -> Iterator[Rehearser]:
    made = Rehearser(rehearsal_environment, simulated_runtime)
    yield made
    made.close()


@pytest.fixture
def rehearse(rehearser: Rehearser, tmp_path: Path) -> Rehearse:
    """``rehearse(source, train=False)``: the model of a file, torch imported."""
    return lambda source, **options: rehearser(tmp_path, source, **options)


@pytest.fixture
def function(rehearser: Rehearser, tmp_path: Path) -> Rehearse:
    """``function(body, inputs, train=False)``: a model whose forward has that body."""
    return lambda body, inputs="torch.randn(4, 4)", **options: rehearser.function(tmp_path, body, inputs, **options)
