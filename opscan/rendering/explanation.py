"""An explanation on a terminal or as JSON."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from rich.cells import cell_len
from rich.console import Console

from opscan.explanation import About, Explanation, Related
from opscan.rendering.interface import Lang
from opscan.rendering.screen import Screen
from opscan.rendering.strings import text

_ABOUT_STYLES: dict[About, str] = {
    "coverage": "bold red",
    "arguments": "yellow",
    "environment": "blue",
    "resources": "blue",
    "fault": "bold red",
    "unclear": "yellow",
}


def render_explanation_json(explanation: Explanation) -> str:
    """Pretty-printed JSON that ends in a newline."""
    data = msgspec.json.encode({"schema": 1, **msgspec.to_builtins(explanation)})
    return msgspec.json.format(data, indent=2).decode("utf-8") + "\n"


def print_explanation(explanation: Explanation, console: Console, lang: Lang) -> None:
    """A headline, then one topic a line; topics that do not apply are left out."""
    screen = Screen(console)
    name = f" {explanation.name}" if explanation.name and explanation.kind != "family" else ""
    screen.line([(explanation.subject, "bold"), (name, "dim"), (f"  {explanation.title}", "bold")])
    lines = list(_lines(explanation, lang))
    width = max(cell_len(label) for label, _, _ in lines) + 2
    screen.blank()
    for label, value, style in lines:
        screen.line([(label + " " * (width - cell_len(label)), "dim"), (value, style)], hanging=width)


def _lines(explanation: Explanation, lang: Lang) -> Iterator[tuple[str, str, str]]:
    """Label, value and style of each line."""
    if explanation.kind == "family":
        yield text("explain.family", lang), text("explain.family_value", lang, pattern=explanation.name), "yellow"
    if explanation.origin:
        yield text("explain.origin", lang), explanation.origin, ""
    if explanation.about:
        yield text("explain.about", lang), text(f"about.{explanation.about}", lang), _ABOUT_STYLES[explanation.about]
    yield from _rule_lines(explanation, lang)
    for key in ("meaning", "message", "example", "next"):
        if value := getattr(explanation, key):
            yield text(f"explain.{key}", lang), value, "cyan" if key == "example" else ""
    for key, related in (
        ("explain.successors", explanation.successors),
        ("explain.rules", explanation.rules),
        ("explain.also", explanation.also),
    ):
        yield from ((text(key, lang), _named(each), "") for each in related)
    for source in explanation.sources:
        yield text("explain.source", lang), f"{source.document} ({source.where}, {source.date})", "dim"
    if explanation.page:
        yield text("explain.page", lang), explanation.page, "dim"


def _rule_lines(explanation: Explanation, lang: Lang) -> Iterator[tuple[str, str, str]]:
    if explanation.verdict:
        yield text("explain.verdict", lang), text(f"verdict.{explanation.verdict}", lang), "bold"
    if explanation.severity:
        yield text("explain.severity", lang), text(f"severity.{explanation.severity}", lang), ""
    if explanation.status:
        yield text("explain.status", lang), text(f"status.{explanation.status}", lang), ""


def _named(related: Related) -> str:
    return f"{related.code}  {related.title}"
