"""The real torch_npu on the simulated runtime."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import opscan
from opscan.probing.simulator import build

PROGRAM = """
import json, os, torch, torch_npu
from opscan.probing.simulator.runtime import SimulatedRuntime
runtime = SimulatedRuntime.attach()
a, b = torch.ones(2, 3).npu(), torch.ones(3).npu()
layer = torch.nn.Linear(3, 4).npu()
words = {}
def noted(name, call):
    runtime.discard()
    value = call()
    words[name] = [getattr(e, "api", None) or getattr(e, "word", None) or "sync" for e in runtime.drain()]
    return value
noted("add", lambda: a + b)
noted("item", lambda: a.sum().item())
runtime.next_shape([2, 2])
words["shape"] = list(torch.nonzero(a).shape)
loss = noted("forward", lambda: layer(a).sum())
noted("backward", loss.backward)
words["soc"] = torch.npu.get_device_name(0)
os.write(3, json.dumps(words).encode())
os._exit(0)
"""


def observed(environment, runtime, soc: str, tmp_path) -> dict[str, object]:
    answer = tmp_path / "answer.json"
    variables = {**os.environ, **build.environment_variables(runtime, soc, "8.5.0")}
    variables["PYTHONPATH"] = str(Path(opscan.__file__).parent.parent)
    command = f'exec "$0" -c "$1" 3> "{answer}"'
    done = subprocess.run(
        ["sh", "-c", command, str(environment.interpreter), PROGRAM], env=variables, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    words: dict[str, object] = json.loads(answer.read_text())
    return words


@pytest.mark.parametrize(
    ("soc", "product", "add"),
    [("ascend910b", "Ascend910B3", "aclnnAdd"), ("ascend910", "Ascend910A", "GE Add")],
)
def test_calls_launch_kernels_by_the_chips_default_path(
    rehearsal_environment, simulated_runtime, tmp_path, soc, product, add
):
    words = observed(rehearsal_environment, simulated_runtime, soc, tmp_path)
    assert words["soc"] == product
    assert words["add"] == [add]
    assert words["item"][-1] == "copy"
    assert words["shape"] == [2, 2]
    assert all(any(kernel.startswith(add[:3]) for kernel in words[phase]) for phase in ("forward", "backward"))
