from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from ended_commands import Opscan

from opscan.doctor.facts import Places

TABLE = """\
| npu-smi 25.5.1                   Version: 25.5.1                                               |
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
| 0     910B3               | OK            | 93.1        41                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3000 / 65536         |
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty file system and path in place of this machine's; what is installed in Python stays."""
    root = tmp_path / "machine"
    (root / "bin").mkdir(parents=True)
    # A developer's environment may hold a torch_npu, which torch loads by itself.
    variables = {"PATH": str(root / "bin"), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    monkeypatch.setattr("opscan.cli.doctor_command.here", lambda: Places(variables, root / "home", root))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return root


def npu(machine: Path) -> None:
    """A card, its driver, and a CANN without kernels for it."""
    (machine / "table").write_text(TABLE)
    script = machine / "bin/npu-smi"
    script.write_text(f'#!/bin/sh\n[ "$*" = info ] && exec /bin/cat {machine}/table\nexit 1\n')
    script.chmod(0o755)
    cann = machine / "usr/local/Ascend/cann"
    (cann / "aarch64-linux").mkdir(parents=True)
    (cann / "aarch64-linux/ascend_toolkit_install.info").write_text("version=9.1.0\n")
    (cann / "opp/built-in/op_impl/ai_core/tbe/kernel/ascend310p").mkdir(parents=True)


def test_a_machine_without_an_npu_passes(opscan: Opscan, machine: Path) -> None:
    ended = opscan("doctor", "--lang", "en")
    assert ended.code == 0
    assert ended.err == ""
    assert "missing  CANN" in ended.out
    assert "Nothing is wrong with what is installed." in ended.out


def test_chinese(opscan: Opscan, machine: Path) -> None:
    ended = opscan("doctor", "--lang", "zh")
    assert ended.code == 0
    assert "本机没有 NPU" in ended.out
    assert "已安装的部分没有问题。" in ended.out


def test_a_problem_fails_it_and_is_said_in_words(opscan: Opscan, machine: Path) -> None:
    npu(machine)
    ended = opscan("doctor", "--lang", "en")
    assert ended.code == 1
    assert "problem  CANN kernels" in ended.out
    assert "none for ascend910b, which is in this machine (installed: ascend310p)." in ended.out
    assert ended.out.rstrip().endswith("1 problem.")


def test_json_has_lines_and_facts(opscan: Opscan, machine: Path) -> None:
    npu(machine)
    ended = opscan("doctor", "--json")
    assert ended.code == 1
    document = json.loads(ended.out)
    assert document["schema"] == 1
    assert document["passed"] is False
    assert {"subject": "devices", "status": "ok", "says": "1 × Ascend910B3 (ascend910b)", "next": None} in document[
        "checks"
    ]
    assert document["facts"]["devices"][0]["soc"] == "ascend910b"
    assert "changes" not in document


def test_a_snapshot_and_what_has_changed_since(opscan: Opscan, machine: Path) -> None:
    assert opscan("doctor", "--snapshot", "before.json", "--lang", "en").code == 0

    same = opscan("doctor", "--compare", "before.json", "--lang", "en")
    assert (same.code, same.out.startswith("Nothing has changed since")) == (0, True)

    npu(machine)
    ended = opscan("doctor", "--compare", "before.json", "--lang", "en")
    assert ended.code == 1
    assert f"CANN     none -> 9.1.0 ({machine}/usr/local/Ascend/cann)" in ended.out
    assert "devices  none -> 0.0 Ascend910B3" in ended.out

    document = json.loads(opscan("doctor", "--compare", "before.json", "--json").out)
    assert {change["subject"] for change in document["changes"]} == {"devices", "CANN"}


def test_a_snapshot_keeps_no_other_variables(opscan: Opscan, machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "opscan.cli.doctor_command.here",
        lambda: Places({"PATH": "/nowhere", "HF_TOKEN": "secret", "TASK_QUEUE_ENABLE": "2"}, machine, machine),
    )
    opscan("doctor", "--snapshot", "before.json")
    text = Path("before.json").read_text()
    assert "secret" not in text
    assert json.loads(text)["variables"] == {"TASK_QUEUE_ENABLE": "2"}


def test_files_that_cannot_be_used(opscan: Opscan, machine: Path, folder: Path) -> None:
    (folder / "other.json").write_text("{}")
    for arguments in (
        ("--compare", "none.json"),
        ("--compare", "other.json"),
        ("--snapshot", "no/x"),
        ("--snapshot", "-"),
    ):
        ended = opscan("doctor", *arguments)
        assert ended.code == 2, arguments
        assert ended.err.startswith("opscan: error: ")
        assert "hint: " in ended.err


def test_what_npu_smi_says_reaches_the_terminal_inert(opscan: Opscan, machine: Path) -> None:
    script = machine / "bin/npu-smi"
    script.write_text("#!/bin/sh\nprintf 'bad \\033[31m news\\n'\nexit 1\n")
    script.chmod(0o755)
    ended = opscan("doctor", "--lang", "en")
    assert ended.code == 1
    assert "\x1b" not in ended.out
    assert r"npu-smi fails: bad \x1b[31m news" in ended.out


@pytest.mark.install
def test_the_installed_command_imports_no_torch(installed: Opscan, folder: Path) -> None:
    ended = installed("doctor", "--json", env={"PYTHONPROFILEIMPORTTIME": "1", "XDG_CACHE_HOME": str(folder)})
    assert json.loads(ended.out)["facts"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert "| torch\n" not in ended.err
