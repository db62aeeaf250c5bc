"""Small models through the dispatch tracer: one child process for all of them, since torch takes seconds to load."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from traced_files import Scanner, Trace, Traced, release_of

from opscan.worker.host import Worker


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    with Worker() as running:
        yield running


@pytest.fixture(scope="session")
def scanner(worker: Worker) -> Scanner:
    return Scanner(worker, release_of("2.13.0"))


@pytest.fixture
def trace(scanner: Scanner, tmp_path: Path) -> Trace:
    """``trace(source, "1,3", train=False)``: the model of a file, torch imported, traced for torch_npu 2.13.0.

    ``optimizer`` and ``amp`` as on the command line.
    """

    def run(source: str, *inputs: str, train: bool = False, **options: str) -> Traced:
        return scanner(tmp_path, source, inputs, train, **options)

    return run


@pytest.fixture
def trace_for(worker: Worker, tmp_path: Path) -> Callable[..., Trace]:
    """The same for another release of torch_npu, or another chip."""

    def choose(torch_npu: str, soc: str = "ascend910b") -> Trace:
        scanner = Scanner(worker, release_of(torch_npu, soc))
        return lambda source, *inputs, train=False, **options: scanner(tmp_path, source, inputs, train, **options)

    return choose
