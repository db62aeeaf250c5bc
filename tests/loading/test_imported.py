"""``package.module:attribute``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from opscan.errors import LoadError
from opscan.loading.factory_arguments import Argument
from opscan.loading.imported import load
from opscan.loading.inputs import parse_input_shape
from opscan.loading.reference import ImportedReference

SOURCE = """
from torch import nn
class Net(nn.Linear):
    def __init__(self, width): super().__init__(width, 2)
ready = nn.Linear(3, 2)
def make(width=3): return nn.Linear(width, 5)
class Zoo:
    inner = nn.Linear(3, 7)
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    (tmp_path / "own_package").mkdir()
    (tmp_path / "own_package/nets.py").write_text(SOURCE)
    yield
    for name in [n for n in sys.modules if n.startswith("own_package")]:
        del sys.modules[name]


def width(attribute: str, *arguments: Argument) -> int:
    reference = ImportedReference("own_package.nets", attribute, arguments)
    return int(load(reference, (parse_input_shape("1,3"),), train=False).callable.out_features)


def test_classes_factories_instances_and_what_they_hold() -> None:
    assert width("ready") == 2
    assert width("make") == 5
    assert width("make", Argument("width", "4")) == 5
    assert width("Net", Argument("width", "3")) == 2
    assert width("Zoo.inner") == 7


@pytest.mark.parametrize(
    ("module", "attribute", "says", "hint"),
    [
        ("own_package.nets", "Nett", "has no 'Nett'", "Did you mean Net?"),
        ("own_package.none", "Net", "no module 'own_package.none'", "folder that holds the package"),
        ("no_package", "Net", "no module 'no_package'", "folder that holds the package"),
        ("own_package.nets", "Net", "needs constructor arguments: width", "--arg width=…"),
    ],
)
def test_what_is_not_there(module: str, attribute: str, says: str, hint: str) -> None:
    with pytest.raises(LoadError, match=says) as raised:
        load(ImportedReference(module, attribute), (), train=False)
    assert hint in raised.value.hint


def test_arguments_for_what_is_built_already() -> None:
    with pytest.raises(LoadError, match="is built already"):
        width("ready", Argument("width", "3"))
