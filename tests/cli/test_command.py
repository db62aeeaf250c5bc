"""The command itself: help, version, what they load, and how it ends when it is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ended_commands import COMMAND, EXAMPLES, Ended

import opscan as package

Opscan = Callable[..., Ended]

LOADED = """
import sys
sys.argv = ["opscan", *{arguments}]
from opscan.cli.main import main
try:
    main()
except SystemExit as ended:
    code = ended.code
heavy = {{name for name in ("torch", "torch_npu", "pandas", "numpy", "onnx", "jinja2") if name in sys.modules}}
print("loaded", code, sorted(heavy))
"""


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["scan", "--help"], ["matrix", "--help"], ["missing.py"], []]
)
def test_what_needs_no_model_loads_no_torch(folder: Path, arguments: list[str]) -> None:
    program = LOADED.format(arguments=arguments)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    last = done.stdout.splitlines()[-1]
    assert last.endswith("[]"), last
    assert last.split()[1] in ("0", "2")


def test_version(opscan: Opscan) -> None:
    assert opscan("--version").out == f"opscan {package.__version__}\n"


def test_help_lists_the_options_of_a_scan(opscan: Opscan) -> None:
    for arguments in (("scan", "--help"), ("scan", "-h")):
        ended = opscan(*arguments)
        assert ended.code == 0
        for option in ("--input-shape", "--torch-npu", "--cann", "--soc", "--fail-on", "--strict", "--json", "--html"):
            assert option in ended.out


def test_a_model_is_a_scan(opscan: Opscan, folder: Path) -> None:
    (folder / "net.py").write_text("from torch import nn\nmodel = nn.Linear(8, 4)\n")
    short = opscan("net.py", "--input-shape", "1,8", "--json", "-")
    long = opscan("scan", "net.py", "--input-shape", "1,8", "--json", "-")
    options_first = opscan("--json", "-", "--input-shape", "1,8", "net.py")
    assert short.out == long.out == options_first.out
    assert short.code == 0


def test_matrix_build_checks_against_its_sources_from_a_checkout_only(
    opscan: Opscan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("opscan.matrix.data.support_matrix_dir", lambda: tmp_path)
    ended = opscan("matrix", "build", "--check")
    assert ended.code == 2
    assert "installed opscan does not carry" in ended.message


# --- the installed command ------------------------------------------------------------------------------------


def ops(found: dict[str, object], verdict: str) -> list[str]:
    entries: list[dict[str, object]] = found["ops"]  # type: ignore[assignment]
    return [str(op["name"]) for op in entries if op["verdict"] == verdict]


@pytest.mark.install
def test_the_classifier_passes_with_nothing_unsupported(installed: Opscan, folder: Path) -> None:
    model = str(EXAMPLES / "classifier.py")
    ended = installed(model, "--input-shape", "1,3,224,224", "--json", "result.json")
    assert ended.code == 0
    assert ended.err == ""
    found = json.loads((folder / "result.json").read_text())
    assert ops(found, "unsupported") == []
    assert found["summary"]["supported"] > 10
    assert found["gate"]["passed"]
    assert found["trace"]["complete"]
    assert "\x1b" not in ended.out
    assert (folder / "opscan-report.html").stat().st_size > 10_000


@pytest.mark.install
def test_the_llama_block_fails_at_cann_8_5_0_with_a_checked_replacement(installed: Opscan) -> None:
    ended = installed(str(EXAMPLES / "llama_block.py"), "--cann", "8.5.0", "--json", "-")
    assert ended.code == 1
    found = json.loads(ended.out)
    (op,) = (op for op in found["ops"] if op["verdict"] == "unsupported")
    assert (op["name"], op["dtypes"][0], op["rule"]) == ("aten::index.Tensor", "complex64", "OPS104")
    assert "complex64" in op["reason"]
    assert "aclnnIndex" in op["kernels"]
    assert op["locations"][0]["file"] == "llama_block.py"
    (substitution,) = op["substitutions"]
    assert substitution["id"] == "complex-to-real"
    assert substitution["supported"]
    assert substitution["check"]["passed"]
    assert substitution["before"] != substitution["after"]


@pytest.mark.install
def test_the_llama_block_fails_at_cann_9_1_0_too(installed: Opscan) -> None:
    """The table of 9.1.0 lists complex64 for aclnnIndex; a note below it excludes it for this chip."""
    ended = installed(str(EXAMPLES / "llama_block.py"), "--cann", "9.1.0", "--json", "-", env={"NO_COLOR": "1"})
    assert ended.code == 1
    found = json.loads(ended.out)
    (op,) = (op for op in found["ops"] if op["verdict"] == "unsupported")
    assert (op["name"], op["dtypes"][0], op["rule"]) == ("aten::index.Tensor", "complex64", "OPS104")
    assert any(e["kind"] == "cann" and "note below it" in e["detail"] for e in op["evidence"])


@pytest.mark.install
def test_the_detector_passes_with_findings(installed: Opscan) -> None:
    ended = installed(str(EXAMPLES / "detector.py"), env={"LANG": "zh_CN.UTF-8"})
    assert ended.code == 0
    assert "OPS603" in ended.out
    assert "依赖数据" in ended.out
    assert "detector.py:" in ended.out


@pytest.mark.install
def test_the_detector_is_incomplete_when_that_counts(installed: Opscan) -> None:
    assert installed(str(EXAMPLES / "detector.py"), "--strict", "--json", "-").code == 3


@pytest.mark.install
def test_a_reader_that_has_seen_enough_does_not_change_the_result(folder: Path) -> None:
    model = EXAMPLES / "llama_block.py"
    command = f"{COMMAND} {model} --cann 8.5.0 | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1


# --- interrupts -----------------------------------------------------------------------------------------------

ENDLESS = """
import os, pathlib, subprocess, time
helper = subprocess.Popen(["sleep", "600"])
started = pathlib.Path("started.tmp")
started.write_text(f"{os.getpid()} {helper.pid}")
started.rename("started")
while True:
    time.sleep(0.05)
"""


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


@pytest.mark.install
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_nothing_outlives_an_interrupted_scan(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, number: signal.Signals, code: int
) -> None:
    (folder / "net.py").write_text(ENDLESS)
    said = tmp_path_factory.mktemp("said") / "said"
    with said.open("wb") as file:
        process = subprocess.Popen([COMMAND, "net.py", "--input-shape", "1,8"], stderr=file, stdout=file)
        assert until((folder / "started").exists)
        child, helper = map(int, (folder / "started").read_text().split())
        process.send_signal(number)
        assert process.wait(timeout=60) == code
    assert until(lambda: not is_running(child))
    if number == signal.SIGINT:
        assert said.read_text() == "Interrupted.\n"
        assert not is_running(helper)
    elif is_running(helper):
        os.kill(helper, signal.SIGKILL)  # a process of the model's own; only the child itself is tied to its parent
    assert sorted(p.name for p in folder.iterdir()) == ["net.py", "started"]


@pytest.mark.install
def test_python_dash_m_is_the_command() -> None:
    ended = subprocess.run([sys.executable, "-m", "opscan", "--version"], capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("opscan ")
    wrong = subprocess.run([sys.executable, "-m", "opscan", "nowhere.py"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "nowhere.py" in wrong.stderr
