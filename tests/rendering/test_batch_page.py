from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from opscan.assessment import PersonDays, Summary, ToolInfo
from opscan.cli.messages import RuleMessages
from opscan.rendering.batch import print_roll_up, render_batch_html, render_batch_json
from opscan.rendering.screen import Screen
from opscan.rollup import STATUSES, ModelResult, OperatorTally, RollUp, ScannedModel, SkippedFile, Totals
from opscan.target import Target

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e"


@pytest.fixture
def roll_up() -> RollUp:
    counts = {"unsupported": 1, "fallback": 0, "slow": 0, "unknown": 0, "supported": 9}
    scanned = ScannedModel(
        HOSTILE,
        Target("2.6.0", "8.5.0", "ascend910b", "eager"),
        True,
        Summary(10, 10, 9, 0, 0, 1, 0),
        counts,
        0,
        (HOSTILE,),
        PersonDays(0.5, 1.0, 2.0),
    )
    models = (
        ModelResult(HOSTILE, HOSTILE, "failed", 1, None, None, 1.5, True, "", "m.json", "m 1.html", scanned),
        ModelResult("late", "late.py", "error", 2, HOSTILE, HOSTILE, 1.5, False, "", None, None, None),
    )
    statuses = {status: int(status in ("failed", "error")) for status in STATUSES}
    return RollUp(
        1,
        ToolInfo("0"),
        HOSTILE,
        3,
        False,
        Totals(2, statuses, counts, counts, PersonDays(0.5, 1.0, 2.0)),
        models,
        (OperatorTally(HOSTILE, "unsupported", "OPS104", (HOSTILE,), 3),),
        (SkippedFile(HOSTILE, HOSTILE),),
    )


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_hostile_gets_into_the_page(roll_up: RollUp, lang: str) -> None:
    html = render_batch_html(roll_up, lang, RuleMessages())  # type: ignore[arg-type]
    assert "<script>alert" not in html
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[31m\\u202e") >= 8
    assert "default-src &#39;none&#39;" in html


def test_the_page_links_to_reports_and_has_both_languages(roll_up: RollUp) -> None:
    html = render_batch_html(roll_up, "zh", RuleMessages())
    assert '<html lang="zh-CN">' in html
    assert 'href="m%201.html"' in html
    assert "Operators in the way of most models" in html
    assert "影响最多模型的算子" in html
    assert "90.0%" in html


def test_the_json_is_the_roll_up(roll_up: RollUp) -> None:
    data = json.loads(render_batch_json(roll_up))
    assert data["schema"] == 1
    assert data["models"][0]["name"] == HOSTILE
    assert data["models"][1]["scanned"] is None
    assert data["operators"][0]["models"] == [HOSTILE]


def test_the_recommended_route_stands_where_routes_were_compared(roll_up: RollUp) -> None:
    first, second = roll_up.models
    assert first.scanned is not None
    compared = replace(first, scanned=replace(first.scanned, recommended="offline"))
    page = render_batch_html(replace(roll_up, models=(compared, second)), "zh", RuleMessages())
    assert "推荐路线：offline" in page
    assert "推荐路线：" not in render_batch_html(roll_up, "zh", RuleMessages())
    file = io.StringIO()
    print_roll_up(replace(roll_up, models=(compared, second)), Screen(Console(file=file)), "en", ())
    lines = file.getvalue().splitlines()
    assert lines[0].endswith("Recommended")
    assert any(line.rstrip().endswith("offline") for line in lines)


def test_names_that_are_no_text_are_written_with_escapes(roll_up: RollUp) -> None:
    assert "\\\\udcff" in render_batch_json(replace(roll_up, source="a\udcff"))
