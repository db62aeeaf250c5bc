"""Files of torch.export: run with their own inputs, and never made to run anything else."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from opscan.errors import LoadError
from opscan.loading.exported_program import load
from opscan.loading.inputs import parse_input_shape
from opscan.loading.reference import ExportedProgramReference


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor, scale: float = 1.0, *, shift: torch.Tensor) -> torch.Tensor:
        return self.inner(x) * scale + shift


@pytest.fixture
def program(tmp_path: Path) -> Path:
    batch = torch.export.Dim.DYNAMIC
    exported = torch.export.export(
        Net(),
        (torch.ones(3, 4),),
        {"shift": torch.zeros(2)},
        dynamic_shapes={"x": {0: batch}, "shift": None},
    )
    torch.export.save(exported, tmp_path / "net.pt2")
    return tmp_path / "net.pt2"


def test_its_own_inputs(program: Path) -> None:
    model = load(ExportedProgramReference(str(program)), (), train=False)
    assert model.args[0].shape == (3, 4)
    assert list(model.kwargs) == ["shift"]
    assert model.callable(*model.args, **model.kwargs).shape == (3, 2)
    assert "float32[3, 4]" in model.notes[0].en
    assert [name for name, _ in model.callable.named_parameters()] == ["inner.weight", "inner.bias"]


def test_other_inputs_of_a_dynamic_dimension(program: Path) -> None:
    given = (parse_input_shape("7,4"),)
    with pytest.raises(LoadError, match="do not fit"):
        load(ExportedProgramReference(str(program)), given, train=False)


def rewritten(path: Path, change: Callable[[Any], None]) -> Path:
    """The same archive with another graph."""
    other = path.with_name("other.pt2")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("models/model.json"):
                tree = json.loads(data)
                change(tree)
                data = json.dumps(tree).encode()
            new.writestr(name, data)
    return other


def test_functions_that_are_no_operators_are_refused(program: Path) -> None:
    def change(tree: Any) -> None:
        tree["graph_module"]["graph"]["nodes"][0]["target"] = "torch.os.system"

    with pytest.raises(LoadError, match=r"'torch\.os\.system'.*no operator"):
        load(ExportedProgramReference(str(rewritten(program, change))), (), train=False)


def test_expressions_that_are_code_are_refused(program: Path) -> None:
    def change(tree: Any) -> None:
        tree["range_constraints"]["s0"] = {"expr_str": "().__class__.__bases__"}

    with pytest.raises(LoadError, match="expression"):
        load(ExportedProgramReference(str(rewritten(program, change))), (), train=False)


def test_guards_are_not_run(program: Path, tmp_path: Path) -> None:
    def change(tree: Any) -> None:
        tree["guards_code"] = [f"open({str(tmp_path / 'made')!r}, 'w')"]

    load(ExportedProgramReference(str(rewritten(program, change))), (), train=False)
    assert not (tmp_path / "made").exists()


def test_a_damaged_program(program: Path) -> None:
    def change(tree: Any) -> None:
        del tree["graph_module"]["signature"]

    with pytest.raises(LoadError, match=r"cannot read other\.pt2"):
        load(ExportedProgramReference(str(rewritten(program, change))), (), train=False)
