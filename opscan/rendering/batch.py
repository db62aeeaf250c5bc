"""The roll-up of a batch: as JSON, as one HTML page that links to the reports, and as a summary on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from markupsafe import Markup

from opscan.rendering import overview, page
from opscan.rendering.html import report_environment
from opscan.rendering.inert import inert, shorten
from opscan.rendering.interface import LANGS, Lang, Messages
from opscan.rendering.screen import Screen
from opscan.rendering.strings import text
from opscan.rendering.table import print_table
from opscan.rendering.templates import read_source
from opscan.rollup import STATUSES, UNSCANNED, ModelResult, RollUp

#: Rows of each list on the terminal. The files have all of them.
_ROWS = 40

#: Operators on the page; the JSON has all of them. Models named beside an operator, blockers beside a model.
_OPERATORS, _MODELS, _BLOCKERS = 200, 8, 5

_CELL = 48

Result = Literal["passed", "failed", "incomplete", "nothing", "interrupted"]

_RESULTS: dict[int, Result] = {0: "passed", 1: "failed", 2: "nothing", 3: "incomplete", 130: "interrupted"}

#: The class of the page's style, and the terminal's style.
_TONES: dict[Result, tuple[str, str]] = {
    "passed": ("supported", "bold green"),
    "failed": ("unsupported", "bold red"),
    "incomplete": ("slow", "bold yellow"),
    "nothing": ("unsupported", "bold red"),
    "interrupted": ("unknown", "bold blue"),
}


def render_batch_json(roll_up: RollUp) -> str:
    """Pretty-printed; the same roll-up gives the same text. Names that are no text are written with escapes."""
    try:
        data = msgspec.json.encode(roll_up)
    except UnicodeEncodeError:
        data = msgspec.json.encode(_storable(msgspec.to_builtins(roll_up)))
    return msgspec.json.format(data, indent=2).decode("utf-8") + "\n"


def render_batch_html(roll_up: RollUp, lang: Lang, messages: Messages) -> str:
    """The whole page. Links are to files beside it."""
    style, script = read_source("report.css"), read_source("report.js")
    result = _RESULTS[roll_up.exit_code]
    return (
        report_environment(messages)
        .get_template("rollup.html.jinja")
        .render(
            roll_up=roll_up,
            models=_worst_first(roll_up.models),
            result=result,
            tone=_TONES[result][0],
            unscanned=_unscanned(roll_up),
            titles={each: text("batch.title", each, n=roll_up.totals.models) for each in LANGS},
            lang=lang,
            lang_tag=page.TAGS[lang],
            policy=page.policy(style, script),
            style=Markup(style),
            script=Markup(script),
            most_operators=_OPERATORS,
            most_models=_MODELS,
            most_blockers=_BLOCKERS,
        )
    )


def print_roll_up(roll_up: RollUp, screen: Screen, lang: Lang, written: Sequence[str]) -> None:
    """One line a model, worst first; what stands in the way of most; the sum."""
    _print_models(screen, roll_up, lang)
    _print_without(screen, roll_up, lang)
    _print_operators(screen, roll_up, lang)
    if roll_up.skipped:
        screen.blank()
        screen.line([(text("batch.skipped", lang), "bold")])
        for file in roll_up.skipped[:_ROWS]:
            screen.line([(_cell(file.path), "cyan"), (f"  {shorten(inert(file.reason), 200)}", "")], indent=2)
        _print_more(screen, len(roll_up.skipped), lang)
    result, totals = _RESULTS[roll_up.exit_code], roll_up.totals
    counts = {name: totals.statuses[name] for name in ("passed", "failed", "incomplete")}
    screen.blank()
    screen.line(
        [
            (f"{text(f'batch.result.{result}', lang)}  ", _TONES[result][1]),
            (text("batch.sentence", lang, n=totals.models, unscanned=_unscanned(roll_up), **counts), ""),
        ]
    )
    if _unscanned(roll_up) < totals.models:
        _print_effort(screen, roll_up, lang)
    for path in written:
        screen.line([(f"{text('batch.written', lang)}  ", "dim"), (inert(path), "bold")])


def _print_effort(screen: Screen, roll_up: RollUp, lang: Lang) -> None:
    days = roll_up.totals.person_days
    effort = text("effort.range", lang, low=overview.days(days.low), high=overview.days(days.high))
    likely = text("effort.likely", lang, likely=overview.days(days.likely))
    screen.line([(f"{text('terminal.effort', lang)}  ", "dim"), (f"{effort} · {likely}", "")])


def _print_models(screen: Screen, roll_up: RollUp, lang: Lang) -> None:
    names = ("model", "result", "coverage", "calls", "blockers", "days")
    heads = [text(f"batch.column.{name}", lang) for name in names]
    models = _worst_first(roll_up.models)
    rows = [_row(model, lang) for model in models]
    if any(model.scanned and model.scanned.recommended for model in models):
        heads.append(text("routes.recommended", lang))
        for model, row in zip(models, rows, strict=True):
            row.append((model.scanned.recommended if model.scanned else None) or "–")
    if rows:
        print_table(screen, heads, rows[:_ROWS])
        _print_more(screen, len(rows), lang)


def _row(model: ModelResult, lang: Lang) -> list[str]:
    status, scanned = text(f"batch.status.{model.status}", lang), model.scanned
    if scanned is None:
        return [_cell(model.name), status, "", "", "", ""]
    summary, days = scanned.summary, scanned.person_days
    return [
        _cell(model.name),
        status,
        overview.percent(summary.supported, summary.ops),
        overview.percent(scanned.calls.get("supported", 0), summary.calls),
        str(len(scanned.blockers)),
        f"{overview.days(days.low)}–{overview.days(days.high)}",
    ]


def _print_without(screen: Screen, roll_up: RollUp, lang: Lang) -> None:
    without = [model for model in _worst_first(roll_up.models) if model.scanned is None and model.status != "not_run"]
    if not without:
        return
    screen.blank()
    screen.line([(text("batch.without", lang), "bold")])
    for model in without[:_ROWS]:
        screen.line([(_cell(model.name), "bold"), (f"  {shorten(inert(model.reason or ''), 300)}", "")], indent=2)
        if model.hint:
            screen.line([(shorten(inert(model.hint), 300), "dim")], indent=4)
    _print_more(screen, len(without), lang)


def _print_operators(screen: Screen, roll_up: RollUp, lang: Lang) -> None:
    if not roll_up.operators:
        return
    screen.blank()
    screen.line([(text("batch.operators", lang), "bold")])
    headers = [text(key, lang) for key in ("column.verdict", "column.operator", "batch.column.models", "column.calls")]
    rows = [
        [text(f"verdict.{tally.verdict}", lang), _cell(tally.name), str(len(tally.models)), f"{tally.calls:,}"]
        for tally in roll_up.operators[: _ROWS // 2]
    ]
    print_table(screen, headers, rows)
    _print_more(screen, len(roll_up.operators), lang, _ROWS // 2)


def _print_more(screen: Screen, total: int, lang: Lang, shown: int = _ROWS) -> None:
    if total > shown:
        screen.line([(text("batch.more", lang, n=total - shown), "dim")])


def _worst_first(models: Sequence[ModelResult]) -> list[ModelResult]:
    return sorted(models, key=lambda model: (STATUSES.index(model.status), model.name))


def _unscanned(roll_up: RollUp) -> int:
    return sum(roll_up.totals.statuses[status] for status in UNSCANNED)


def _cell(content: str) -> str:
    return shorten(inert(content), _CELL)


def _storable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {key: _storable(item) for key, item in value.items()}
    return [_storable(item) for item in value] if isinstance(value, list | tuple) else value
