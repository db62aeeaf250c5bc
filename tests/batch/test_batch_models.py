"""Which models a folder or a list has, and when a result still holds."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import pytest

from opscan.batch.digest import common_parts, digest
from opscan.batch.entries import Entry, input_options
from opscan.batch.folder import find_models
from opscan.batch.listing import read_list
from opscan.batch.python_models import says_of
from opscan.errors import UsageError

KNOWN = {
    name: name in ("train", "strict") for name in ("soc", "arg", "input", "input-shape", "train", "strict", "html")
}


@pytest.mark.parametrize(
    "source",
    [
        "def build_model(): ...",
        "from parts import build_model",
        "from parts import make as build_model",
        "model = make()",
        "class Net(nn.Module):\n    def __init__(self, width=4): ...",
        "class Part(nn.Module):\n    def __init__(self, width): ...\nclass Net(Part):\n    def __init__(self): ...",
        "class Net(library.Base):\n    def forward(self, x): ...",
    ],
)
def test_files_that_define_a_model(tmp_path: Path, source: str) -> None:
    (tmp_path / "m.py").write_text(source)
    assert says_of(tmp_path / "m.py") is None


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("x = 1", ""),
        ("def helper(): ...\nclass Data(Base): ...", ""),
        ("class F(torch.autograd.Function):\n    def forward(ctx, x): ...", ""),
        ("def broken(", ""),
        ("class A(nn.Module): ...\nclass B(nn.Module): ...", "does not say which"),
        ("class A(nn.Module):\n    def __init__(self, width, *, depth): ...", "need constructor arguments: A"),
        ("class A(nn.Module:", "no valid Python"),
    ],
)
def test_files_that_do_not(tmp_path: Path, source: str, says: str) -> None:
    (tmp_path / "m.py").write_text(source)
    found = says_of(tmp_path / "m.py")
    assert found is not None
    assert (says in found) if says else found == ""


def test_a_folder_is_judged_by_what_its_files_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = Path("models")
    for folder in ("sub", ".hidden", "__pycache__", "venv", "out", "bert"):
        (root / folder).mkdir(parents=True)
        (root / folder / "net.py").write_text("model = 1")
    (root / "venv" / "pyvenv.cfg").touch()
    (root / "bert" / "config.json").write_text('{"model_type": "bert", "architectures": ["BertModel"]}')
    (root / "other.json").write_text("{}")
    (root / "damaged.onnx").write_bytes(b"nothing")
    (root / "notes.txt").write_text("build_model")
    with zipfile.ZipFile(root / "script.pt", "w") as archive:
        archive.writestr("script/constants.pkl", b"")
    (root / "weights.pth").write_bytes(pickle.dumps({"epoch": 3}, protocol=2))
    entries, skipped = find_models(root, root / "out", False, {"train": True, "soc": "A2"})
    assert {entry.name: entry.reference for entry in entries} == {
        "bert/config.json": "hf:models/bert/config.json",
        "bert/net.py": "models/bert/net.py",
        "damaged.onnx": "models/damaged.onnx",
        "script.pt": "models/script.pt",
        "sub/net.py": "models/sub/net.py",
    }
    assert [file.path for file in skipped] == ["weights.pth"]
    options = {entry.name: entry.options for entry in entries}
    assert options["sub/net.py"] == {"train": True, "soc": "A2"}
    assert options["damaged.onnx"] == {"soc": "A2"}


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("class A(nn.Module): ...\nclass B(nn.Module): ...")
    with pytest.raises(UsageError, match=r"no model in .* a\.py defines 2 modules"):
        find_models(tmp_path, tmp_path / "out", False, {})


def listed(tmp_path: Path, text: str, **given: str | bool) -> list[Entry]:
    (tmp_path / "list.toml").write_text(text, encoding="utf-8")
    return read_list(tmp_path / "list.toml", given, KNOWN)


def test_a_models_options_come_before_the_command_lines_and_these_before_defaults(tmp_path: Path) -> None:
    entries = listed(
        tmp_path,
        """
        [defaults]
        inputs = ["1,3,8,8"]
        options = {soc = "A", train = true}
        [[model]]
        reference = "a.py"
        [[model]]
        name = "second"
        reference = "b.py:Net"
        inputs = ["ids=1x8:int64", "2,2"]
        options = {soc = "C", arg = ["width=4", "depth=2"]}
        [[model]]
        reference = "c.onnx"
        """,
        soc="B",
    )
    first, second, third = entries
    assert (first.name, first.folder) == ("a.py", tmp_path)
    assert first.arguments() == ["--input-shape=1,3,8,8", "--soc=B", "--train", "--", "a.py"]
    assert second.arguments() == [
        "--arg=width=4", "--arg=depth=2", "--input=ids=1x8:int64", "--input-shape=2,2", "--soc=C", "--train", "--",
        "b.py:Net",
    ]  # fmt: skip
    assert third.arguments() == ["--soc=B", "--", "c.onnx"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "lists no model"),
        ("[[model]]\nname = 'x'", "model 1: it names no reference"),
        ("[[model]]\nreference = 'a'\n[[model]]\nreference = 'a'", "two models are called 'a'"),
        ("[[model]]\nreference = 'a'\nshape = 1", "shape is no key"),
        ("[[model]]\nreference = 'a'\noptions = {sco = 'x'}", "no option --sco"),
        ("[[model]]\nreference = 'a'\noptions = {html = 'x'}", "--html is decided by the batch"),
        ("[[model]]\nreference = 'a'\noptions = {train = 'yes'}", "--train takes no value"),
        ("[[model]]\nreference = 'a'\noptions = {soc = true}", "--soc needs a value"),
        ("[[model]]\nreference = 'a'\ninputs = '1,2'", "inputs is no list"),
        ("model = 3", "lists no model"),
        ("[[models]]\nreference = 'a'", "models is no part of a list"),
        ("[[model]\n", "is not TOML"),
    ],
)
def test_lists_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        listed(tmp_path, text)
    assert message in raised.value.message


def test_brackets_are_no_names_of_inputs() -> None:
    assert input_options(["{a: 1x2, b: 2}", "x={a: 1x2}"]) == {
        "input-shape": ("{a: 1x2, b: 2}",),
        "input": ("x={a: 1x2}",),
    }


def test_a_result_holds_until_something_it_depends_on_changes(tmp_path: Path) -> None:
    (tmp_path / "layers").mkdir()
    files = {
        "model.py": "from layers.block import Block\nimport os, helpers",
        "helpers.py": "x = 1",
        "layers/block.py": "from . import deep",
        "layers/deep.py": "",
        "unrelated.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    entry = Entry("m", "model.py:Net", tmp_path)
    digests = [digest(entry, ["1"])]
    for name in ("model.py", "helpers.py", "layers/deep.py"):
        (tmp_path / name).write_text(files[name] + "\n# changed")
        digests.append(digest(entry, ["1"]))
    digests.append(digest(Entry("m", "model.py:Net", tmp_path, {"train": True}), ["1"]))
    digests.append(digest(entry, ["2"]))
    assert len(set(digests)) == 6
    (tmp_path / "unrelated.py").write_text("# changed")
    assert digest(entry, ["2"]) == digests[-1]
    assert digest(Entry("other name", "model.py:Net", tmp_path), ["2"]) == digests[-1]


def test_references_by_import_and_configuration_depend_on_their_files(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "net.py").write_text("")
    (tmp_path / "bert").mkdir()
    (tmp_path / "bert" / "config.json").write_text("{}")
    entries = [Entry("a", "pack.net:Net", tmp_path), Entry("b", "hf:bert", tmp_path)]
    before = [digest(entry, []) for entry in entries]
    (tmp_path / "pack" / "net.py").write_text("# changed")
    (tmp_path / "bert" / "config.json").write_text("{ }")
    assert all(digest(entry, []) != old for entry, old in zip(entries, before, strict=True))


def test_tables_of_the_matrix_count(tmp_path: Path) -> None:
    before = common_parts("1", "target", [tmp_path])
    (tmp_path / "releases.json").write_text("{}")
    assert common_parts("1", "target", [tmp_path]) != before
