"""The installed command: its exit codes, its file, and that Ctrl-C leaves nothing running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import NAME, all_ended, marked, new_mark

from opscan.probing.signature import Signature, TensorArgument

COMMAND = str(Path(sys.executable).with_name("opscan"))

MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 4)

    def forward(self, x):
        return torch.lgamma(self.linear(x).relu() + 1)

model = Net()
"""

LGAMMA = Signature("aten::lgamma", (TensorArgument("self", "float32", (2, 4)),))

Begin = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def mark() -> str:
    return new_mark()


@pytest.fixture
def begin(tmp_path: Path, mark: str) -> Iterator[Begin]:
    """``begin("--json", "out.json", faults={...})``: the command in a folder with a model, on the fake device."""
    (tmp_path / "model.py").write_text(MODEL)
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: str, faults: dict[str, Any] | None = None, backend: str = "fake") -> subprocess.Popen[str]:
        plan = tmp_path / "faults.json"
        plan.write_text(json.dumps({"state": str(tmp_path / "state"), **(faults or {})}))
        env = {**os.environ, NAME: mark, "OPSCAN_PROBE_FAULTS": str(plan), "OPSCAN_PROBE_BACKEND": backend}
        env["XDG_CACHE_HOME"] = str(tmp_path / "cache")
        process = subprocess.Popen(
            [COMMAND, "probe", "model.py", "--input-shape", "2,8", *arguments],
            cwd=tmp_path, env=env, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()
    assert all_ended(mark)


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def test_all_is_tried_and_the_file_on_stdout_leaves_the_table_to_stderr(begin: Begin) -> None:
    code, out, err = ended(begin("--json", "-"))
    assert code == 0, err
    assert "native" in err
    assert "aten::lgamma" in err
    probed = json.loads(out)
    assert (probed["schema"], probed["kind"], probed["complete"]) == (1, "probe", True)
    assert probed["summary"]["native"] == len(probed["ops"])
    names = [op["signature"]["operator"] for op in probed["ops"]]
    assert names == list(dict.fromkeys(names))
    assert {"aten::addmm", "aten::relu", "aten::lgamma"} <= set(names)
    assert all(op["outcome"]["latency"]["median"] > 0 for op in probed["ops"])
    assert not any(op["reused"] for op in probed["ops"])

    code, out, err = ended(begin("--json", "-"))
    again = json.loads(out)
    assert code == 0, err
    assert all(op["reused"] for op in again["ops"])
    assert [op["outcome"] for op in again["ops"]] == [op["outcome"] for op in probed["ops"]]
    assert [device["starts"] for device in again["devices"]] == [0]


def test_no_npu_says_what_to_do(begin: Begin) -> None:
    code, out, err = ended(begin("--python", sys.executable, backend="npu"))
    assert (code, out) == (2, "")
    assert err.startswith("opscan: error: No NPU can be probed here: ")
    assert "opscan rehearse" in err
    assert "opscan doctor" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--device", "all"), "not a list of device numbers"),
        (("--time-limit", "0"), "more than zero"),
        (("--time-limit", "nan"), "more than zero"),
        (("--python", "no/such/python"), "no such program"),
        (("--json", "model.py"), "overwrite the model"),
    ],
)
def test_options_that_make_no_sense(begin: Begin, arguments: tuple[str, ...], says: str) -> None:
    code, out, err = ended(begin(*arguments))
    assert (code, out) == (2, "")
    assert says in err


def test_devices_that_die_leave_an_incomplete_result(begin: Begin, tmp_path: Path) -> None:
    # The first start answers the command's own question; those of the pool fail.
    faults = {"starts": {str(number): "unable" for number in range(1, 10)}}
    code, out, _ = ended(begin("--json", "probe.json", faults=faults))
    assert code == 3
    assert "Device 0 was given up: the fake device is not there" in out
    probed = json.loads((tmp_path / "probe.json").read_text())
    assert not probed["complete"]
    assert probed["summary"]["not_run"] == len(probed["ops"])


def test_layers_name_the_first_module_that_departs(begin: Begin, tmp_path: Path) -> None:
    code, out, err = ended(begin("--layers", "--json", "layers.json", faults={"modules": {"linear": "nan"}}))
    assert (code, err) == (1, "")
    assert "The first that departs: linear (Linear)" in out
    layered = json.loads((tmp_path / "layers.json").read_text())
    assert (layered["schema"], layered["kind"], layered["versions"]["soc"]) == (1, "layers", "fake")
    assert layered["report"]["first"]["module"] == "linear"
    assert layered["report"]["first"]["errors"]["nonfinite"] > 0


def test_layers_that_agree(begin: Begin) -> None:
    code, out, err = ended(begin("--layers", "--train", "--json", "-"))
    assert code == 0, err
    assert "No module departs from the CPU." in err
    layers = json.loads(out)["report"]["layers"]
    assert {layer["module"] for layer in layers} == {"", "linear"}
    assert all(layer["status"] == "agrees" for layer in layers)


def test_a_model_that_takes_its_process_down_is_incomplete(begin: Begin) -> None:
    code, out, err = ended(begin("--layers", faults={"modules": {"linear": "segfault"}}))
    assert (code, out) == (3, "")
    assert err.startswith("opscan: error: The process that ran the model on the NPU was killed by SIGSEGV")
    assert "Traceback" not in err


def test_an_interrupt_leaves_a_partial_result_and_no_process(begin: Begin, tmp_path: Path, mark: str) -> None:
    faults = {"calls": {LGAMMA.key: {"kind": "hang"}}}
    process = begin("--json", "partial.json", "--time-limit", "600", faults=faults)
    _wait_for_the_hang(mark)
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process)
    assert code == 130
    assert "Interrupted: what was tried until then is kept." in out
    assert "Traceback" not in err
    assert not marked(mark)
    probed = json.loads((tmp_path / "partial.json").read_text())
    assert probed["interrupted"]
    assert not probed["complete"]
    by_name = {op["signature"]["operator"]: op["outcome"]["status"] for op in probed["ops"]}
    assert by_name["aten::relu"] == "native"
    assert by_name["aten::lgamma"] == "not_run"


def test_workers_die_with_a_parent_that_is_killed(begin: Begin, mark: str) -> None:
    process = begin("--time-limit", "600", faults={"calls": {LGAMMA.key: {"kind": "stop"}}})
    while not any(_is_stopped(pid) for pid in marked(mark)):
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert all_ended(mark)


def _wait_for_the_hang(mark: str) -> None:
    """It starts a process of its own, ``sleep``."""
    for _ in range(1200):
        for pid in marked(mark):
            try:
                if b"sleep" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                    return
            except OSError:
                continue
        time.sleep(0.05)
    raise AssertionError("the hang was not reached")


def _is_stopped(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    except OSError:
        return False
