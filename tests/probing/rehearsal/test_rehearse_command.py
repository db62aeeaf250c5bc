"""The installed command over the real torch_npu, on the examples of the repository."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import NAME, all_ended, marked, new_mark
from users_cache import in_users_cache

COMMAND = Path(sys.executable).with_name("opscan")
EXAMPLES = Path(__file__).parents[3] / "examples"

pytestmark = pytest.mark.usefixtures("simulated_runtime")

Command = Callable[..., tuple[int, dict[str, Any], str]]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Exit code, result, and what was printed."""

    def run(*arguments: str) -> tuple[int, dict[str, Any], str]:
        html, result = tmp_path / "r.html", tmp_path / "r.json"
        done = subprocess.run(
            [COMMAND, "rehearse", *arguments, "--html", html, "--json", result],
            capture_output=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
            env=in_users_cache(),
            cwd=tmp_path,
            timeout=300,
        )
        assert "Traceback" not in done.stderr
        found = json.loads(result.read_text(encoding="utf-8")) if result.is_file() else {}
        return done.returncode, found, done.stdout + done.stderr

    return run


def verdicts(result: dict[str, Any], phase: str = "forward") -> dict[str, str]:
    return {op["name"]: op["verdict"] for op in result["ops"] if op["phase"] == phase}


def test_classifier(command):
    code, result, printed = command(str(EXAMPLES / "classifier.py"), "--input-shape", "1,3,64,64")
    assert code == 0
    assert result["trace"]["engine"] == "rehearse"
    assert result["trace"]["values"] == "computed"
    assert result["trace"]["complete"] is True
    assert set(verdicts(result).values()) == {"supported"}
    assert "the real torch_npu on a simulated CANN" in printed
    convolution = next(op for op in result["ops"] if op["name"] == "aten::convolution")
    assert convolution["launches"][0]["api"] == "aclnnConvolution"
    assert {t["name"] for t in convolution["launches"][0]["tensors"]} >= {"input", "weight", "output"}
    assert all(e["kind"] != "host" for e in convolution["evidence"])


def test_detector_takes_the_real_path(command):
    code, result, _ = command(str(EXAMPLES / "detector.py"))
    assert code == 0
    assert result["trace"]["values"] == "computed"
    rounds = next(op["count"] for op in result["ops"] if op["name"] == "aten::maximum")
    assert 10 < rounds <= 100  # of suppression: one for each box that is kept
    assert {"OPS603", "OPS664", "OPS666"} == {f["rule"] for f in result["findings"]}
    assert set(verdicts(result).values()) == {"supported", "slow"}


@pytest.mark.parametrize("train", [False, True])
def test_llama_block(command, train):
    code, result, _ = command(str(EXAMPLES / "llama_block.py"), *(["--train"] if train else []))
    assert code in (0, 1)
    assert result["trace"]["values"] == "computed"
    assert "npu::npu_fusion_attention_v3" in verdicts(result)
    if train:
        assert "npu::npu_fusion_attention_grad_v3" in verdicts(result, "backward")
        assert verdicts(result, "optimizer")


def test_a_model_that_ends_the_process(command, tmp_path):
    (tmp_path / "m.py").write_text("import sys\nprint('hello')\ndef build_model():\n    sys.exit(3)\n")
    code, result, printed = command("m.py")
    assert code == 2
    assert not result
    assert "m.py:4" in printed
    assert "sys.exit(3) ended the process" in printed
    assert printed.count("hello") == 1


def test_interrupted_it_leaves_nothing_behind(tmp_path):
    (tmp_path / "m.py").write_text(
        "import torch\nclass M(torch.nn.Module):\n    def forward(self, x):\n        open('begun', 'w').close()\n"
        "        while True:\n            x = x + 1\ndef example_inputs():\n    return torch.ones(2)\n"
    )
    mark = new_mark()
    running = subprocess.Popen(
        [COMMAND, "rehearse", "m.py"],
        env={**in_users_cache(), NAME: mark},
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        for _ in range(1200):
            if (tmp_path / "begun").exists() or running.poll() is not None:
                break
            time.sleep(0.1)
        assert len(marked(mark)) == 2
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=20)
    finally:
        running.kill()
    assert "Interrupted" in err
    assert "Traceback" not in err
    assert all_ended(mark)
