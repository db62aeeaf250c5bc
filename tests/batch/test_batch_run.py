"""Results of a batch, whatever its scans do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import NAME, all_ended, new_mark
from seen_batch import Seen

from opscan.rollup import ModelResult, RollUp

Batch = Callable[..., tuple[RollUp, Seen]]


def by_name(roll_up: RollUp) -> dict[str, ModelResult]:
    return {model.name: model for model in roll_up.models}


def test_no_model_ends_the_batch(batch: Batch) -> None:
    roll_up, seen = batch("error", "crash", "ok", "refused", "partly")
    models = by_name(roll_up)
    assert {name: model.status for name, model in models.items()} == {
        "error": "error",
        "crash": "error",
        "ok": "passed",
        "refused": "failed",
        "partly": "incomplete",
    }
    assert sorted(seen.done) == sorted(models)
    assert models["error"].exit_code == 2
    assert models["error"].reason == "model.py:3: it raised <b>\x1b[31m"
    assert models["error"].hint == "Read it."
    assert models["crash"].exit_code == -9
    assert "killed by signal 9" in (models["crash"].reason or "")
    assert roll_up.exit_code == 3


def test_the_order_is_that_of_the_entries(batch: Batch) -> None:
    roll_up, _ = batch("ok-3", "ok-1", "ok-2", jobs=3)
    assert [model.name for model in roll_up.models] == ["ok-3", "ok-1", "ok-2"]
    assert roll_up.exit_code == 0


def test_a_second_run_scans_only_what_has_no_result(batch: Batch) -> None:
    batch("ok", "error")
    roll_up, seen = batch("ok", "error", "refused")
    assert seen.begun == ["error", "refused"]
    assert seen.kept == 1
    assert by_name(roll_up)["ok"].reused
    assert by_name(roll_up)["ok"].scanned is not None
    _, again = batch("ok", again=True)
    assert again.begun == ["ok"]


def test_another_release_or_target_is_another_result(batch: Batch) -> None:
    batch("ok")
    _, seen = batch("ok", common=["1.1"])
    assert seen.begun == ["ok"]


def test_a_damaged_or_lost_report_is_made_anew(batch: Batch, tmp_path: Path) -> None:
    batch("ok-1", "ok-2", "ok-3")
    (tmp_path / "out" / "ok-1.json").write_text("{")
    (tmp_path / "out" / "ok-2.html").unlink()
    _, seen = batch("ok-1", "ok-2", "ok-3")
    assert seen.begun == ["ok-1", "ok-2"]


def test_the_time_of_one_model_is_limited(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, mark := new_mark())
    roll_up, _ = batch("hang", "ok", seconds=2.0)
    models = by_name(roll_up)
    assert models["hang"].status == "time_limit"
    assert models["hang"].exit_code is None
    assert "2 seconds" in (models["hang"].reason or "")
    assert models["ok"].status == "passed"
    assert all_ended(mark)


def test_interruption_keeps_what_is_finished_and_leaves_no_process(
    batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NAME, mark := new_mark())
    roll_up, _ = batch("ok", "hang", "ok-2", jobs=1, stop_at="hang")
    assert {name: model.status for name, model in by_name(roll_up).items()} == {
        "ok": "passed",
        "hang": "not_run",
        "ok-2": "not_run",
    }
    assert roll_up.interrupted
    assert roll_up.exit_code == 130
    assert all_ended(mark)
    _, seen = batch("ok", "ok-2")
    assert seen.begun == ["ok-2"]


def test_a_failed_scan_takes_its_old_report_away(batch: Batch, tmp_path: Path) -> None:
    batch("ok")
    for suffix in ("json", "html"):
        (tmp_path / "out" / f"error.{suffix}").write_text("of an earlier run")
    batch("error")
    assert not (tmp_path / "out" / "error.json").exists()
    assert not (tmp_path / "out" / "error.html").exists()


def test_a_scan_that_was_killed_beside_others_is_tried_alone(batch: Batch) -> None:
    roll_up, seen = batch("once", "ok-1", "ok-2", "ok-3", jobs=2)
    assert by_name(roll_up)["once"].status == "passed"
    assert seen.begun.count("once") == 2
    assert roll_up.exit_code == 0


def test_without_memory_one_scan_runs_at_a_time(batch: Batch) -> None:
    roll_up, seen = batch("ok-1", "ok-2", "crash", jobs=3, memory=lambda: 0)
    assert roll_up.totals.statuses["passed"] == 2
    # One that was killed alone is not tried again: nothing else took its memory.
    assert seen.begun == ["ok-1", "ok-2", "crash"]


def test_reports_are_named_after_models(batch: Batch, tmp_path: Path) -> None:
    roll_up, _ = batch("a/ok", "a-ok", "../ok", "index", "ok-<b>", "OK-ok")
    stems = [Path(model.json or "").stem for model in roll_up.models if model.json]
    assert len({stem.lower() for stem in stems}) == 6
    assert all("/" not in stem and "<" not in stem and stem != "index" for stem in stems)
    assert sorted(path.stem for path in (tmp_path / "out").glob("*.json")) == sorted(stems)
    assert json.loads((tmp_path / "out" / "records" / f"{stems[0]}.json").read_text())["exit_code"] == 0
