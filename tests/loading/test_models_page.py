"""Every command of docs/models.md that needs no further package works as written."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/models.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
NEEDS = {"torchvision:": "torchvision", "timm:": "timm", "hf:": "transformers"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page."""
    made = tmp_path_factory.mktemp("page")
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        name = re.match(r"# (\w+\.py)\n", block)
        assert name
        (made / name[1]).write_text(block)
    (made / "bert").mkdir()
    configuration = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert configuration
    (made / "bert/config.json").write_text(configuration[1])
    subprocess.run([sys.executable, "-W", "ignore", "save.py"], cwd=made, check=True, capture_output=True)
    return made


def test_every_kind_has_a_command() -> None:
    marks = (
        ".py",
        "net:",
        "torchvision:",
        "timm:",
        "hf:",
        "traced.pt",
        ".pt2",
        "--trust",
        ".onnx",
        "fused.py",
        "--input ",
    )
    assert [mark for mark in marks if not any(mark in command for command in COMMANDS)] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(folder: Path, command: str) -> None:
    package = next((package for mark, package in NEEDS.items() if mark in command), None)
    if package is not None and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    program, *arguments = shlex.split(command)
    assert program == "opscan"
    done = subprocess.run(
        [sys.executable, "-m", "opscan", *arguments, "--engine", "virtual", "--fail-on", "never", "--lang", "en"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Supported" in done.stdout


def test_weights_alone_are_told_apart(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "opscan", "weights.pt"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "holds weights and no model: 3 tensors (3 float32)" in done.stderr
