"""Makes the modules beside this file importable from every test, keeps what the developer has at hand out, and says
where a test gets a real torch_npu from.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from users_cache import users_cache

from opscan.probing import environment
from opscan.probing.environment import RehearsalEnvironment

#: The torch_npu release that the tests rehearse with: the one of the torch in constraints.txt.
RELEASE = "2.13.0"


@pytest.fixture(scope="session", autouse=True)
def nothing_of_the_users_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The user's data and cache folders, of this process and of those that it starts, are empty: no tables, no results
    of probes, and no torch_npu with which a scan would rehearse by itself.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def rehearsal_environment() -> RehearsalEnvironment:
    """The environment of torch_npu 2.13.0: this one, or a managed one in the user's own cache.

    Skips where there is none; with OPSCAN_REQUIRE_REHEARSAL=1 it is set up instead, and a failure fails the tests.
    """
    with users_cache():
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

    with users_cache():
        runtime: Path = build.runtime_for(rehearsal_environment.package)
    return runtime
