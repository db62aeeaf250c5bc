"""Explanations on a terminal, in a pipe, and as JSON."""

from __future__ import annotations

import io
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from opscan.explanation import Citation, Explanation, Related
from opscan.rendering.explanation import print_explanation, render_explanation_json
from opscan.rendering.interface import Lang

CODE = Explanation(
    kind="code",
    subject="161002",
    name="ACLNN_ERR_PARAM_INVALID",
    title="refused",
    origin="aclnn",
    about="coverage",
    meaning="A dtype.",
    next="Cast.",
    rules=(Related("OPS104", "dtype refused"),),
    also=(Related("EZ9999", "inner error"),),
    sources=(Citation("Header", "a/b c.h @0123456789ab", "2026-08-22"),),
)


def _shown(explanation: Explanation, lang: Lang = "en", terminal: bool = False, width: int = 100) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream,
        force_terminal=terminal,
        width=width,
        color_system="standard" if terminal else None,
        legacy_windows=False,
    )
    print_explanation(explanation, console, lang)
    return stream.getvalue()


def test_a_pipe_gets_plain_lines() -> None:
    assert _shown(CODE).splitlines() == [
        "161002 ACLNN_ERR_PARAM_INVALID  refused",
        "",
        "From       aclnn",
        "Speaks of  coverage: an operator, dtype, shape or feature that is not supported",
        "Means      A dtype.",
        "Do next    Cast.",
        "Rule       OPS104  dtype refused",
        "Also here  EZ9999  inner error",
        "Source     Header (a/b c.h @0123456789ab, 2026-08-22)",
    ]


def test_a_terminal_gets_colour_and_the_same_words() -> None:
    shown = _shown(CODE, terminal=True)
    assert "\x1b[" in shown
    assert "coverage: an operator" in shown


def test_a_rule_shows_its_fields_in_chinese() -> None:
    rule = Explanation(
        kind="rule",
        subject="OPS104",
        title="内核不接受该数据类型",
        verdict="unsupported",
        severity="error",
        status="stable",
        example="x.double()",
    )
    shown = _shown(rule, "zh")
    assert "结论" in shown
    assert "稳定" in shown
    assert "x.double()" in shown


def test_a_family_says_that_only_it_is_known() -> None:
    shown = _shown(Explanation(kind="family", subject="507999", name="507xxx", title="t", next="n"))
    assert "only the family 507xxx" in shown
    assert shown.startswith("507999  t\n")


def test_json_is_whole_and_ends_in_a_newline() -> None:
    written = render_explanation_json(CODE)
    assert written.endswith("}\n")
    read = json.loads(written)
    assert read["schema"] == 1
    assert read["subject"] == "161002"
    assert read["rules"] == [{"code": "OPS104", "title": "dtype refused"}]


@pytest.mark.parametrize("terminal", [False, True])
@given(text=st.text(min_size=1))
def test_no_control_character_reaches_the_terminal(terminal: bool, text: str) -> None:
    dirty = Explanation(
        kind="code", subject=text, name=text, title=text, meaning=text, next=text, also=(Related(text, text),)
    )
    plain = _shown(dirty, terminal=False, width=1000)
    assert not [char for char in plain if unicodedata.category(char) in ("Cc", "Cf") and char != "\n"]
    if terminal:
        assert "\x1b]" not in _shown(dirty, terminal=True)
