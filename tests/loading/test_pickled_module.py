"""Whole pickled modules that the user trusts."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from opscan.errors import LoadError
from opscan.loading.inputs import parse_input_shape
from opscan.loading.pickled_module import load
from opscan.loading.reference import PickledModuleReference


def test_a_module_and_one_in_a_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    for held in (nn.Linear(3, 2), {"epoch": 1, "model": nn.Linear(3, 2).half()}):
        torch.save(held, path)
        model = load(PickledModuleReference(str(path)), (parse_input_shape("1,3"),), train=True)
        assert model.callable.training
        assert model.callable(*model.args).shape == (1, 2)


def test_it_needs_inputs(tmp_path: Path) -> None:
    torch.save(nn.Linear(3, 2), tmp_path / "m.pt")
    with pytest.raises(LoadError, match=r"takes inputs \(input\)"):
        load(PickledModuleReference(str(tmp_path / "m.pt")), (), train=False)


def test_classes_that_are_not_here(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    torch.save(nn.Linear(3, 2), path, _use_new_zipfile_serialization=False, pickle_protocol=2)
    path.write_bytes(path.read_bytes().replace(b"torch.nn.modules.linear", b"torch_nn_modules_linear"))
    with pytest.raises(LoadError, match="cannot be imported here"):
        load(PickledModuleReference(str(path)), (parse_input_shape("1,3"),), train=False)
