"""Environments are made with the real pip from wheels that the tests build, so that nothing is downloaded."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from opscan.errors import OpscanError, UsageError
from opscan.matrix.data import matrix_roots
from opscan.matrix.releases import load_releases
from opscan.probing import environment, installer, managed

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def releases_for_this_python() -> list[str]:
    releases = load_releases(matrix_roots())
    return [r for r in releases.torch_npu_order if HERE in releases.torch_npu[r].python]


def torch_of(release: str) -> str:
    return load_releases(matrix_roots()).torch_npu[release].torch


#: Two releases for this Python that pair with different torch releases.
RELEASE = releases_for_this_python()[-1]
OTHER = next(r for r in reversed(releases_for_this_python()) if torch_of(r) != torch_of(RELEASE))


def wheel(folder: Path, name: str, version: str) -> None:
    """A package that holds nothing but its version."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/__init__.py", f"__version__ = {version!r}\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all that pip may install from, an empty cache, and a host that has the torch of RELEASE."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for release in (RELEASE, OTHER):
        wheel(folder, "torch_npu", release)
        wheel(folder, "torch", torch_of(release))
    for name in ("numpy", "pyyaml", "torchvision"):
        wheel(folder, name, "1.0.0")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    host = {"torch": torch_of(RELEASE), "numpy": "1.0.0", "pyyaml": "1.0.0"}
    monkeypatch.setattr(managed, "installed", host.get)
    monkeypatch.setattr(managed, "_verify", lambda interpreter, manifest: None)
    return folder


