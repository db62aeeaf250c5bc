"""A damaged file is loaded, or refused with a message. More by ``benchmarks/file_mutations.py``."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path

import pytest
import torch
from torch import nn

from opscan.errors import LoadError
from opscan.loading.preparation import load
from opscan.loading.reference import parse_reference

EXAMPLE = torch.zeros(2, 4)


def traced(path: Path, model: nn.Module) -> None:
    torch.jit.trace(model, EXAMPLE).save(str(path))


def exported(path: Path, model: nn.Module) -> None:
    torch.export.save(torch.export.export(model, (EXAMPLE,)), path)


def pickled(path: Path, model: nn.Module) -> None:
    torch.save(model, path)


@pytest.mark.parametrize("save", [traced, exported, pickled])
def test_archives_with_a_damaged_member_and_valid_checksums(save, tmp_path: Path, capfd) -> None:
    whole = tmp_path / "whole.pt"
    save(whole, nn.Sequential(nn.Linear(4, 3), nn.ReLU()).eval())
    chance = random.Random(3)
    refused: list[LoadError] = []
    for number in range(25):
        path = tmp_path / f"{number}.pt"
        path.write_bytes(damaged(whole.read_bytes(), chance))
        try:
            load(parse_reference(str(path), (), trust=True), (), train=False)
        except LoadError as error:
            refused.append(error)
    assert len(refused) >= 5
    assert all(error.hint for error in refused)
    assert all(".pt" in error.message for error in refused)
    assert "Traceback" not in capfd.readouterr().err


def damaged(content: bytes, chance: random.Random) -> bytes:
    """One member with bytes changed, lost or repeated, in an archive that is otherwise whole."""
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(written, "w") as target:
        chosen = chance.choice([name for name in source.namelist() if source.getinfo(name).file_size])
        for name in source.namelist():
            data = bytearray(source.read(name))
            if name == chosen:
                for _ in range(chance.choice((1, 5))):
                    at = chance.randrange(len(data))
                    data[at : at + chance.randrange(4)] = chance.randbytes(chance.randrange(4))
                    data = data or bytearray(b"\0")
            target.writestr(name, bytes(data))
    return written.getvalue()
