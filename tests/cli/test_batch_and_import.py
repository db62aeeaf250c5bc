"""``opscan batch`` and ``opscan import-log`` as installed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from ended_commands import EXAMPLES, Ended

RESULT = Path(__file__).parent.parent / "batch" / "result.json"
FALLBACK = "Warning: CAUTION: The operator 'aten::{}' is not currently supported on the NPU backend and will fall back"

Installed = Callable[..., Ended]


@pytest.mark.install
def test_a_folder_is_scanned_resumed_and_summed_up(folder: Path, installed: Installed) -> None:
    (folder / "models").mkdir()
    shutil.copy(EXAMPLES / "llama_block.py", folder / "models")
    (folder / "models" / "broken.py").write_text("def build_model():\n    raise ValueError('<b>')")
    ended = installed(
        "batch", "models", "--soc", "A2", "--cann", "8.5.0", "--output", "out", "--option", "engine=virtual"
    )
    assert ended.code == 3, ended.err
    assert ended.err == ""
    assert "ValueError: <b>" in ended.out
    first = json.loads((folder / "out" / "batch.json").read_text())
    statuses = {model["name"]: (model["status"], model["exit_code"]) for model in first["models"]}
    assert statuses == {"broken.py": ("error", 2), "llama_block.py": ("failed", 1)}
    report = json.loads((folder / "out" / "llama_block.json").read_text())
    assert first["models"][1]["scanned"]["summary"] == report["summary"]
    assert first["models"][1]["scanned"]["target"]["cann"] == "8.5.0"
    assert first["operators"][0]["models"] == ["llama_block.py"]
    assert 'href="llama_block.html"' in (folder / "out" / "index.html").read_text()

    (folder / "models" / "broken.py").unlink()
    ended = installed(
        "batch", "models", "--soc", "A2", "--cann", "8.5.0", "--output", "out", "--option", "engine=virtual"
    )
    assert ended.code == 1, ended.err
    (again,) = json.loads((folder / "out" / "batch.json").read_text())["models"]
    assert again["reused"]


@pytest.mark.install
def test_errors_of_usage(folder: Path, installed: Installed) -> None:
    for arguments, message in (
        (("none",), "No such folder or list: none"),
        ((".",), "There is no model in ."),
        ((".", "--jobs", "0"), "--jobs 0"),
        ((".", "--option", "sco=x"), "no option --sco"),
    ):
        ended = installed("batch", *arguments)
        assert ended.code == 2
        assert message in ended.err
    assert list(folder.iterdir()) == []


def test_a_log_beside_a_report(opscan: Installed, folder: Path) -> None:
    (folder / "alice.log").write_text(FALLBACK.format("linalg_eig") + "\nE19010: at /home/alice\n")
    ended = opscan("import-log", "alice.log", "--model-report", str(RESULT), "--json", "--lang", "en")
    assert ended.code == 0
    assert "alice" not in ended.out
    data = json.loads(ended.out)
    assert data["observations"][0]["operator"] == "aten::linalg_eig"
    assert [(each["operator"], each["outcome"]) for each in data["comparison"]["results"]] == [
        ("aten::linalg_eig", "confirmed")
    ]
    (code,) = data["codes"]
    assert (code["code"], code["about"]) == ("E19010", "coverage")

    (folder / "alice.log").write_text(FALLBACK.format("mm"))
    ended = opscan("import-log", "alice.log", "--model-report", str(RESULT), "--lang", "en")
    assert ended.code == 1
    assert "contradicts the scan" in ended.out
    assert "alice" not in ended.out
    assert "与扫描矛盾" in opscan("import-log", "alice.log", "--model-report", str(RESULT), "--lang", "zh").out


def test_files_in_which_nothing_is_recognised(opscan: Installed, folder: Path) -> None:
    (folder / "a.txt").write_text("hello")
    (folder / "b.log").write_text(FALLBACK.format("mm"))
    ended = opscan("import-log", "a.txt")
    assert (ended.code, ended.out) == (2, "")
    assert "No line was recognised" in ended.message
    assert opscan("import-log", "a.txt", "b.log").code == 3
    assert opscan("import-log", "none.log").code == 2
    assert opscan("import-log", "b.log", "--model-report", "a.txt").code == 2
