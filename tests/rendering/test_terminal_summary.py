from __future__ import annotations

import io
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from opscan.assessment import AssessedOp, Assessment
from opscan.rendering.html import render_html
from opscan.rendering.interface import Messages
from opscan.rendering.terminal import print_summary
from opscan.text import Text


def _printed(assessment: Assessment, lang: Any = "en", messages: Messages | None = None, **console: Any) -> str:
    file = io.StringIO()
    print_summary(assessment, Console(file=file, **console), lang, messages, ["opscan-report.html"])
    return file.getvalue()


def test_plain_summary(sample: Assessment) -> None:
    lines = _printed(sample).splitlines()
    assert lines[0] == "examples/llama_block.py  25,557,032 parameters"
    assert lines[1] == "torch_npu 2.6.0.post5, CANN 8.5.0, ascend910b, eager"
    row = next(number for number, line in enumerate(lines) if line.startswith("unsupported "))
    assert " ".join(lines[row].split()) == "unsupported aten::index.Tensor complex64, int64 2 llama_block.py:31 +1"
    assert lines[row + 1].strip() == (
        "OPS104 aclnnIndex does not list complex64 for parameter self at CANN 8.5.0 on ascend910b"
    )
    for line in (
        "warning  llama_block.py:9  OPS601 a cuda device is hard-coded; it was redirected",
        "Warning    torch_npu 2.6.0.post5 is documented for CANN 8.3.RC1, not 8.5.0",
        "Not seen   operators after detector.py:91 for more than one box",
        "Supported  1 of 6 operators (16.6%), 64 of 70 calls (91.4%)",
        "Effort     1.75–7 person-days · likely 3.5",
        "Gate       Failed (fails on unsupported)",
        "Written    opscan-report.html",
    ):
        assert line in lines
    assert any("Rotary embedding with real pairs" in line and "1.2e-07" in line for line in lines)


def test_a_pipe_gets_no_colours_boxes_or_wrapped_lines(sample: Assessment) -> None:
    output = _printed(sample, width=40)
    assert "\x1b" not in output
    assert not any("BOX DRAWINGS" in unicodedata.name(char, "") for char in output)
    assert "OPS104 aclnnIndex does not list complex64 for parameter self at CANN 8.5.0 on ascend910b" in output


def test_supported_operators_have_no_row(sample: Assessment) -> None:
    assert "aten::addmm" not in _printed(sample)


def test_a_terminal_gets_colours_and_fits(sample: Assessment) -> None:
    output = _printed(sample, force_terminal=True, width=60, color_system="standard", no_color=False)
    assert "\x1b[1;31munsupported" in output
    plain = _printed(sample, force_terminal=True, width=60, color_system=None)
    assert max(len(line) for line in plain.splitlines()) <= 60


def test_no_color(sample: Assessment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    output = _printed(sample, force_terminal=True, color_system="truecolor")
    assert "unsupported" in output
    assert not any(f"\x1b[{code}" in output for code in ("31m", "1;31m", "32m", "33m", "38;"))


def test_notes_are_no_warnings(sample: Assessment) -> None:
    noted = replace(sample, warnings=(), notes=(Text("The weights are random.", "权重为随机值。"),))
    lines = _printed(noted).splitlines()
    assert "Note       The weights are random." in lines
    assert not any(line.startswith("Warning") for line in lines)
    assert any(
        line.startswith("说明") and line.endswith("权重为随机值。") for line in _printed(noted, "zh").splitlines()
    )
    page = render_html(noted)
    assert "The weights are random." in page
    assert "权重为随机值。" in page
    assert "No warning about this target." in page


def test_chinese(sample: Assessment, messages: Messages) -> None:
    output = _printed(sample, "zh", messages)
    assert "该模型尚不能用于 ascend910b：6 个算子中有 1 个不支持。" in output
    assert "OPS104 aclnnIndex 的参数 self 未列出 complex64" in output
    assert "registered, but never observed at these dtypes" in output  # no Chinese text: English, not nothing


def test_english_is_the_text_of_the_assessment(sample: Assessment, messages: Messages) -> None:
    assert _printed(sample, "en", messages) == _printed(sample)


def test_many_rows_are_cut(
    sample: Assessment, op: Callable[..., AssessedOp], with_operators: Callable[..., Assessment]
) -> None:
    many = with_operators(sample, *(op(f"aten::op{number}", "unknown", rule="OPS302") for number in range(50)))
    output = _printed(many)
    assert output.count("unknown  ") == 20
    assert "and 30 more in the report" in output


def test_nothing_to_say(
    sample: Assessment, op: Callable[..., AssessedOp], with_operators: Callable[..., Assessment]
) -> None:
    assert "No operator was seen" in _printed(with_operators(sample))
    assert "all 1 operators" not in _printed(with_operators(sample, op("aten::relu")))


@pytest.mark.parametrize("console", [{}, {"force_terminal": True, "width": 80, "color_system": None}])
def test_hostile_text_is_inert(hostile: Assessment, console: dict[str, Any]) -> None:
    output = _printed(hostile, **console)
    active = {char for char in output if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert active == {"\n"}
    assert "[red]" in output  # not taken for markup
    assert "\\x1b[2J" in output
    assert len(output) < 20_000


def test_a_console_without_unicode(sample: Assessment) -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    print_summary(sample, Console(file=file), "zh")
    print_summary(sample, Console(file=file), "en")
    file.flush()
    assert b"1.75-7 person-days" in file.buffer.getvalue()
