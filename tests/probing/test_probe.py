"""What is known already is not tried again, and a store that fails costs nothing but itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest

from opscan.errors import OpscanError
from opscan.probing import probe
from opscan.probing.pool import DeviceState, Options, PoolReport
from opscan.probing.probe import Tried, try_all
from opscan.probing.probed import ProbedDevice
from opscan.probing.protocol import Outcome
from opscan.probing.signature import Signature
from opscan.probing.worker_process import Start

A, B, C = (Signature(f"aten::{name}") for name in "abc")
START = Start(Path("python"), "fake", {})


class Memory:
    def __init__(self, known: dict[Signature, Outcome], broken: bool = False) -> None:
        self.known = dict(known)
        self.broken = broken
        self.puts = 0

    def get(self, signature: Signature) -> Outcome | None:
        return self.known.get(signature)

    def put(self, signature: Signature, outcome: Outcome) -> None:
        self.puts += 1
        if self.broken:
            raise OpscanError("no space left")
        self.known[signature] = outcome


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[Signature]:
    """The signatures that reach the pool; ``c`` is not run there."""
    seen: list[Signature] = []

    def run_pool(start, devices: Sequence[int], signatures: Sequence[Signature], options, listener, interrupt):  # type: ignore[no-untyped-def]
        seen.extend(signatures)
        for index, signature in enumerate(signatures):
            listener(index, Outcome("not_run" if signature == C else "native"))
        return PoolReport((DeviceState(0, starts=1),), True, False)

    monkeypatch.setattr(probe, "run_pool", run_pool)
    return seen


def run(store: Memory | None) -> Tried:
    return try_all({A: 1, B: 4, C: 2}, START, (0,), Options(), store, lambda stage: None, Event())


def test_what_is_known_is_not_tried(tried: list[Signature]) -> None:
    store = Memory({B: Outcome("refused")})
    result = run(store)
    assert tried == [A, C]
    assert [(op.signature, op.count, op.outcome.status, op.reused) for op in result.ops] == [
        (A, 1, "native", False),
        (B, 4, "refused", True),
        (C, 2, "not_run", False),
    ]
    assert [op.key for op in result.ops] == [A.key, B.key, C.key]
    assert result.devices == (ProbedDevice(0, 1),)
    assert set(store.known) == {A, B}


def test_without_a_store_all_are_tried(tried: list[Signature]) -> None:
    assert not any(op.reused for op in run(None).ops)
    assert tried == [A, B, C]


def test_a_store_that_fails_is_left_alone_and_named(tried: list[Signature]) -> None:
    store = Memory({}, broken=True)
    result = run(store)
    assert [op.outcome.status for op in result.ops] == ["native", "native", "not_run"]
    assert store.puts == 1
    assert result.warning == "no space left"
