"""A cross-check on the terminal: what each tracer came to, and the operators about which they differ."""

from __future__ import annotations

from rich.cells import cell_len

from opscan.assessment import Assessment, CheckedTracer, CrossCheck, Difference
from opscan.rendering import overview
from opscan.rendering.inert import inert, shorten
from opscan.rendering.interface import Lang
from opscan.rendering.screen import Screen
from opscan.rendering.strings import text

#: Rows of differences. The report has all of them.
MAX_ROWS = 20

#: Characters of an operator's name, and of a reason.
_MAX_NAME, _MAX_SENTENCE = 60, 300


def print_cross_check(screen: Screen, assessment: Assessment, lang: Lang) -> None:
    """Nothing where no other tracer was asked."""
    check = assessment.cross_check
    if check is None:
        return
    screen.blank()
    screen.line([(text("section.cross_check", lang), "bold")])
    _print_tracers(screen, check, lang)
    screen.line([(text("cross_check.agreed", lang, n=check.agreed, differ=len(check.differences)), "")])
    # Where a tracer ended early, everything behind that differs: a row for each would hide the others.
    rows = [each for each in check.differences if each.cause != "ended"]
    if rows:
        _print_differences(screen, check, rows, lang)
    if len(rows) < len(check.differences):
        screen.line([(text("cross_check.behind", lang, n=len(check.differences) - len(rows)), "dim")])


def _print_tracers(screen: Screen, check: CrossCheck, lang: Lang) -> None:
    head = [text(f"cross_check.{name}", lang) for name in ("tracer", "ops", "calls", "result")]
    rows = [[each.name, _number(each.ops), _number(each.calls), _result(each, lang)] for each in check.tracers]
    widths = [max(cell_len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    screen.columns(head, widths, ["dim"] * len(head))
    for each, row in zip(check.tracers, rows, strict=True):
        screen.columns(row, widths, ["bold" if each.shown else "", "", "", "" if each.ok else "yellow"])


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _result(tracer: CheckedTracer, lang: Lang) -> str:
    words = text(f"cross_check.result.{overview.tracer_result(tracer)}", lang)
    if tracer.reason:
        words += f": {shorten(inert(' '.join(tracer.reason.split())), _MAX_SENTENCE)}"
    return words + (f" ({text('cross_check.shown', lang)})" if tracer.shown else "")


def _print_differences(screen: Screen, check: CrossCheck, differences: list[Difference], lang: Lang) -> None:
    names = [tracer.name for tracer in check.tracers if tracer.ops is not None]
    head = [text("column.operator", lang), *names, text("column.verdict", lang), text("cross_check.cause", lang)]
    rows = [_row(each, names, lang) for each in differences[:MAX_ROWS]]
    widths = [max(cell_len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    screen.columns(head, widths, ["dim"] * len(head))
    for row in rows:
        screen.columns(row, widths, ["bold", *[""] * len(names), "", "dim"])
    if len(differences) > MAX_ROWS:
        screen.line([(text("terminal.more", lang, n=len(differences) - MAX_ROWS), "dim")])


def _row(difference: Difference, names: list[str], lang: Lang) -> list[str]:
    name = shorten(inert(difference.name), _MAX_NAME)
    if difference.phase != "forward":
        name += f" ({text(f'phase.{difference.phase}', lang)})"
    counts = [_number(difference.counts.get(tracer)) for tracer in names]
    cause = text(f"cross_check.cause.{difference.cause or 'none'}", lang)
    return [name, *counts, text(f"verdict.{difference.verdict}", lang), cause]
