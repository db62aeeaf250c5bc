"""Makes the modules beside this file importable from every test, and keeps tables of the developer's own out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def no_tables_of_the_users_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The user data folder of this process and of those that it starts is empty."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield
