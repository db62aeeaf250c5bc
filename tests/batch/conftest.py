"""A batch whose scans are a small program."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from seen_batch import Seen

from opscan.batch.batch import BatchRequest, run_batch
from opscan.batch.entries import Entry
from opscan.batch.records import make_folder
from opscan.batch.schedule import Limits
from opscan.rollup import RollUp

FAKE = Path(__file__).with_name("fake_scan.py")


@pytest.fixture
def batch(tmp_path: Path) -> Callable[..., tuple[RollUp, Seen]]:
    """``batch("ok-1", "error", jobs=2)``: scan models of these names into ``tmp_path/out``."""

    def run(*names: str, stop_at: str | None = None, **changes: object) -> tuple[RollUp, Seen]:
        limits = Limits(changes.pop("jobs", 2), changes.pop("seconds", 30.0), changes.pop("memory", lambda: None))  # type: ignore[arg-type]
        make_folder(tmp_path / "out")
        request = BatchRequest(
            source="models",
            entries=[Entry(name, name, tmp_path) for name in names],
            skipped=(),
            output=tmp_path / "out",
            command=[sys.executable, str(FAKE)],
            lang="en",
            common=changes.pop("common", ["1.0"]),  # type: ignore[arg-type]
            limits=limits,
            again=bool(changes.pop("again", False)),
        )
        assert not changes
        seen = Seen(stop_at)
        return run_batch(request, seen, seen.stop), seen

    return run
