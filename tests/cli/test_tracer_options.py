"""``--tracer`` and ``--cross-check``, from the command line to the result, with children of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ended_commands import Opscan

BRANCH = """
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return torch.lgamma(x)
        return x.relu()

def example_inputs():
    return (torch.ones(2, 8),)
"""

#: Reads memory, which fake tensors have none of: the process of a tracer that computes nothing dies of it.
MEMORY = """
import ctypes
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        y = torch.relu(x)
        return torch.sigmoid(y * ctypes.c_float.from_address(y.data_ptr()).value)

def example_inputs():
    return (torch.ones(2, 8),)
"""


@pytest.fixture
def virtual(installed: Opscan) -> Opscan:
    """Without an environment for rehearsals, which this machine may have."""
    return lambda *arguments: installed(*arguments, "--torch-npu", "2.13.0", "--engine", "virtual")


@pytest.mark.install
def test_a_tracer_that_cannot_follow_the_model_says_where(folder: Path, virtual: Opscan) -> None:
    (folder / "net.py").write_text(BRANCH)
    ended = virtual("net.py", "--tracer", "fx")
    assert ended.code == 2
    assert "net.py:7" in ended.message
    assert "--tracer" in ended.message
    assert "Traceback" not in ended.err


@pytest.mark.install
def test_a_crash_of_one_tracer_leaves_the_model_to_the_next(folder: Path, virtual: Opscan) -> None:
    (folder / "net.py").write_text(MEMORY)
    ended = virtual("net.py", "--json", "net.json", "--lang", "en")
    assert ended.code == 0, ended.err
    trace = json.loads((folder / "net.json").read_text())["trace"]
    assert trace["tracer"] == "jit"
    assert [(each["tracer"], each["ok"]) for each in trace["attempts"]] == [
        ("dispatch", False),
        ("export", False),
        ("jit", True),
    ]
    assert "SIGSEGV" in trace["attempts"][0]["reason"]
    assert "jit went on" in ended.out


@pytest.mark.install
def test_a_cross_check_shows_what_each_tracer_made_of_the_model(folder: Path, virtual: Opscan) -> None:
    (folder / "net.py").write_text(BRANCH)
    ended = virtual("net.py", "--cross-check", "--json", "net.json", "--lang", "en")
    assert ended.code == 0, ended.err
    found = json.loads((folder / "net.json").read_text())
    tracers = {each["name"]: each for each in found["cross_check"]["tracers"]}
    assert list(tracers) == ["dispatch", "export", "jit", "fx"]
    assert tracers["dispatch"]["shown"]
    assert tracers["fx"]["ops"] is None
    assert "net.py:7" in tracers["fx"]["reason"]
    assert tracers["dispatch"]["ops"] == 4
    compared = {row["name"] for row in found["cross_check"]["differences"]}
    assert found["cross_check"]["agreed"] + len(compared) >= tracers["dispatch"]["ops"]
    assert found["trace"]["tracer"] == "dispatch"
    assert "Tracers compared" in ended.out
    assert 'id="cross-check"' in (folder / "opscan-report.html").read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--tracer", "symbolic"), "--tracer symbolic"),
        (("--tracer", "fx", "--route", "graph"), "--route graph"),
        (("--tracer", "onnx", "--route", "eager"), "--route offline"),
        (("--tracer", "jit", "--rehearse"), "rehearsal"),
        (("--cross-check", "--route", "offline"), "--cross-check"),
    ],
)
def test_what_does_not_go_together_is_refused_before_the_scan(
    opscan: Opscan, folder: Path, options: tuple[str, ...], words: str
) -> None:
    (folder / "net.py").write_text(BRANCH)
    ended = opscan("net.py", *options)
    assert ended.code == 2
    assert words in ended.err
    assert "hint: " in ended.err


def test_a_folder_is_for_a_batch(opscan: Opscan, folder: Path) -> None:
    (folder / "zoo").mkdir()
    ended = opscan("zoo")
    assert ended.code == 2
    assert "opscan batch zoo" in ended.err
