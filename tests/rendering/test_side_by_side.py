"""Routes side by side: figures, the table of the terminal, the section of the page."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from opscan.assessment import AssessedFinding, Assessment, Blocker, PersonDays, RouteComparison, RouteResult, Summary
from opscan.inventory import Location
from opscan.rendering.html import render_html
from opscan.rendering.json import load_assessment, render_json
from opscan.rendering.side_by_side import figures
from opscan.rendering.terminal import print_summary
from opscan.text import Text

EAGER = RouteResult(
    "eager",
    summary=Summary(1200, 4000, 1199, 1, 0, 0, 0),
    calls={"supported": 3990, "slow": 10},
    person_days=PersonDays(0.5, 1, 2),
)
GRAPH = RouteResult(
    "graph",
    summary=Summary(30, 90, 25, 1, 1, 2, 1),
    calls={"supported": 80},
    blockers=(
        Blocker("aten::index_put", "OPS112", "it refuses", ("float32",), 2, (Location("m.py", 80, "cache"),)),
        Blocker("", "OPS610", "an extension for CUDA"),
    ),
    findings=(AssessedFinding("OPS607", "warning", "a graph break of sum", (Location("m.py", 81),)),),
    person_days=PersonDays(4, 8, 20),
)
OFFLINE = RouteResult("offline", "nothing exports it.", "Install onnxscript.")
ROUTES = RouteComparison(
    (EAGER, GRAPH, OFFLINE),
    "eager",
    (Text("eager: nothing stops it.", "eager：没有阻塞。"), Text("graph: two.", "graph：两个。")),
)


@pytest.fixture
def compared(sample: Assessment) -> Assessment:
    return replace(sample, routes=ROUTES)


def printed(assessment: Assessment, lang: Any = "en", **console: Any) -> str:
    file = io.StringIO()
    print_summary(assessment, Console(file=file, **console), lang)
    return file.getvalue()


def test_figures_of_a_route() -> None:
    found = figures(EAGER)
    assert (found.ops, found.ops_share) == ("1,199/1,200", "99.9%")
    assert (found.calls, found.calls_share) == ("3,990/4,000", "99.7%")
    assert (found.slower, found.unknown, found.blockers, found.effort) == ("1", "0", "0", "0.5–2")
    assert figures(GRAPH).slower == "2"
    assert figures(OFFLINE).ops == "–"


def test_a_row_a_route_then_the_recommendation(compared: Assessment) -> None:
    lines = [" ".join(line.split()) for line in printed(compared).splitlines()]
    at = lines.index("Route Operators supported Calls supported Slower Unknown Blockers Person-days")
    assert lines[at + 1] == "eager 1,199/1,200 (99.9%) 3,990/4,000 (99.7%) 1 0 0 0.5–2"
    assert lines[at + 2] == "graph 25/30 (83.3%) 80/90 (88.8%) 2 1 2 4–20"
    assert lines[at + 3] == "offline not judged – – – – –"
    assert lines[at + 5 : at + 8] == ["Recommended eager", "eager: nothing stops it.", "graph: two."]


def test_a_route_that_ends_says_so_without_colour(sample: Assessment) -> None:
    ended = replace(GRAPH, reason="the export fails")
    output = printed(replace(sample, routes=RouteComparison((ended,), None, ())))
    assert "stops" in output
    assert "Recommended  none" in output


def test_it_fits_a_terminal_of_eighty_columns_in_either_language(compared: Assessment) -> None:
    for lang in ("en", "zh"):
        output = printed(compared, lang, force_terminal=True, width=80, color_system=None)
        assert max(cell_len(line) for line in output.splitlines()) <= 80
    assert "推荐路线" in output
    assert "graph：两个。" in output


def test_one_route_has_no_table(sample: Assessment) -> None:
    assert "Recommended" not in printed(sample)
    assert 'id="routes"' not in render_html(sample)


def test_the_page_has_a_section_with_blockers_and_findings_of_other_routes(compared: Assessment) -> None:
    page = render_html(compared, "zh")
    section = page[page.index('<section id="routes"') :]
    section = section[: section.index("</section>")]
    for expected in (
        "99.9%", "1,199/1,200", "eager: nothing stops it.", "graph：两个。", "aten::index_put", "it refuses", "m.py:80",
        "an extension for CUDA", "a graph break of sum", "not judged", "未评估",
    ):  # fmt: skip
        assert expected in section
    assert page.index('id="routes"') < page.index('id="counts"')
    assert '<a href="#routes">' in page


def test_the_comparison_survives_a_report(compared: Assessment) -> None:
    assert load_assessment(render_json(compared).encode()).routes == ROUTES
