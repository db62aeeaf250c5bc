"""Where a test gets a real torch_npu from, and the runtime that it is loaded over."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from opscan.probing import environment
from opscan.probing.environment import RehearsalEnvironment

#: The torch_npu release that the tests rehearse with: the one of the torch in constraints.txt.
RELEASE = "2.13.0"


@pytest.fixture(scope="session")
def rehearsal_environment() -> RehearsalEnvironment:
    """The environment of torch_npu 2.13.0: this one, or a managed one in the user cache.

    Skips where there is none; with OPSCAN_REQUIRE_REHEARSAL=1 it is set up instead, and a failure fails the tests.
    """
    found = environment.find(RELEASE)
    if found is not None:
        return found
    if os.environ.get("OPSCAN_REQUIRE_REHEARSAL") == "1":
        return environment.set_up(RELEASE, lambda line: print(line, file=sys.stderr))
    pytest.skip(f"no torch_npu {RELEASE} here; OPSCAN_REQUIRE_REHEARSAL=1 installs it into the user cache")


@pytest.fixture(scope="session")
def simulated_runtime(rehearsal_environment: RehearsalEnvironment) -> Path:
    """The built simulated CANN runtime for that torch_npu."""
    from opscan.probing.simulator import build

    runtime: Path = build.runtime_for(rehearsal_environment.package)
    return runtime
