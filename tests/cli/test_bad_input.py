"""Every bad input gives exit code 2, one message with the next step, no traceback, and leaves no file behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from ended_commands import Ended

Opscan = Callable[..., Ended]

HEADER = "import torch\nfrom torch import nn\n"
GOOD = HEADER + "model = nn.Linear(8, 4)\n"

NO_ARGUMENTS = "class {}(nn.Module):\n    def forward(self, x):\n        return x\n"


def refused(opscan: Opscan, *arguments: str) -> str:
    """Run a command that must fail; its message."""
    before = sorted(os.listdir())
    ended = opscan(*arguments)
    assert ended.code == 2, ended
    assert ended.out == ""
    assert "Traceback" not in ended.err
    assert ended.err.count("opscan: error: ") == 1, ended.err
    assert ended.err.count("\n  hint: ") == 1, ended.err
    assert sorted(os.listdir()) == before
    return ended.message


# --- the model ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "says", "hint"),
    [
        ("class M(nn.Module)\n    pass", "net.py:3: expected ':'\n    class M(nn.Module)", "Fix the syntax"),
        ("x = (1,\n", "net.py:3: '(' was never closed", "Fix the syntax"),
        ("width = 3", "No model in net.py", "build_model()"),
        (NO_ARGUMENTS.format("A") + NO_ARGUMENTS.format("B"), "2 candidate models: A, B", "net.py:B"),
        (
            "class A(nn.Module):\n    def __init__(self, width): ...",
            "needs constructor arguments: A(width)",
            "build_model()",
        ),
        ("def build_model(width): ...", "build_model() in net.py needs arguments: width", "defaults"),
        ("def build_model(): return 3", "is int, not a model", "Return the nn.Module"),
        ("import no_such_module_at_all", "No module named 'no_such_module_at_all'", "Install 'no_such_module_at_all'"),
        ("raise ValueError('at import')", "net.py:3: importing the file failed", "--debug"),
        ("import sys\nsys.exit(1)", "net.py:4: importing the file failed: sys.exit(1)", "__main__"),
        (
            "def build_model():\n    raise ValueError('while building')",
            "net.py:4: building the model failed",
            "--debug",
        ),
        ("def build_model():\n    return lambda x: x + 'a'", "net.py:4: running the model failed", "--input-shape"),
        ("model = nn.Linear(7, 4)", "running the model failed: RuntimeError", "float32[1, 8]"),
        ("model = nn.Bilinear(8, 8, 4)", "The inputs do not fit the model in net.py", "input1, input2"),
    ],
)
def test_a_file_with_a_fault(opscan: Opscan, folder: Path, source: str, says: str, hint: str) -> None:
    (folder / "net.py").write_text(HEADER + source)
    message, _, next_step = refused(opscan, "net.py", "--input-shape", "1,8").partition("\n  hint: ")
    assert says in message
    assert hint in next_step


def test_a_missing_file(opscan: Opscan, folder: Path) -> None:
    (folder / "net.py").write_text(GOOD)
    assert refused(opscan, "nets.py") == "opscan: error: No such file: nets.py\n  hint: Did you mean net.py?\n"


@pytest.mark.parametrize(
    "name", ["net.onnx", "net.pt", "net", ".", "nowhere/net.py", "net.py:Nett", "a" * 300 + ".py", "net.py:"]
)
def test_a_reference_that_leads_nowhere(opscan: Opscan, folder: Path, name: str) -> None:
    for file in ("net.py", "net.onnx", "net.pt", "net"):
        (folder / file).write_text(GOOD)
    refused(opscan, name, "--input-shape", "1,8")


@pytest.mark.parametrize("content", [b"\xff\xfe = 1", b"x = '\x00'", "x = '\u00e4'".encode("latin-1")])
def test_a_file_that_is_no_text(opscan: Opscan, folder: Path, content: bytes) -> None:
    (folder / "net.py").write_bytes(content)
    assert "net.py" in refused(opscan, "net.py", "--input-shape", "1,8")


def test_what_the_users_text_holds_does_not_reach_the_terminal(opscan: Opscan, folder: Path) -> None:
    (folder / "net.py").write_text("raise ValueError('\\x1b]0;title\\x07\\x1b[31mred')  # \x1b[2J")
    message = refused(opscan, "net.py", "--input-shape", "1,8")
    assert "\x1b" not in message
    assert "\x07" not in message


# --- options --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says", "hint"),
    [
        (["--input-shape", "1;8"], "'1;8' is not a shape", "Write it as --input-shape 1,3,224,224"),
        (["--input-shape", "1,-8"], "is not a shape", "--input-shape"),
        (["--input-shape", "1,8:float23"], "unknown dtype 'float23'", "float32"),
        (["--input-shape", ""], "is not a shape", "--input-shape"),
        (["--input", "1,8"], "names no parameter", "--input input_ids=1x128:int64"),
        (["--input", "y=1,8"], "has no input of that name", "Its inputs are: input"),
        ([], "takes inputs (input), and none are given", "--input-shape"),
        (["--input-shape", "1,8", "--input-shape", "2"], "do not fit the model", "It takes: input"),
        (["--input-shape", "1,8", "--torch-npu", "2.13.1"], "2.13.1", "2.13.0"),
        (["--input-shape", "1,8", "--torch-npu", "nonsense"], "nonsense", "Known: "),
        (["--input-shape", "1,8", "--cann", "9.1"], "9.1", "9.1.0"),
        (["--input-shape", "1,8", "--soc", "ascend910x"], "ascend910x", "Did you mean"),
        (["--input-shape", "1,8", "--fail-on", "unsuported"], "no such choice", "Did you mean unsupported?"),
        (["--input-shape", "1,8", "--lang", "fr"], "no such choice", "en, zh"),
        (["--input-shape", "1,8", "--html", "-", "--json", "-"], "both ask for stdout", "to a file"),
        (["--input-shape", "1,8", "--html", "a", "--json", "./a"], "name the same file", "two files"),
        (["--input-shape", "1,8", "--json", "net.py"], "would overwrite the model", "another path"),
        (["--input-shape", "1,8", "--html", "nowhere/report.html"], "does not exist", "Create the folder"),
        (["--input-shape", "1,8", "--html", "."], "names a folder", "Add a file name"),
        (["--input-shape", "1,8", "--json", ""], "names a folder", "Add a file name"),
    ],
)
def test_an_option_that_cannot_be(opscan: Opscan, folder: Path, options: list[str], says: str, hint: str) -> None:
    (folder / "net.py").write_text(GOOD)
    message, _, next_step = refused(opscan, "net.py", *options).partition("\n  hint: ")
    assert says in message
    assert hint in next_step


@pytest.mark.parametrize(
    "arguments", [["--no-such-option", "net.py"], ["net.py", "--json"], ["scan"], ["net.py", "b.py"]]
)
def test_a_command_line_that_does_not_parse(opscan: Opscan, folder: Path, arguments: list[str]) -> None:
    (folder / "net.py").write_text(GOOD)
    ended = opscan(*arguments)
    assert ended.code == 2
    assert "Traceback" not in ended.err
    assert os.listdir() == ["net.py"]


def test_an_unwritable_output_is_refused_before_the_scan_starts(
    opscan: Opscan, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("the scan started")

    monkeypatch.setattr("opscan.scan.scan", never)
    (folder / "net.py").write_text(GOOD)
    (folder / "kept.html").write_text("before")
    (folder / "kept.html").chmod(0o444)
    outputs = ["nowhere/report.html", ".", "net.py/report.html"] + ([] if os.geteuid() == 0 else ["kept.html"])
    for output in outputs:
        refused(opscan, "net.py", "--input-shape", "1,8", "--html", output)
        refused(opscan, "net.py", "--input-shape", "1,8", "--json", output)
    assert (folder / "kept.html").read_text() == "before"


def test_a_scan_that_fails_keeps_the_reports_of_the_last_one(opscan: Opscan, folder: Path) -> None:
    (folder / "net.py").write_text(HEADER + "model = nn.Linear(7, 4)\n")
    (folder / "opscan-report.html").write_text("before")
    (folder / "result.json").write_text("before")
    refused(opscan, "net.py", "--input-shape", "1,8", "--json", "result.json")
    assert (folder / "opscan-report.html").read_text() == (folder / "result.json").read_text() == "before"


# --- tracebacks -----------------------------------------------------------------------------------------------


def test_debug_shows_the_traceback_of_the_users_code(opscan: Opscan, folder: Path) -> None:
    (folder / "net.py").write_text(HEADER + "def build_model():\n    return 1 / 0\n")
    ended = opscan("net.py", "--input-shape", "1,8", "--debug")
    assert ended.code == 2
    assert "Traceback" in ended.err
    assert "ZeroDivisionError" in ended.err
    assert 'net.py", line 4, in build_model' in ended.err
    assert ended.message.startswith("opscan: error: net.py:4: building the model failed:")


def test_a_fault_of_opscans_own_says_so(opscan: Opscan, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise KeyError("inside")

    monkeypatch.setattr("opscan.scan.scan", broken)
    (folder / "net.py").write_text(GOOD)
    ended = opscan("net.py", "--input-shape", "1,8")
    assert ended.code == 2
    assert ended.message == (
        "opscan: internal error: KeyError: 'inside'\n  hint: Run again with --debug, and report the traceback.\n"
    )
    assert "Traceback" in opscan("net.py", "--input-shape", "1,8", "--debug").err


@pytest.mark.install
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nets.py"], "No such file: nets.py"),
        (["net.py", "--input-shape", "1;8"], "is not a shape"),
        (["net.py", "--input-shape", "1,8", "--soc", "ascend910x"], "unknown SoC 'ascend910x'"),
        (["net.py", "--input-shape", "1,7"], "net.py:3: running the model failed:"),
        (["dies.py", "--input-shape", "1,8"], "was killed by SIGSEGV before it answered"),
    ],
)
def test_the_installed_command_says_the_same(installed: Opscan, folder: Path, arguments: list[str], says: str) -> None:
    (folder / "net.py").write_text(
        HEADER + "build_model = lambda: lambda x: nn.functional.linear(x, torch.ones(4, 8))\n"
    )
    (folder / "dies.py").write_text("import ctypes\nctypes.string_at(0)\n")
    assert says in refused(installed, *arguments)