def imported(found: environment.RehearsalEnvironment, code: str) -> str:
    done = subprocess.run([str(found.interpreter), "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_managed_environment_has_its_own_torch_npu_and_the_hosts_packages(wheels: Path) -> None:
    told: list[str] = []
    assert environment.find(RELEASE) is None

    made = environment.set_up(RELEASE, told.append)

    assert made == environment.find(RELEASE)
    assert made in environment.available()
    assert (made.torch_npu, made.torch, made.managed) == (RELEASE, torch_of(RELEASE), True)
    assert made.package.is_dir()
    assert imported(made, "import torch_npu; print(torch_npu.__file__)") == str(made.package / "__init__.py")
    assert imported(made, "import msgspec, opscan; print(msgspec.__version__)") == metadata.version("msgspec")
    assert any(line.startswith("installing torch_npu") for line in told)
    assert not any(line.startswith("installing torch ") for line in told)


def test_another_torch_than_the_hosts_is_installed_too_with_what_is_built_for_it(
    wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = {"torch": torch_of(RELEASE), "numpy": "1.0.0", "pyyaml": "1.0.0", "torchvision": "0.1.0"}
    monkeypatch.setattr(managed, "installed", host.get)

    made = environment.set_up(OTHER, lambda line: None)

    own = made.package.parent
    assert imported(made, "import torch; print(torch.__file__)") == str(own / "torch" / "__init__.py")
    assert (own / "torchvision").is_dir()
    assert not (own / "numpy").exists()


def test_what_torch_npu_needs_is_installed_where_the_host_lacks_it(
    wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(managed, "installed", {"torch": torch_of(RELEASE), "numpy": "1.0.0"}.get)

    made = environment.set_up(RELEASE, lambda line: None)

    own = made.package.parent
    assert (own / "pyyaml").is_dir()
    assert not (own / "numpy").exists()


def test_a_failure_says_what_pip_said_and_leaves_nothing(wheels: Path) -> None:
    for path in wheels.glob("torch_npu*"):
        path.unlink()

    with pytest.raises(OpscanError, match="No matching distribution found for torch_npu") as raised:
        environment.set_up(RELEASE, lambda line: None)

    assert raised.value.exit_code == 2
    assert "network" in raised.value.hint
    assert environment.available() == ()
    assert [path.name for path in managed.environments_dir().iterdir() if path.is_dir()] == []


def test_an_interrupt_leaves_nothing(wheels: Path) -> None:
    def interrupt(line: str) -> None:
        if line.startswith("Installing collected packages"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        environment.set_up(RELEASE, interrupt)

    assert environment.find(RELEASE) is None
    assert [path.name for path in managed.environments_dir().iterdir() if path.is_dir()] == []


def test_what_a_killed_process_left_half_made_is_not_found_and_made_again(wheels: Path) -> None:
    made = environment.set_up(RELEASE, lambda line: None)
    manifest = made.interpreter.parent.parent / "opscan-environment.json"
    manifest.unlink()
    (made.package / "left").write_text("over")
    assert environment.find(RELEASE) is None

    again = environment.set_up(RELEASE, lambda line: None)

    assert again == made
    assert not (made.package / "left").exists()


def test_a_damaged_manifest_counts_as_none(wheels: Path) -> None:
    made = environment.set_up(RELEASE, lambda line: None)
    manifest = made.interpreter.parent.parent / "opscan-environment.json"
    assert json.loads(manifest.read_text())["torch_from_host"] is True
    for damage in (b"{", b"[]", b'{"schema":1}', b"\x00\xff"):
        manifest.write_bytes(damage)
        assert environment.find(RELEASE) is None


def test_a_host_whose_torch_has_changed_makes_an_environment_without_its_own_useless(
    wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment.set_up(RELEASE, lambda line: None)
    monkeypatch.setattr(managed, "installed", {"torch": torch_of(OTHER), "numpy": "1.0.0", "pyyaml": "1.0.0"}.get)
    assert environment.find(RELEASE) is None


def test_two_at_once_make_one(wheels: Path) -> None:
    told: list[str] = []
    made: list[environment.RehearsalEnvironment] = []
    threads = [threading.Thread(target=lambda: made.append(environment.set_up(RELEASE, told.append))) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert made[0] == made[1]
    assert sum(line.startswith("installing torch_npu") for line in told) == 1


def test_removing(wheels: Path) -> None:
    environment.set_up(RELEASE, lambda line: None)
    environment.set_up(OTHER, lambda line: None)

    environment.remove(RELEASE)

    assert [each.torch_npu for each in environment.available()] == [OTHER]
    with pytest.raises(UsageError, match="no managed environment") as raised:
        environment.remove(RELEASE)
    assert OTHER in raised.value.hint


def test_the_newest_comes_first(wheels: Path) -> None:
    for release in (OTHER, RELEASE):
        environment.set_up(release, lambda line: None)
    assert [each.torch_npu for each in environment.available()] == [RELEASE, OTHER]


def test_uv_serves_where_there_is_no_pip(wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = tmp_path / "called"
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text(f'#!/bin/sh\necho "$*" >> {called}\n[ "$2" = install ] || exit 9\nmkdir -p "{tmp_path}"\n')
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", f"{uv.parent}:/usr/bin:/bin")
    monkeypatch.setattr(installer, "_own_pip", lambda: None)

    _, manifest = managed.make(RELEASE, torch_of(RELEASE), lambda line: None)

    assert manifest.torch_npu == RELEASE
    interpreter = managed.interpreter_of(next(p for p in managed.environments_dir().iterdir() if p.is_dir()))
    assert called.read_text() == f"pip install --python {interpreter} --no-deps torch_npu=={RELEASE}\n"


def test_an_environment_that_finds_other_releases_is_refused(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    folder = Path(sys.executable)
    manifest = managed.Manifest(1, "0.0.1", "0.0.2", True, HERE, (), "0")
    with pytest.raises(OpscanError, match=r"should find torch_npu 0\.0\.1 and torch 0\.0\.2") as raised:
        managed._verify(folder, manifest)
    assert "PYTHONPATH" in raised.value.hint


def test_a_release_without_a_wheel_for_this_python_is_refused_before_anything_is_made(wheels: Path) -> None:
    releases = load_releases(matrix_roots())
    unfit = next(
        r for r in releases.torch_npu_order if releases.torch_npu[r].python and HERE not in releases.torch_npu[r].python
    )
    with pytest.raises(UsageError, match=f"no wheel for Python {HERE}") as raised:
        environment.set_up(unfit, lambda line: None)
    assert RELEASE in raised.value.hint
    assert not managed.environments_dir().exists()


def test_an_unknown_release_is_refused(wheels: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown torch_npu release '2\.0\.99'"):
        environment.set_up("2.0.99", lambda line: None)


def test_other_machines_are_told(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment.platform, "machine", lambda: "riscv64")
    with pytest.raises(OpscanError, match=r"only; this is .* on riscv64"):
        environment.set_up(RELEASE, lambda line: None)


class TestTheCurrentInterpreter:
    @pytest.fixture
    def package(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        package = tmp_path / "torch_npu"
        package.mkdir()
        (package / "__init__.py").write_text("raise SystemExit('imported')\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        return package

    def have(self, monkeypatch: pytest.MonkeyPatch, torch_npu: str, torch: str) -> None:
        monkeypatch.setattr(managed, "installed", {"torch_npu": torch_npu, "torch": torch}.get)

    def test_is_found_without_being_imported(self, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.have(monkeypatch, "2.6.0.post5", "2.6.0")
        found = environment.find("2.6.0.post5")
        assert found == environment.RehearsalEnvironment(Path(sys.executable), "2.6.0.post5", "2.6.0", package, False)
        assert environment.find("2.6.0") is None

    def test_does_not_count_beside_another_torch(self, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.have(monkeypatch, "2.6.0.post5", "2.7.1")
        assert environment.find("2.6.0.post5") is None


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            "Downloading https://user:secret@host/simple/torch-2.6.0.whl?token=abc#sha256=1 (5.1 MB)",
            "torch-2.6.0.whl (5.1 MB)",
        ),
        ("  Downloading torch_npu-2.13.0-cp311.whl (43.6 MB)", "torch_npu-2.13.0-cp311.whl (43.6 MB)"),
        ("Progress 1500000 of 43600000", "2 of 44 MB"),
        ("Collecting torch from https://user:secret@host/x?token=abc", "Collecting torch from https://host/x"),
    ],
)
def test_progress_tells_sizes_and_no_secrets(line: str, shown: str) -> None:
    told: list[str] = []
    installer._tell(line, told.append)
    assert len(told) == 1
    assert told[0].endswith(shown)
    assert "secret" not in told[0]
    assert "abc" not in told[0]


def test_an_error_repeats_no_secrets(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", "https://user:secret@localhost:9/links?token=abc")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(OpscanError) as raised:
        environment.set_up(RELEASE, lambda line: None)
    assert "secret" not in raised.value.message
    assert "abc" not in raised.value.message
