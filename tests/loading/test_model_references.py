"""What a user names on the command line, before anything is imported."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opscan.errors import LoadError
from opscan.loading.factory_arguments import Argument
from opscan.loading.reference import (
    ConfigurationReference,
    ImportedReference,
    LibraryReference,
    PythonFileReference,
    parse_reference,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text("")
    return tmp_path


def failure(text: str) -> LoadError:
    with pytest.raises(LoadError) as raised:
        parse_reference(text)
    assert raised.value.hint
    return raised.value


def test_a_file_and_a_name(folder: Path) -> None:
    assert parse_reference("model.py") == PythonFileReference("model.py")
    assert parse_reference("model.py:Net") == PythonFileReference("model.py", "Net")
    assert parse_reference("./model.py:build_model").name == "build_model"
    assert parse_reference(str(folder / "model.py")).path == str(folder / "model.py")
    assert str(parse_reference("model.py:Net")) == "model.py:Net"


@pytest.mark.parametrize("name", ["my model.py", "a:b.py", "model:v2.py", "模型.py", "ü.py", "-.py", "a'b\".py"])
def test_names_of_files_are_free(folder: Path, name: str) -> None:
    (folder / name).write_text("")
    assert parse_reference(name) == PythonFileReference(name)
    assert parse_reference(f"{name}:Net") == PythonFileReference(name, "Net")


def test_folders_with_spaces_and_colons(folder: Path) -> None:
    inner = folder / "a folder:of mine"
    inner.mkdir()
    (inner / "net.py").write_text("")
    assert parse_reference(f"{inner}/net.py:Net") == PythonFileReference(f"{inner}/net.py", "Net")


def test_a_link_to_a_file(folder: Path) -> None:
    (folder / "link.py").symlink_to("model.py")
    assert parse_reference("link.py").path == "link.py"
    (folder / "broken.py").symlink_to("nowhere.py")
    assert "No such file" in failure("broken.py").message


def test_a_missing_file_names_its_neighbour(folder: Path) -> None:
    assert failure("modle.py").hint == "Did you mean model.py?"
    assert "model.py" in failure("something_else.py").hint
    assert "does not exist either" in failure("nowhere/model.py").hint


def test_a_missing_file_in_an_empty_folder(folder: Path) -> None:
    (folder / "empty").mkdir()
    assert "no Python file" in failure("empty/model.py").hint


def test_a_folder(folder: Path) -> None:
    (folder / "package.py").mkdir()
    for name in (".", "package.py"):
        error = failure(name)
        assert "directory" in error.message


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("m.pt", "checkpoint"),
        ("m.onnx", "ONNX"),
        ("m.safetensors", "weights"),
        ("m.ipynb", "notebook"),
        ("m.txt", "not a Python file"),
        ("m", "not a Python file"),
    ],
)
def test_what_a_suffix_promises_is_said_of_empty_and_of_foreign_files(folder: Path, name: str, kind: str) -> None:
    (folder / name).write_text("")
    assert kind in failure(name).message
    (folder / name).write_text("words of no format")
    error = failure(name)
    assert kind in error.message
    assert "build_model()" in error.hint


def test_libraries_and_configurations(folder: Path) -> None:
    assert parse_reference("torchvision:resnet50") == LibraryReference("torchvision", "resnet50")
    assert parse_reference("timm:vit_tiny_patch16_224.augreg_in21k").name == "vit_tiny_patch16_224.augreg_in21k"
    (folder / "bert").mkdir()
    assert "There is no config.json" in failure("hf:bert").message
    (folder / "bert/config.json").write_text('{"model_type": "bert"}')
    assert parse_reference("hf:bert") == ConfigurationReference("bert/config.json")
    assert parse_reference("bert/config.json") == ConfigurationReference("bert/config.json")
    assert str(parse_reference("hf:bert", trust=True)) == "hf:bert/config.json"
    assert failure("bert").hint == "It holds a configuration: scan hf:bert"
    assert "nothing is downloaded" in failure("hf:organisation/model").hint
    failure("torchvision:res net")


def test_names_that_python_imports(folder: Path) -> None:
    assert parse_reference("package.module:Net") == ImportedReference("package.module", "Net")
    assert parse_reference("module:Net.inner") == ImportedReference("module", "Net.inner")
    assert "No such file" in failure("modle.py:Net").message


def test_arguments_stay_with_what_builds_the_model(folder: Path) -> None:
    hidden = (Argument("hidden", "256"),)
    assert parse_reference("model.py:Net", hidden) == PythonFileReference("model.py", "Net", hidden)
    assert parse_reference("a:B", hidden).arguments == hidden


@pytest.mark.parametrize("text", ["model.py:", "model.py:a.b", "model.py:1", ":Net", "", "model.py:Net:more"])
def test_names_that_are_none(folder: Path, text: str) -> None:
    failure(text)


@pytest.mark.parametrize("text", ["a" * 5000 + ".py", "a\0b.py", "nowhere/" * 500 + "m.py"])
def test_paths_that_the_system_refuses(folder: Path, text: str) -> None:
    failure(text)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60))
def test_nonsense_raises_nothing_but_a_load_error(folder: Path, text: str) -> None:
    with suppress(LoadError):
        parse_reference(text)
