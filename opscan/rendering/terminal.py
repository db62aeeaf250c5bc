"""The summary at the end of a scan: what is in the way, in some forty lines, and where the whole report is."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console

from opscan.assessment import AssessedFinding, AssessedOp, Assessment, Severity, Substitution, Verdict
from opscan.inventory import Location
from opscan.rendering import overview
from opscan.rendering.cross_check import print_cross_check
from opscan.rendering.inert import inert, shorten
from opscan.rendering.interface import Lang, Messages, message_in
from opscan.rendering.screen import Screen
from opscan.rendering.side_by_side import print_routes
from opscan.rendering.strings import text
from opscan.rendering.workload import departures

#: Rows of each list. The report has all of them.
MAX_ROWS = 20

#: Characters of a name or path in a row; a longer one loses its middle.
_MAX_CELL = 60

#: Characters of a reason or message.
_MAX_SENTENCE = 500

_STYLES: dict[Verdict, str] = {
    "unsupported": "bold red",
    "fallback": "dark_orange",
    "slow": "yellow",
    "unknown": "blue",
    "supported": "green",
}
_STATE_STYLES: dict[overview.State, str] = {
    "blocked": "bold red",
    "undecided": "bold blue",
    "slower": "bold yellow",
    "clear": "bold green",
    "none": "bold blue",
}
_SEVERITY_STYLES: dict[Severity, str] = {"error": "bold red", "warning": "yellow", "info": "blue"}


def summary_console(stream: TextIO) -> Console:
    """A console on ``stream`` that decides by itself whether it is a terminal and honours ``NO_COLOR``."""
    return _SummaryConsole(file=stream, highlight=False, markup=False, emoji=False)


class _SummaryConsole(Console):
    def on_broken_pipe(self) -> None:
        """Whoever read the summary has seen enough. The exit code still tells the result, so this must not end the
        process, as rich would.
        """
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


def print_summary(
    assessment: Assessment,
    console: Console,
    lang: Lang = "en",
    messages: Messages | None = None,
    outputs: Sequence[str] = (),
) -> None:
    """Print the summary: with colours and wrapped lines on a terminal, as plain unwrapped lines elsewhere.

    ``outputs`` are the paths of the reports that were written.
    """
    screen = Screen(console)
    _print_headline(screen, assessment, lang)
    print_routes(screen, assessment, lang)
    _print_ops(screen, assessment, lang, messages)
    _print_findings(screen, assessment, lang, messages)
    _print_substitutions(screen, assessment, lang)
    print_cross_check(screen, assessment, lang)
    _print_result(screen, assessment, lang, outputs)


def _print_headline(screen: Screen, assessment: Assessment, lang: Lang) -> None:
    model = assessment.model
    screen.line(
        [(model.reference, "bold"), (f"  {text('terminal.parameters', lang, n=model.parameters)}", "dim")],
    )
    screen.line([(str(assessment.target), "dim")])
    if run := departures(assessment.workload):
        phrases = (_cell(text(each.key, lang, **each.values), _MAX_SENTENCE) for each in run)
        label = text("workload.run", lang)
        screen.line([(f"{label}  ", "dim"), (" · ".join(phrases), "")], hanging=cell_len(label) + 2)
    screen.blank()
    main, *others = overview.headline(assessment)
    screen.line(
        [
            (f"{text(f'state.{overview.state(assessment)}', lang)}  ", _STATE_STYLES[overview.state(assessment)]),
            (text(main.key, lang, **main.values), "bold"),
        ]
    )
    if others:
        screen.line([(" ".join(text(each.key, lang, **each.values) for each in others), "")])
    tallies = overview.tallies(assessment)
    counts: list[tuple[str, str]] = []
    for tally in tallies:
        if tally.ops:
            counts += [
                (f"{tally.ops:,} ", ""),
                (text(f"verdict.{tally.verdict}", lang), _STYLES[tally.verdict]),
                (" · ", "dim"),
            ]
    if counts:
        screen.line(counts[:-1])


def _print_ops(screen: Screen, assessment: Assessment, lang: Lang, messages: Messages | None) -> None:
    """Two lines an operator: what and where, then why. The columns are as wide as their longest cell."""
    ops = [op for op in overview.worst_first(assessment) if op.verdict != "supported"]
    if not ops:
        return
    shown = ops[:MAX_ROWS]
    digits = max(len(f"{op.count:,}") for op in shown)
    head = [text(f"column.{name}", lang) for name in ("verdict", "operator", "dtypes", "calls", "where")]
    rows = [
        [
            text(f"verdict.{op.verdict}", lang),
            _cell(op.name),
            _cell(overview.dtypes(op), _MAX_CELL // 2),
            f"{op.count:,}".rjust(digits),
            _where(op.locations),
        ]
        for op in shown
    ]
    widths = [max(cell_len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    screen.blank()
    screen.columns(head, widths, ["dim"] * len(head))
    for op, row in zip(shown, rows, strict=True):
        screen.columns(row, widths, [_STYLES[op.verdict], "bold", "", "", "cyan"])
        _print_reason(screen, op, widths[0] + 2, lang, messages)
    _print_more(screen, len(ops), lang)


def _print_reason(screen: Screen, op: AssessedOp, indent: int, lang: Lang, messages: Messages | None) -> None:
    reason = message_in(lang, op.rule, op.facts, op.reason or "", messages)
    if reason:
        screen.line([(f"{op.rule} " if op.rule else "", "dim"), (_cell(reason, _MAX_SENTENCE), "")], indent)


def _print_findings(screen: Screen, assessment: Assessment, lang: Lang, messages: Messages | None) -> None:
    findings = overview.by_severity(assessment)
    if not findings:
        return
    screen.blank()
    screen.line([(text("section.findings", lang), "bold")])
    width = max(cell_len(text(f"severity.{finding.severity}", lang)) for finding in findings)
    for finding in findings[:MAX_ROWS]:
        _print_finding(screen, finding, width, lang, messages)
    _print_more(screen, len(findings), lang)


def _print_finding(screen: Screen, finding: AssessedFinding, width: int, lang: Lang, messages: Messages | None) -> None:
    severity = text(f"severity.{finding.severity}", lang)
    message = message_in(lang, finding.rule, finding.facts, finding.message, messages)
    screen.line(
        [
            (severity + " " * (width - cell_len(severity) + 2), _SEVERITY_STYLES[finding.severity]),
            (f"{_where(finding.locations)}  " if finding.locations else "", "cyan"),
            (f"{finding.rule} ", "dim"),
            (_cell(message, _MAX_SENTENCE), ""),
        ],
        hanging=width + 2,
    )


def _print_substitutions(screen: Screen, assessment: Assessment, lang: Lang) -> None:
    applied = overview.substitutions(assessment)
    if not applied:
        return
    screen.blank()
    screen.line([(text("section.substitutions", lang), "bold")])
    names = [_cell(", ".join(each.replaces), _MAX_CELL // 2) for each in applied[:MAX_ROWS]]
    width = max(cell_len(name) for name in names) + 2
    for each, name in zip(applied, names, strict=False):
        screen.line(
            [
                (name + " " * (width - cell_len(name)), "bold"),
                (_cell(_title(each.substitution, lang), _MAX_SENTENCE), ""),
                (f" ({_checked(each.substitution, lang)})", "dim"),
            ],
            hanging=width,
        )
    _print_more(screen, len(applied), lang)


def _title(substitution: Substitution, lang: Lang) -> str:
    return (lang == "zh" and substitution.title_zh) or substitution.title


def _checked(substitution: Substitution, lang: Lang) -> str:
    check = substitution.check
    if check is None:
        result = text("terminal.unchecked", lang)
    else:
        key = "terminal.checked" if check.passed else "terminal.check_failed"
        result = text(key, lang, error=overview.error_size(check.max_abs_error))
    if substitution.supported:
        return result
    return f"{result}; {text('terminal.not_supported', lang)}"


def _warnings(assessment: Assessment, lang: Lang) -> tuple[str, ...]:
    """The warnings about the target; a result of an older opscan has them in English only."""
    return (assessment.warnings_zh if lang == "zh" else ()) or assessment.warnings


def _print_result(screen: Screen, assessment: Assessment, lang: Lang, outputs: Sequence[str]) -> None:
    """The closing lines, one a topic, with what the reader must not miss about the trace and the target."""
    lines = [
        *((text("terminal.warning", lang), warning, "yellow") for warning in _warnings(assessment, lang)),
        *((text("terminal.note", lang), note.in_(lang), "") for note in assessment.notes),
        *((text("terminal.not_seen", lang), unseen, "yellow") for unseen in assessment.trace.unseen),
        (text("terminal.coverage", lang), _coverage(assessment, lang), ""),
        (text("terminal.trace", lang), _trace(assessment, lang), ""),
        *((text("terminal.sizes", lang), tried, "") for tried in assessment.trace.sizes),
        (text("terminal.effort", lang), _effort(assessment, lang), ""),
        (text("terminal.gate", lang), _gate(assessment, lang), "green" if assessment.gate.passed else "bold red"),
        *((text("terminal.report", lang), output, "bold") for output in outputs),
    ]
    width = max(cell_len(label) for label, _, _ in lines)
    screen.blank()
    for label, value, style in lines:
        screen.line([(label + " " * (width - cell_len(label) + 2), "dim"), (value, style)], hanging=width + 2)


def _coverage(assessment: Assessment, lang: Lang) -> str:
    summary = assessment.summary
    calls = next(tally.calls for tally in overview.tallies(assessment) if tally.verdict == "supported")
    return text(
        "terminal.coverage_value",
        lang,
        ops_part=summary.supported,
        ops=summary.ops,
        ops_share=overview.percent(summary.supported, summary.ops),
        calls_part=calls,
        calls=summary.calls,
        calls_share=overview.percent(calls, summary.calls),
    )


def _trace(assessment: Assessment, lang: Lang) -> str:
    trace = assessment.trace
    parts = [f"{trace.tracer} ({trace.engine})" + (f", torch {trace.host_torch}" if trace.host_torch else "")]
    if trace.engine == "rehearse":
        note = f" ({trace.values_note})" if trace.values_note else ""
        what = "terminal.graph" if trace.tracer == "graph" else f"terminal.values.{trace.values}"
        parts.append(text(what, lang) + note)
    parts += _attempts(assessment, lang)
    if trace.approximate:
        parts.append(text("terminal.approximate", lang))
    if not trace.complete:
        parts.append(text("terminal.incomplete", lang))
    return "; ".join(parts)


def _attempts(assessment: Assessment, lang: Lang) -> list[str]:
    """What became of tracers that were asked before, and which one went on."""
    *before, last = assessment.trace.attempts or [None]
    told = [attempt for attempt in before if attempt is not None and attempt.reason]
    if not told or last is None:
        return []
    parts = [
        text(
            "terminal.less" if attempt.ok else "terminal.failed",
            lang,
            tracer=inert(attempt.tracer),
            reason=_cell(" ".join((attempt.reason or "").split()).rstrip("."), _MAX_SENTENCE),
        )
        for attempt in told
    ]
    return [*parts, text("terminal.went_on", lang, tracer=inert(last.tracer))] if last.ok else parts


def _effort(assessment: Assessment, lang: Lang) -> str:
    effort = assessment.cost.person_days
    low, likely, high = (overview.days(value) for value in (effort.low, effort.likely, effort.high))
    if low == high:
        return text("effort.exact", lang, low=low, n=effort.low)
    return f"{text('effort.range', lang, low=low, high=high)} · {text('effort.likely', lang, likely=likely)}"


def _gate(assessment: Assessment, lang: Lang) -> str:
    result = text("gate.passed" if assessment.gate.passed else "gate.failed", lang)
    return f"{result} ({text(f'gate.on.{assessment.gate.fail_on}', lang)})"


def _where(locations: Iterable[Location]) -> str:
    """The first line of code, and how many others there are."""
    lines = list(dict.fromkeys(map(_place, locations)))
    if not lines:
        return ""
    first = _cell(lines[0])
    return first if len(lines) == 1 else f"{first} +{len(lines) - 1}"


def _place(location: Location) -> str:
    """A line, or the node of a file that has no lines."""
    return f"{location.file}:{location.line}" if location.line else f"{location.file} {location.module}".rstrip()


def _cell(content: str, limit: int = _MAX_CELL) -> str:
    """Inert before it is measured: an escape is longer than the character it stands for."""
    return shorten(inert(content), limit)


def _print_more(screen: Screen, total: int, lang: Lang) -> None:
    if total > MAX_ROWS:
        screen.line([(text("terminal.more", lang, n=total - MAX_ROWS), "dim")])
