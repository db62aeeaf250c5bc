"""Real child processes; one is shared by all tests that leave it alive."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from opscan.inventory import Inventory
from opscan.loading.inputs import parse_input_shape
from opscan.loading.reference import parse_reference
from opscan.matrix.query import Matrix
from opscan.scan import release_for
from opscan.target import Target
from opscan.worker.host import Worker
from opscan.worker.protocol import Release, Scan
from opscan.workload import Workload

Run = Callable[..., Inventory]


@pytest.fixture(scope="session")
def release() -> Release:
    return release_for(Matrix.load(Target("2.13.0", "9.1.0", "ascend910b")))


@pytest.fixture
def request_for(tmp_path: Path, release: Release) -> Callable[..., Scan]:
    def make(source: str, *inputs: str, train: bool = False) -> Scan:
        path = tmp_path / "net.py"
        path.write_text("import torch\nfrom torch import nn\n" + textwrap.dedent(source))
        return Scan(
            parse_reference(str(path)), tuple(map(parse_input_shape, inputs or ("2,8",))), release, Workload(train)
        )

    return make


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the shared child's stderr goes."""
    return tmp_path_factory.mktemp("child") / "stderr"


@pytest.fixture(scope="module")
def shared(printed: Path) -> Iterator[Worker]:
    ours = os.dup(2)
    with printed.open("wb") as file:
        os.dup2(file.fileno(), 2)
        worker = Worker().__enter__()
        os.dup2(ours, 2)
    os.close(ours)
    yield worker
    worker.__exit__(None, None, None)


@pytest.fixture
def run(shared: Worker, request_for: Callable[..., Scan]) -> Run:
    """Scan a file in the shared child."""

    def scan(source: str, *inputs: str) -> Inventory:
        return shared.scan(request_for(source, *inputs), lambda stage: None).inventory

    return scan
