from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from opscan.rendering.inert import inert, inert_code, shorten


def test_control_characters_become_visible() -> None:
    assert inert("a\x1b[31mb") == "a\\x1b[31mb"
    assert inert("line\r\nbreak\ttab") == "line\\r\\nbreak\\ttab"
    assert inert("\u202etxt.exe") == "\\u202etxt.exe"
    assert inert("zero\u200bwidth") == "zero\\u200bwidth"
    assert inert("\U000e0041") == "\\U000e0041"
    assert inert("\udc80") == "\\udc80"


def test_ordinary_text_stays_as_it_is() -> None:
    for content in ("aten::add.Tensor", "模型/层.py", "naïve café", "[red]{x}<b>", "全角\u3000空格", ""):
        assert inert(content) == content


def test_code_keeps_its_lines() -> None:
    assert inert_code("if x:\r\n\ty\x1b\n") == "if x:\n\ty\\x1b\n"


@given(st.text())
def test_nothing_active_is_left(content: str) -> None:
    assert not {unicodedata.category(char) for char in inert(content)} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@given(st.text(), st.integers(min_value=2, max_value=50))
def test_shorten_keeps_both_ends(content: str, limit: int) -> None:
    short = shorten(content, limit)
    assert len(short) == min(len(content), limit)
    if len(content) > limit:
        head, tail = short.split("…", 1) if content.count("…") == 0 else ("", "")
        assert content.startswith(head)
        assert content.endswith(tail)
