"""The cache folder of whoever runs the tests: big things are kept there from run to run (a torch_npu, its runtime)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

#: Read before a fixture gives the tests a folder of their own.
_OWN = os.environ.get("XDG_CACHE_HOME")


@contextmanager
def users_cache() -> Iterator[None]:
    """In here, this process and those that it starts use the user's real cache folder."""
    with pytest.MonkeyPatch.context() as patch:
        if _OWN is None:
            patch.delenv("XDG_CACHE_HOME", raising=False)
        else:
            patch.setenv("XDG_CACHE_HOME", _OWN)
        yield


def in_users_cache() -> dict[str, str]:
    """The environment of a process that is to use the user's real cache folder."""
    with users_cache():
        return dict(os.environ)
