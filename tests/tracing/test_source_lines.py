"""Whose code a file is: the user's, a library's, or torch's and Python's own."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
import torch

import opscan.tracing.source as source
from opscan.tracing.source import SourceLocator

TORCH = os.path.dirname(torch.__file__)


def code(file: Path, text: str, **names: object) -> dict[str, object]:
    """The names that a file defines, run as if it had been imported from there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    namespace: dict[str, object] = dict(names)
    exec(compile(text, str(file), "exec"), namespace)
    return namespace


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("{root}/net.py", "user"),
        ("{root}/deep/er/net.py", "user"),
        ("{root}/.venv/lib/python3.11/site-packages/timm/net.py", "library"),
        ("{root}/env/lib/python3/dist-packages/timm/net.py", "library"),
        ("{root}-beside/net.py", "library"),
        (torch.nn.functional.__file__, "internal"),
        (source.__file__, "internal"),
        (contextlib.__file__, "internal"),
        ("<string>", "internal"),
        ("<frozen importlib._bootstrap>", "internal"),
    ],
)
def test_kinds_of_files(tmp_path: Path, file: str, kind: str) -> None:
    locator = SourceLocator(tmp_path, TORCH)
    assert locator._kind(file.format(root=tmp_path)) == kind


def test_everything_may_lie_below_the_models_folder() -> None:
    locator = SourceLocator(Path("/"), TORCH)
    assert locator._kind(contextlib.__file__) == "internal"
    assert locator._kind(torch.nn.functional.__file__) == "internal"
    assert locator._kind("/net.py") == "user"


def test_the_users_innermost_line_below_a_librarys(tmp_path: Path) -> None:
    locator = SourceLocator(tmp_path, TORCH)
    library = code(tmp_path / "site-packages" / "lib.py", "def call(f):\n    return f()\n")
    user = code(
        tmp_path / "net.py",
        "\ndef inner():\n    return call(locate)\n\ndef outer():\n    return inner()\n",
        locate=locator.locate,
        call=library["call"],
    )
    assert user["outer"]() == ("net.py", 3)  # type: ignore[operator]


def test_a_library_alone_is_shown_from_its_package_on(tmp_path: Path) -> None:
    locator = SourceLocator(tmp_path / "model", os.path.dirname(__file__))
    library = code(
        tmp_path / "site-packages" / "timm" / "net.py", "def run():\n    return locate()\n", locate=locator.locate
    )
    found = library["run"]()  # type: ignore[operator]
    assert found == (os.path.join("timm", "net.py"), 2)


def test_lines_of_errors(tmp_path: Path) -> None:
    locator = SourceLocator(tmp_path, TORCH)
    user = code(tmp_path / "net.py", "def run(x):\n    return x.view(3)\n")
    with pytest.raises(RuntimeError) as raised:
        user["run"](torch.ones(2))  # type: ignore[operator]
    assert locator.of_error(raised.value) == ("net.py", 2, "return x.view(3)")
    assert locator.of_error(ValueError("nowhere")) is None
