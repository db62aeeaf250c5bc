"""What a file holds is told by its content, and nothing in it is run."""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import zipfile
from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from torch import nn

from opscan.errors import LoadError
from opscan.loading.file_kinds import ExportedProgram, Onnx, Other, Pickled, TorchScript, look_at
from opscan.loading.reference import PickledModuleReference, TorchScriptReference, parse_reference


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(2, 3)


class Harmful:
    """Makes a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> object:
        return os.mkdir, (str(self.path),)


@pytest.fixture
def scripted(tmp_path: Path) -> Path:
    path = tmp_path / "scripted.bin"
    torch.jit.script(nn.Linear(2, 3)).save(str(path))
    return path


@pytest.mark.parametrize("is_zip", [True, False])
def test_weights_are_counted(tmp_path: Path, is_zip: bool) -> None:
    path = tmp_path / "w.pth"
    state = OrderedDict(a=torch.zeros(2), b=torch.zeros(3, dtype=torch.int64), c=torch.zeros(1, dtype=torch.bfloat16))
    torch.save(state, path, _use_new_zipfile_serialization=is_zip)
    kind = look_at(path)
    assert isinstance(kind, Pickled)
    assert not kind.is_module
    assert kind.contents.dtypes == {"float32": 1, "int64": 1, "bfloat16": 1}
    assert kind.says.startswith("holds weights and no model: 3 tensors (")
    with pytest.raises(LoadError, match="holds weights and no model"):
        parse_reference(str(path), trust=True)


@pytest.mark.parametrize("is_zip", [True, False])
def test_a_whole_module_is_named_and_needs_trust(tmp_path: Path, is_zip: bool) -> None:
    path = tmp_path / "m.pt"
    torch.save(Net(), path, _use_new_zipfile_serialization=is_zip)
    kind = look_at(path)
    assert isinstance(kind, Pickled)
    assert kind.contents.root == f"{__name__}.Net"
    assert kind.contents.modules == (f"{__name__}.Net", "torch.nn.modules.linear.Linear")
    assert kind.contents.foreign == (f"{__name__}.Net",)
    with pytest.raises(LoadError, match="whole pickled module") as raised:
        parse_reference(str(path))
    assert "--trust" in raised.value.hint
    assert parse_reference(str(path), trust=True) == PickledModuleReference(str(path))


def test_a_module_inside_a_checkpoint(tmp_path: Path) -> None:
    torch.save({"epoch": 3, "model": Net()}, tmp_path / "c.ckpt")
    kind = look_at(tmp_path / "c.ckpt")
    assert isinstance(kind, Pickled)
    assert kind.contents.root is None
    assert "in a checkpoint" in kind.says


def test_a_harmful_pickle_is_named_and_not_run(tmp_path: Path) -> None:
    path, made = tmp_path / "h.pt", tmp_path / "made"
    path.write_bytes(pickle.dumps(Harmful(made), protocol=2))
    assert f"it names {os.mkdir.__module__}.mkdir" in look_at(path).says
    torch.save({"weights": torch.zeros(1), "more": Harmful(made)}, path)
    assert f"names {os.mkdir.__module__}.mkdir" in look_at(path).says
    assert not made.exists()


def test_torchscript_by_any_name(scripted: Path) -> None:
    assert isinstance(look_at(scripted), TorchScript)
    assert parse_reference(str(scripted)) == TorchScriptReference(str(scripted))


def test_exported_programs(tmp_path: Path) -> None:
    torch.export.save(torch.export.export(nn.Linear(2, 3), (torch.zeros(1, 2),)), tmp_path / "p.zip")
    assert isinstance(look_at(tmp_path / "p.zip"), ExportedProgram)
    with zipfile.ZipFile(tmp_path / "old.pt2", "w") as archive:
        archive.writestr("serialized_exported_program.json", "{}")
    assert isinstance(look_at(tmp_path / "old.pt2"), ExportedProgram)


def test_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    header = {"__metadata__": {}, "w": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"\0" * 4)
    kind = look_at(path)
    assert kind.says == "holds weights and no model (safetensors): 1 tensors (1 BF16)"
    (tmp_path / "config.json").write_text("{}")
    assert f"hf:{tmp_path / 'config.json'}" in look_at(path).hint
    path.write_bytes(path.read_bytes()[:20])
    assert "truncated" in look_at(path).says


@pytest.mark.parametrize(
    ("head", "says"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1", "a pointer of Git LFS"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"GGUF\3\0\0\0", "GGUF"),
        (b"\x89HDF\r\n\x1a\n", "HDF5"),
        (b"\0\0\0\0TFL3", "TensorFlow Lite"),
        (b"PK\3\4 and no more", "damaged or truncated archive"),
        (b"\x80\2 and no pickle", "damaged or truncated pickle"),
        (b"{ no json", "begins like JSON"),
        (b'{"a": 1}', "no configuration"),
        (b"\xde\xad\xbe\xef", "it begins with de ad be ef"),
        (b"plain text", "it begins with 'plain text'"),
        ("# opscan\n\n[中文".encode(), "it begins with '# opscan\\n\\n[中'"),
        (b"plain\x00text", "it begins with 70 6c 61 69 6e 00 74 65 78 74"),
    ],
)
def test_files_of_other_kinds(tmp_path: Path, head: bytes, says: str) -> None:
    path = tmp_path / "model.pt"
    path.write_bytes(head)
    kind = look_at(path)
    assert isinstance(kind, Other)
    assert says in kind.says
    assert kind.hint


def test_onnx_by_its_first_fields(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(b"\x08\x08\x12\x07pytorch")
    assert isinstance(look_at(path), Onnx)


def test_mutated_and_truncated_files_are_reported_and_never_crash(tmp_path: Path, scripted: Path) -> None:
    module = io.BytesIO()
    torch.save(Net(), module)
    legacy = io.BytesIO()
    torch.save(Net().state_dict(), legacy, _use_new_zipfile_serialization=False)
    chance = random.Random(5)
    path = tmp_path / "m.pt"
    for whole in (scripted.read_bytes(), module.getvalue(), legacy.getvalue()):
        for _ in range(120):
            data = bytearray(whole[: chance.randrange(len(whole))] if chance.random() < 0.5 else whole)
            for _ in range(chance.randrange(6)):
                if data:
                    data[chance.randrange(len(data))] = chance.randrange(256)
            path.write_bytes(data)
            kind = look_at(path)
            assert kind.says
