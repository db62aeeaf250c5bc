from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fake_machine import places, write

from opscan.doctor.packages import read_packages, read_torch
from opscan.doctor.variables import read_variables


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages that comes first, then those of this environment."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def package(site: Path, name: str, version: str, **files: str) -> None:
    info = site / f"{name}-{version}.dist-info"
    write(info / "METADATA", "Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}")
    for file, text in files.items():
        write(info / file.replace("__", "."), text)


def test_packages_by_normalised_name_the_first_of_two(site: Path) -> None:
    package(site, "Some_Package.X", "1.5")
    package(site, "msgspec", "0.0.1")
    versions, elsewhere = read_packages()
    assert versions["some-package-x"] == "1.5"
    assert versions["msgspec"] == "0.0.1"
    assert "some-package-x" not in elsewhere


def test_what_came_from_an_address_is_marked_without_it(site: Path) -> None:
    package(site, "own", "2.0", direct_url__json='{"url": "https://user:secret@host/own.git"}')
    versions, elsewhere = read_packages()
    assert "own" in elsewhere
    assert "secret" not in str(versions)


def test_damaged_metadata_does_no_harm(site: Path) -> None:
    (site / "empty-1.0.dist-info").mkdir()
    write(site / "half-1.0.dist-info/METADATA", "")
    (site / "binary-1.0.dist-info").mkdir()
    (site / "binary-1.0.dist-info/METADATA").write_bytes(b"\xff\xfe\x00")
    versions, _ = read_packages()
    assert "pytest" in versions


@pytest.mark.parametrize(
    ("text", "build"),
    [
        ("__version__ = '2.6.0+cpu'\ncuda: Optional[str] = None\nhip: Optional[str] = None\n", "cpu"),
        ("cuda = '12.4'\nhip = None\n", "cuda 12.4"),
        ("cuda: Optional[str] = None\nhip: Optional[str] = '6.2'\n", "hip 6.2"),
    ],
)
def test_the_build_of_torch_is_read_without_importing_it(
    site: Path, text: str, build: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)  # an imported one would be found there
    write(site / "torch/__init__.py", "raise SystemExit('imported')")
    (site / "torch/version.py").write_text(text)
    found = read_torch({"torch": "2.6.0+cpu"})
    assert found is not None
    assert (found.version, found.build) == ("2.6.0+cpu", build)


def test_no_torch(site: Path) -> None:
    assert read_torch({}) is None


def test_only_known_variables_are_read_and_their_addresses_lose_their_secrets(tmp_path: Path) -> None:
    variables = {
        "TASK_QUEUE_ENABLE": "2",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "PYTHONPATH": "https://user:secret@host/x?token=secret:/plain",
    }
    found = read_variables(places(tmp_path, variables))
    assert found == {"TASK_QUEUE_ENABLE": "2", "PYTHONPATH": "https://host/x?"}
