from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from opscan.assessment import AssessedOp, Assessment, Cost, Evidence, PersonDays
from opscan.rendering.html import render_html
from opscan.rendering.interface import Messages
from opscan.rendering.templates import read_source, reports_folder


class Page(HTMLParser):
    """Elements, their attributes and the visible text of a page."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.pieces: list[str] = []
        self._silent = 0
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self._silent += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.pieces.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.pieces))


def test_everything_an_engineer_needs_is_in_the_static_page(sample: Assessment, messages: Messages) -> None:
    text = Page(render_html(sample, messages=messages)).text
    for part in (
        "The model is not ready for ascend910b: 1 of its 6 operators is unsupported.",
        "aclnnIndex does not list complex64 for parameter self at CANN 8.5.0 on ascend910b",
        "OPS104",
        "dtype not accepted",
        "complex64[2048, 64]",
        "int64[batch, 64]",
        "aclnnNonzeroV2",
        "llama_block.py:31",
        "layers.0.attention, layers.1.attention",
        "cann 8.5.0",
        "CANN 8.1.RC1 lists float64 for aclnnLinspace, CANN 8.5.0 does not",
        "aten::_logcumsumexp",
        "x = torch.view_as_complex(x) * freqs[positions]",
        "largest absolute error 1.2e-07, relative 3.4e-06; allowed is 1.0e-06 + 1.0e-05 × |expected|",
        "The kernel rejects the call",
        "Use a listed dtype",
        "The recorded shapes were too large; smaller ones were used.",
        "a cuda device is hard-coded; it was redirected",
        "torch_npu 2.6.0.post5 is documented for CANN 8.3.RC1, not 8.5.0",
        "operators after detector.py:91 for more than one box",
        "Data-dependent value at detector.py:91",
        "Nothing here was measured on an NPU.",
        "1.75–7 person-days",
        "× 0.5 / 1 / 2",
        "= 1 / 2 / 4",
        "1.75 / 3.5 / 7",
    ):
        assert part in text, part


def test_both_languages_are_in_the_page(sample: Assessment, messages: Messages) -> None:
    english, chinese = (render_html(sample, lang, messages) for lang in ("en", "zh"))
    assert '<html lang="en">' in english
    assert '<html lang="zh-CN">' in chinese
    for page in (english, chinese):
        assert "aclnnIndex 的参数 self 未列出 complex64" in page
        assert "该模型尚不能用于 ascend910b" in page
        assert "回退到 CPU 的算子" in page
        assert "用实数对代替复数的旋转位置编码" in page
        assert "改用受支持的数据类型" in page
        assert "operators that fall back to the CPU" in page
    assert ">examples/llama_block.py 迁移至 ascend910b – opscan 报告</title>" in chinese


def test_the_same_assessment_gives_the_same_page(sample: Assessment) -> None:
    assert render_html(sample) == render_html(sample)


def test_the_page_loads_nothing(sample: Assessment) -> None:
    source = render_html(sample)
    page = Page(source)
    links = [value for tag, name, value in page.attributes if name in ("href", "src", "action", "data", "srcset")]
    assert all(value.startswith(("#", "data:")) for value in links)
    assert not {"img", "iframe", "object", "embed", "form", "base"} & set(page.tags)
    assert "url(" not in source
    assert "@import" not in source
    assert page.tags.count("script") == page.tags.count("style") == 1
    assert not [name for _, name, _ in page.attributes if name == "style" or name.startswith("on")]


def test_the_policy_fits(sample: Assessment) -> None:
    page = Page(render_html(sample))
    (policy,) = [value for tag, name, value in page.attributes if name == "content" and "default-src" in value]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_hostile_text_adds_no_element(
    sample: Assessment, hostile: Assessment, hostile_text: str, op: Callable[..., AssessedOp]
) -> None:
    source = render_html(hostile)
    page = Page(source)
    assert page.tags.count("script") == page.tags.count("style") == 1
    assert set(page.tags) <= set(Page(render_html(sample)).tags)
    assert "<img" not in source
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", source)
    assert "\\u202egnp.exe" in source
    assert "{{7*7}}" in page.text
    source.encode("utf-8")


def test_no_blocker_is_said(
    sample: Assessment, op: Callable[..., AssessedOp], with_operators: Callable[..., Assessment]
) -> None:
    clear = with_operators(
        replace(sample, findings=(), warnings=(), cost=Cost(PersonDays(0.0, 0.0, 0.0))), op("aten::relu")
    )
    text = Page(render_html(clear)).text
    assert "No blocker was found." in text
    assert "Nothing was found in the code." in text
    assert "0 person-days" in text
    assert "the 1 operator that was seen is supported" in text


def test_a_measurement_changes_the_statement(
    sample: Assessment, op: Callable[..., AssessedOp], with_operators: Callable[..., Assessment]
) -> None:
    measured = op("aten::relu", evidence=(Evidence("npu", "8.5.0"),))
    text = Page(render_html(with_operators(sample, measured, op("aten::b")))).text
    assert "Nothing here was measured" not in text
    assert "1 of 2 operators was judged by a measurement on an NPU" in text


def test_an_empty_trace(sample: Assessment, with_operators: Callable[..., Assessment]) -> None:
    assert "No operator was seen" in Page(render_html(with_operators(sample))).text


def test_a_wheel_carries_its_own_reports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "opscan"
    (tmp_path / "reports").mkdir(parents=True)
    package.mkdir()
    monkeypatch.setattr("opscan.rendering.templates._PACKAGE", package)
    assert reports_folder() == tmp_path / "reports"
    (package / "reports").mkdir()
    assert reports_folder() == package / "reports"


def test_the_script_creates_no_markup() -> None:
    script = read_source("report.js")
    for danger in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "Function("):
        assert danger not in script
    assert "</script" not in script
    assert "</style" not in read_source("report.css")
