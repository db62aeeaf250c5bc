"""Routes side by side: the figures of each for every format, and their place in the summary on the terminal."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len

from opscan.assessment import Assessment, RouteComparison, RouteResult
from opscan.rendering import overview
from opscan.rendering.inert import inert, shorten
from opscan.rendering.interface import Lang
from opscan.rendering.screen import Screen
from opscan.rendering.strings import text

#: Characters of one reason.
_MAX_SENTENCE = 500


@dataclass(frozen=True, slots=True)
class Figures:
    """One route in numbers, as text; a dash where there is none. ``slower``: operators that are slow or fall back."""

    route: str
    ops: str
    ops_share: str
    calls: str
    calls_share: str
    slower: str
    unknown: str
    blockers: str
    effort: str


def figures(result: RouteResult) -> Figures:
    summary, days = result.summary, result.person_days
    if summary is None or days is None:
        return Figures(result.route, *["–"] * 8)
    supported = result.calls.get("supported", 0)
    low, high = overview.days(days.low), overview.days(days.high)
    return Figures(
        route=result.route,
        ops=f"{summary.supported:,}/{summary.ops:,}",
        ops_share=overview.percent(summary.supported, summary.ops),
        calls=f"{supported:,}/{summary.calls:,}",
        calls_share=overview.percent(supported, summary.calls),
        slower=f"{summary.slow + summary.fallback:,}",
        unknown=f"{summary.unknown:,}",
        blockers=f"{len(result.blockers):,}",
        effort=low if low == high else f"{low}–{high}",
    )


def print_routes(screen: Screen, assessment: Assessment, lang: Lang) -> None:
    """A row a route, then which one is recommended and why. Nothing where one route was asked for."""
    routes = assessment.routes
    if routes is None:
        return
    screen.blank()
    names = ("route", "ops", "calls", "slower", "unknown", "blockers", "effort")
    head = [text(f"routes.{name}", lang) for name in names]
    rows = [_row(result, lang) for result in routes.results]
    widths = [max(cell_len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    screen.columns(head, widths, ["dim"] * len(head))
    for result, row in zip(routes.results, rows, strict=True):
        style = "bold" if result.route == routes.recommended else ""
        blocked = "bold red" if result.blockers or (result.reason and result.summary) else ""
        screen.columns(row, widths, [style, "", "", "", "", blocked, ""])
    screen.blank()
    _print_recommendation(screen, routes, lang)


def _row(result: RouteResult, lang: Lang) -> list[str]:
    if result.summary is None:
        return [result.route, text("routes.not_judged", lang), "–", "–", "–", "–", "–"]
    found = figures(result)
    blockers = text("routes.ends", lang) if result.reason else found.blockers
    ops, calls = f"{found.ops} ({found.ops_share})", f"{found.calls} ({found.calls_share})"
    return [result.route, ops, calls, found.slower, found.unknown, blockers, found.effort]


def _print_recommendation(screen: Screen, routes: RouteComparison, lang: Lang) -> None:
    label = text("routes.recommended", lang)
    width = cell_len(label) + 2
    screen.line([(f"{label}  ", "dim"), (routes.recommended or text("routes.none", lang), "bold")], hanging=width)
    for reason in routes.reasons:
        screen.line([(" " * width, ""), (shorten(inert(reason.in_(lang)), _MAX_SENTENCE), "")], hanging=width)
