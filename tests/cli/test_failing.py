"""What the command line tells the processes that it starts."""

from __future__ import annotations

import os

import pytest

from opscan.cli.failing import DEBUG, guarded


def test_only_debug_leaves_torchs_own_messages_on_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DEBUG, raising=False)
    seen: list[str | None] = []

    def work() -> int:
        seen.append(os.environ.get(DEBUG))
        return 3

    assert [guarded(work, debug=False), guarded(work, debug=True), guarded(work, debug=False)] == [3, 3, 3]
    assert seen == [None, "1", None]
