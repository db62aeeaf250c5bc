"""What a rule or an error code is said to mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opscan.explain import explain, nearest_subjects
from opscan.rules.registry import RULES


@pytest.mark.parametrize("code", RULES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_rule_is_explained(code: str, lang: str) -> None:
    rule = RULES[code]
    found = explain(code.lower(), lang)
    assert found is not None
    assert explain(rule.name, lang) == found
    assert (found.kind, found.subject, found.name) == ("rule", code, rule.name)
    assert (found.title, found.meaning, found.next) == (rule.title.in_(lang), rule.why.in_(lang), rule.fix.in_(lang))
    assert found.example == rule.example
    assert found.status == rule.status


@pytest.mark.parametrize(
    ("subject", "about", "rule"),
    [
        ("161002", "coverage", "OPS104"),
        ("EZ1001", "coverage", "OPS107"),
        ("EZ3003", "coverage", "OPS105"),
        ("E16002", "coverage", None),
        ("E10010", "arguments", None),
        ("561112", "environment", None),
        ("507015", "fault", None),
        ("ERR01007", "coverage", "OPS106"),
        ("Op Range does not has any binary.", "environment", None),
        ("EZ9999: Cannot find bin of op Range, integral key", "unclear", "OPS104"),
        (
            "aten::x' is not currently supported on the NPU backend and will fall back to run on the CPU.",
            "coverage",
            "OPS102",
        ),
    ],
)
def test_whether_a_code_speaks_of_coverage(subject: str, about: str, rule: str | None) -> None:
    found = explain(subject, "en")
    assert found is not None
    assert found.about == about
    assert found.sources
    assert rule is None or rule in {related.code for related in found.rules}


def test_a_renamed_code_says_so() -> None:
    found = explain("E19010", "en")
    assert found is not None
    assert [each.code for each in found.successors] == ["E13010"]


def test_a_composed_code_names_its_module() -> None:
    found = explain("ERR02011", "zh")
    assert found is not None
    assert found.title == "torch_npu 分布式（DIST）：超时"


def test_the_other_codes_of_a_line_are_named() -> None:
    found = explain("EZ9999: Inner Error! runtime result = 507015 ERR00100 PTA call acl api failed", "en")
    assert found is not None
    assert found.subject == "507015"
    assert [each.code for each in found.also] == ["EZ9999", "ERR00100"]


def test_a_code_without_an_entry_names_its_family() -> None:
    found = explain("507999", "en")
    assert found is not None
    assert (found.kind, found.subject, found.name) == ("family", "507999", "507xxx")
    assert found.next


@pytest.mark.parametrize("subject", ["aten::add.Tensor", "OPS999", "nonsense", "", "16102"])
def test_what_is_neither_rule_nor_code(subject: str) -> None:
    assert explain(subject, "en") is None


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("16102", "161002"), ("OPS1O4", "OPS104"), ("dtype-refuse", "dtype-refused"), ("EZ99999", "EZ9999")],
)
def test_the_nearest_are_suggested(typed: str, meant: str) -> None:
    assert meant in nearest_subjects(typed)


def test_nothing_is_near_to_a_long_text_or_to_none() -> None:
    assert nearest_subjects("") == ()
    assert nearest_subjects("x" * 1000) == ()


@given(st.text(), st.sampled_from(["en", "zh", "fr"]))
def test_any_text_has_an_answer_or_none(text: str, lang: str) -> None:
    explain(text, lang)
    nearest_subjects(text)
