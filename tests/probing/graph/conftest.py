"""Models that torchair converts for real, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from opscan.inventory import Inventory
from opscan.probing.environment import RehearsalEnvironment

Rehearse = Callable[..., Inventory]


@pytest.fixture
def rehearse(rehearsal_environment: RehearsalEnvironment, simulated_runtime: Path, tmp_path: Path) -> Rehearse:
    """The inventory of a model whose source is given."""
    from opscan.probing.simulator.build import environment_variables

    def run(source: str, train: bool = False) -> Inventory:
        model, result = tmp_path / "model.py", tmp_path / "inventory.json"
        model.write_text(textwrap.dedent(source), encoding="utf-8")
        child = Path(__file__).with_name("graph_child.py")
        command = [rehearsal_environment.interpreter, child, model, "train" if train else "eval", result]
        variables = environment_variables(simulated_runtime, "ascend910b", "9.1.0")
        ran = subprocess.run(
            list(map(str, command)), env={**os.environ, **variables}, capture_output=True, text=True, timeout=300
        )
        assert result.exists(), ran.stderr[-3000:]
        return msgspec.json.decode(result.read_bytes(), type=Inventory)

    return run
