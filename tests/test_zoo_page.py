"""The page of the zoo sweep is in step with its results, and the results reach what is asked of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from sweeping.records import Record

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "zoo_results.jsonl"


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> list[Record]:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from sweeping.records import Results

    return list(Results(RESULTS).records.values())


def test_the_page_is_written_from_the_results(records: list[Record]) -> None:
    from sweeping.page import page

    assert (ROOT / "docs" / "zoo.md").read_text(encoding="utf-8") == page(records), (
        "write it anew: python benchmarks/zoo.py --write docs/zoo.md"
    )


def test_no_model_hangs_or_takes_its_process_with_it(records: list[Record]) -> None:
    assert [r.name for r in records if r.outcome in ("time", "crash")] == []


def test_nearly_every_model_that_there_is_has_an_inventory(records: list[Record]) -> None:
    """Of transformers 5 there are parts of models, too, whose inputs opscan does not make yet."""
    models = [r for r in records if not r.section.startswith("onnx") and not r.ruled_out]
    newest = [r for r in models if r.section == "transformers-5"]
    others = [r for r in models if r.section != "transformers-5"]
    assert sum(r.has_inventory for r in others) >= 0.97 * len(others) > 0
    assert sum(r.has_inventory for r in newest) >= 0.75 * len(newest)


def test_every_onnx_file_has_an_inventory(records: list[Record]) -> None:
    files = [r for r in records if r.section.startswith("onnx")]
    assert files
    assert [r.name for r in files if not r.has_inventory] == []


def test_families_share_the_models_that_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from sweeping.names import spread

    families = {"large": [f"l{i}" for i in range(10)], "small": ["s0"], "middle": ["m0", "m1", "m2"]}
    assert list(spread(families, 7)) == ["l0", "l3", "l6", "m0", "m1", "m2", "s0"]
    assert len(list(spread(families, 99))) == 14
