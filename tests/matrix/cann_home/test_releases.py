from __future__ import annotations

from pathlib import Path

from opscan.matrix.files import CannRelease, ReleasesFile, load
from opscan.matrix.releases import load_releases

from .trees import build, new_toolkit, old_toolkit


def test_a_new_release_is_known_from_then_on(tmp_path: Path) -> None:
    build(old_toolkit(tmp_path, "8.2.RC1"), tmp_path)
    releases = load_releases((tmp_path / "user", tmp_path / "packaged"))
    assert releases.cann_order == ("8.1.RC1", "8.2.RC1", "9.9.0")
    assert releases.cann["8.2.RC1"] == CannRelease(("ascend310p", "ascend910b"), ("8.1.RC1", "9.9.0"))
    assert releases.cann["8.1.RC1"].socs == ("ascend910b", "ascend950pr")


def test_a_known_release_keeps_its_packaged_socs(tmp_path: Path) -> None:
    build(old_toolkit(tmp_path), tmp_path)
    releases = load_releases((tmp_path / "user", tmp_path / "packaged"))
    assert releases.cann["8.1.RC1"].socs == ("ascend310p", "ascend910b", "ascend950pr")


def test_two_toolkits_stand_side_by_side(tmp_path: Path) -> None:
    build(old_toolkit(tmp_path), tmp_path)
    build(new_toolkit(tmp_path), tmp_path)
    own = load(tmp_path / "user" / "releases.json", ReleasesFile)
    assert own.cann_order == ("8.1.RC1", "8.5.0")
    assert [source.table for source in own.sources] == ["installed CANN 8.1.RC1", "installed CANN 8.5.0"]
