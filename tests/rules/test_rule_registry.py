"""Every rule: a code of its own, a file named after it, and the same facts in both languages."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

import opscan.rules
from opscan.rules.interface import Rule, Text
from opscan.rules.registry import RULES

FOLDER = Path(opscan.rules.__file__).parent
FILES = sorted(FOLDER.glob("ops*.py"))

#: What ``opscan.verdict``, ``opscan.routes`` and ``opscan.tracing`` can give to a message.
FACTS = {
    "operator", "dtypes", "release", "torch", "host_torch", "cann", "soc", "api", "parameter", "dtype", "detail",
    "reason", "what", "answer", "factory", "opset", "exporter_torch", "inputs", "converted", "domains", "functions",
    "output", "expected", "advice", "sizes", "given", "operators", "refused", "error", "outcome", "calls", "padding",
    "share", "options", "range", "modules", "parameters", "total", "verdict", "seen", "missed",
}  # fmt: skip

ALL = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_every_file_is_registered_and_every_rule_has_its_file() -> None:
    expected = {f"{rule.code.lower()}_{rule.name.replace('-', '_')}.py" for rule in RULES.values()}
    assert {path.name for path in FILES} == expected


def test_codes_and_names_are_unique() -> None:
    codes = [re.search(r'code="(OPS\d+)"', path.read_text(encoding="utf-8")) for path in FILES]
    assert sorted(found.group(1) for found in codes if found) == sorted(RULES)
    assert len({rule.name for rule in RULES.values()}) == len(RULES)


@ALL
def test_key_is_code(rule: Rule) -> None:
    assert RULES[rule.code] is rule
    assert re.fullmatch(r"OPS\d{3}", rule.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)


@ALL
def test_the_file_begins_with_the_code(rule: Rule) -> None:
    path = FOLDER / f"{rule.code.lower()}_{rule.name.replace('-', '_')}.py"
    assert path.read_text(encoding="utf-8").startswith(f'"""{rule.code}: ')


@ALL
def test_both_languages_are_there_and_take_known_facts(rule: Rule) -> None:
    for text in (rule.title, rule.message, rule.why, rule.fix):
        assert text.en.strip()
        assert text.zh.strip()
        assert text.in_("zh") == text.zh
    assert placeholders(rule.message.en) <= FACTS
    assert placeholders(rule.message.zh) <= FACTS
    for text in (rule.title, rule.why, rule.fix):
        assert not placeholders(text.en) | placeholders(text.zh)


@ALL
def test_both_languages_take_the_same_facts(rule: Rule) -> None:
    assert placeholders(rule.message.en) == placeholders(rule.message.zh)


@ALL
def test_a_message_without_facts_still_reads(rule: Rule) -> None:
    for lang in ("en", "zh"):
        said = rule.say(lang, {})
        assert said
        assert "{" not in said


@ALL
def test_facts_are_text_and_never_templates(rule: Rule) -> None:
    hostile = {name: "{detail}{0}{x.y}" for name in placeholders(rule.message.en)}
    if hostile:
        assert "{detail}{0}{x.y}" in rule.say("en", hostile)


@ALL
def test_code_says_what_the_verdict_is(rule: Rule) -> None:
    first = rule.code[3]
    allowed = {"1": ("unsupported", "fallback"), "2": ("slow",), "3": ("unknown",), "6": (None,)}
    assert rule.verdict in allowed[first]


@ALL
def test_severity_follows_the_verdict(rule: Rule) -> None:
    if rule.verdict is not None:
        assert (rule.severity == "error") == (rule.verdict == "unsupported")


@ALL
def test_the_documents_list_it(rule: Rule) -> None:
    page = (FOLDER.parent.parent / "docs" / "verdicts.md").read_text(encoding="utf-8")
    assert f"| `{rule.code}` {rule.name} | {rule.verdict or rule.severity} | {rule.title.en} |" in page


def test_a_part_names_the_operator_that_calls_it() -> None:
    rule = RULES["OPS102"]
    facts = {"operator": "aten::_logcumsumexp", "release": "2.13.0", "within": "aten::logcumsumexp"}
    assert rule.say("en", facts).startswith("aten::logcumsumexp calls other operators. ")
    assert "aten::_logcumsumexp" in rule.say("en", facts)
    assert rule.say("zh", facts).startswith("aten::logcumsumexp 会调用其他算子")
    assert not rule.say("en", {"operator": "aten::lgamma", "release": "2.13.0"}).startswith("aten::lgamma calls")


def test_a_language_that_is_not_there_is_english() -> None:
    assert Text("a", "b").in_("fr") == "a"
