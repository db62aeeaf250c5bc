"""``opscan explain`` as a command."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from opscan.cli.main import app


def _run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["explain", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("subject", ["OPS104", "161002", "E19010", "EZ9999: Inner Error!", "error code is 507018"])
def test_what_is_known_is_explained(subject: str) -> None:
    code, out, err = _run(subject, "--lang", "en")
    assert (code, err) == (0, "")
    assert "Do next" in out


def test_a_line_need_not_be_quoted() -> None:
    assert _run("error", "code", "is", "507018", "--lang", "en")[1].startswith("507018 ACL_ERROR_RT_AICPU_EXCEPTION")


def test_chinese() -> None:
    assert "下一步" in _run("161002", "--lang", "zh")[1]


def test_json() -> None:
    code, out, _ = _run("161002", "--lang", "en", "--json")
    assert code == 0
    assert json.loads(out)["name"] == "ACLNN_ERR_PARAM_INVALID"


def test_what_is_unknown_suggests_the_nearest() -> None:
    code, out, err = _run("16102")
    assert (code, out) == (2, "")
    assert "Did you mean 161002" in err


def test_an_unknown_language_is_an_error() -> None:
    code, _, err = _run("161002", "--lang", "fr")
    assert code == 2
    assert "--lang fr" in err


def test_escapes_in_the_subject_are_shown() -> None:
    code, _, err = _run("nothing\x1b]0;title\x07")
    assert code == 2
    assert "\x1b" not in err
    assert "\\x1b" in err


@settings(deadline=None)  # a word may be an operator: the matrix is asked
@given(st.text(min_size=1).filter(lambda text: not text.startswith("-")))
def test_any_text_is_explained_or_refused(text: str) -> None:
    code, out, err = _run(text)
    assert code in (0, 2)
    assert "internal error" not in err
    assert not set(out + err) & {chr(number) for number in range(32) if number != 10}


def test_neither_torch_nor_pandas_is_imported() -> None:
    program = (
        "import sys\nfrom opscan.cli.explain_command import run\nrun(['161002'], 'en', True)\n"
        "print([name for name in ('torch', 'pandas', 'onnx') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
