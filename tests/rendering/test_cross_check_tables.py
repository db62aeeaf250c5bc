"""What a cross-check found, in the summary and in the report; attempts in words."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from opscan.assessment import Assessment, Difference
from opscan.inventory import Attempt
from opscan.rendering.html import render_html
from opscan.rendering.interface import Lang
from opscan.rendering.json import load_assessment, render_json
from opscan.rendering.terminal import print_summary


def summary(assessment: Assessment, lang: Lang = "en") -> list[str]:
    file = io.StringIO()
    print_summary(assessment, Console(file=file), lang)
    return [" ".join(line.split()) for line in file.getvalue().splitlines()]


def test_each_tracer_says_how_far_it_came(sample: Assessment) -> None:
    lines = summary(sample)
    start = lines.index("Tracers compared")
    assert lines[start + 1 : start + 5] == [
        "Tracer Operators Calls Result",
        "dispatch 6 70 reached the end on one path of several, or with gaps (this report)",
        "export – – no inventory: Data-dependent value at detector.py:91",
        "jit 1,234 68 reached the end of the model",
    ]


def test_operators_are_rows_with_counts_and_a_likely_reason(sample: Assessment) -> None:
    lines = summary(sample)
    assert "The inventories count 1 operator alike and 3 differently." in lines
    assert "Operator dispatch jit Verdict Likely reason" in lines
    assert "torchvision::nms 1 0 fallback not known: another path, or missed" in lines
    assert "aten::nonzero 1 0 slow its result is a constant of the captured graph" in lines


def test_what_lies_behind_an_early_end_is_counted_and_not_listed(sample: Assessment) -> None:
    lines = summary(sample)
    assert "1 operator differs only because a tracer ended before it." in lines
    assert not any(line.startswith("aten::logcumsumexp (backward) 1") for line in lines)
    assert "aten::logcumsumexp" in render_html(sample)


def test_chinese(sample: Assessment) -> None:
    lines = summary(sample, "zh")
    assert "跟踪器对比" in lines
    assert any(line.startswith("aten::nonzero 1 0 较慢") for line in lines)


def test_many_differences_are_cut(sample: Assessment) -> None:
    assert sample.cross_check is not None
    many = tuple(Difference(f"aten::op{n}", "forward", {"dispatch": n, "jit": 0}, "supported") for n in range(1, 40))
    lines = summary(replace(sample, cross_check=replace(sample.cross_check, differences=many)))
    assert "aten::op20 20 0 supported not known: another path, or missed" in lines
    assert not any(line.startswith("aten::op21 ") for line in lines)


def test_without_a_cross_check_there_is_no_word_of_it(sample: Assessment) -> None:
    without = replace(sample, cross_check=None)
    assert "Tracers compared" not in summary(without)
    assert 'id="cross-check"' not in render_html(without)


def test_the_report_has_a_section_in_both_languages(sample: Assessment) -> None:
    page = render_html(sample)
    section = page[page.index('<section id="cross-check">') :].partition("</section>")[0]
    for words in (
        "Tracers compared",
        "跟踪器对比",
        "torchvision::nms",
        "1,234",
        "its result is a constant",
        "成为常量",
    ):
        assert words in section
    assert '<a href="#cross-check">' in page
    assert len(re.findall("<tr>", section)) == 8


def test_it_comes_back_from_json(sample: Assessment) -> None:
    assert load_assessment(render_json(sample).encode()).cross_check == sample.cross_check


@pytest.mark.parametrize(
    ("attempts", "lang", "words"),
    [
        (
            (Attempt("dispatch", False, "The trace ended at model.py:12: a limit."), Attempt("export", True)),
            "en",
            "dispatch failed: The trace ended at model.py:12: a limit; export went on",
        ),
        (
            (Attempt("dispatch", False, "The trace ended at model.py:12: a limit."), Attempt("export", True)),
            "zh",
            "dispatch 失败：The trace ended at model.py:12: a limit; 改用 export",
        ),
        (
            (
                Attempt("fx", True, "It saw 2 distinct operators; dispatch saw 3."),
                Attempt("dispatch", False, "a limit"),
            ),
            "en",
            "fx saw less: It saw 2 distinct operators; dispatch saw 3; ",
        ),
    ],
)
def test_attempts_read_as_words(sample: Assessment, attempts: tuple[Attempt, ...], lang: Lang, words: str) -> None:
    lines = summary(replace(sample, trace=replace(sample.trace, attempts=attempts)), lang)
    assert any(words in line for line in lines)


def test_one_attempt_is_not_worth_a_word(sample: Assessment) -> None:
    lines = summary(replace(sample, trace=replace(sample.trace, attempts=(Attempt("dispatch", True),))))
    assert not any("went on" in line for line in lines)
