from __future__ import annotations

from pathlib import Path

import pytest

from opscan.errors import UsageError
from opscan.matrix.build.cann_home.toolkit import find_toolkit, soc_folders, socs_of

from .trees import CORE, new_toolkit, old_toolkit, put


def test_the_old_layout_is_found_from_every_folder_that_people_pass(tmp_path: Path) -> None:
    root = old_toolkit(tmp_path / "ascend-toolkit")
    (tmp_path / "ascend-toolkit" / "latest").symlink_to("8.1.RC1")
    for passed in (
        root,
        root / "opp",
        root / "aarch64-linux",
        tmp_path / "ascend-toolkit" / "latest",
        tmp_path / "ascend-toolkit" / "latest" / "opp",
        tmp_path / "ascend-toolkit",
        tmp_path,
    ):
        toolkit = find_toolkit(passed)
        assert (toolkit.release, toolkit.arch) == ("8.1.RC1", "aarch64"), passed
        (path,) = toolkit.ai_core_lists("ascend910b")
        assert toolkit.name(path) == f"{CORE}/config/ascend910b/aic-ascend910b-ops-info.json"


def test_the_new_layout(tmp_path: Path) -> None:
    new_toolkit(tmp_path)
    (tmp_path / "cann").symlink_to("cann-8.5.0")
    for passed in (tmp_path, tmp_path / "cann", tmp_path / "cann-8.5.0"):
        toolkit = find_toolkit(passed)
        assert (toolkit.release, toolkit.arch) == ("8.5.0", "x86_64")
        assert len(toolkit.ai_core_lists("ascend910_95")) == 5


def test_a_file_behind_two_links_counts_once(tmp_path: Path) -> None:
    toolkit = find_toolkit(new_toolkit(tmp_path))
    assert len(toolkit.files("*-linux/include/aclnnop/*.h", "include/aclnnop/*.h")) == 1


def test_a_toolkit_of_links_only(tmp_path: Path) -> None:
    """``latest`` of the old layout may be a folder of its own whose parts are links."""
    root, latest = old_toolkit(tmp_path), tmp_path / "latest"
    latest.mkdir()
    (latest / "opp").symlink_to(root / "opp")
    put(latest, "version.cfg", "# version: 1.0\nopp_running_version=[7.7.0.1.238:8.1.RC1]\n")
    (root / "opp" / "version.info").unlink()
    toolkit = find_toolkit(latest)
    assert toolkit.release == "8.1.RC1"
    assert toolkit.name(toolkit.ai_core_lists("ascend910b")[0]).startswith("opp/built-in/")


@pytest.mark.parametrize(
    ("files", "release"),
    [
        ({"aarch64-linux/ascend_toolkit_install.info": "version=8.2.RC1\n", "version.cfg": "a"}, "8.2.RC1"),
        ({"opp/version.info": "Version=7.7.0.1.238\nversion_dir=8.3.RC1\n"}, "8.3.RC1"),
        ({"share/info/opbase/version.info": "Version=9.2.0-beta.1\n"}, "9.2.0-beta.1"),
        ({"share/info/opbase/version.info": 'version_dir="cann-9.0.0"\n'}, "9.0.0"),
        ({"version.cfg": "opp_running_version=[7.7.0.1.238:8.0.RC3.beta1]\n"}, "8.0.RC3.beta1"),
    ],
)
def test_releases(tmp_path: Path, files: dict[str, str], release: str) -> None:
    root = tmp_path / "toolkit"
    (root / "opp" / "built-in" / "op_impl").mkdir(parents=True)
    for name, content in files.items():
        put(root, name, content)
    assert find_toolkit(root).release == release


def test_no_release_asks_for_one(tmp_path: Path) -> None:
    (tmp_path / "x" / "opp" / "built-in" / "op_impl").mkdir(parents=True)
    with pytest.raises(UsageError, match="no file tells the release") as error:
        find_toolkit(tmp_path / "x")
    assert "--cann" in error.value.hint
    assert find_toolkit(tmp_path / "x", "8.1.RC1").release == "8.1.RC1"
    with pytest.raises(UsageError, match="is no CANN release"):
        find_toolkit(tmp_path / "x", "../../8")


def test_what_is_no_toolkit(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is no folder") as error:
        find_toolkit(tmp_path / "nowhere")
    assert "ASCEND_HOME_PATH" in error.value.hint
    with pytest.raises(UsageError, match=r"is no CANN toolkit: it has no opp/built-in/op_impl") as error:
        find_toolkit(tmp_path)
    assert "ASCEND_HOME_PATH" in error.value.hint
    old_toolkit(tmp_path, "8.1.RC1")
    old_toolkit(tmp_path, "8.2.RC1")
    with pytest.raises(UsageError, match=r"several toolkits: 8\.1\.RC1, 8\.2\.RC1"):
        find_toolkit(tmp_path)


def test_a_folder_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(UsageError, match=r"Permission denied$"):
        find_toolkit(tmp_path)


def test_socs(tmp_path: Path) -> None:
    toolkit = find_toolkit(old_toolkit(tmp_path))
    assert soc_folders(toolkit) == ["ascend310p", "ascend910b"]
    known = frozenset({"ascend910b", "ascend950dt", "ascend950pr"})
    assert socs_of("ascend910b", known) == ("ascend910b",)
    assert socs_of("ascend950", known) == socs_of("ascend910_95", known) == ("ascend950dt", "ascend950pr")
    assert socs_of("ascend035", known) == ()


def test_lists_of_some_packages_are_not_complete(tmp_path: Path) -> None:
    assert find_toolkit(old_toolkit(tmp_path / "a")).is_complete("ascend910b")
    assert find_toolkit(new_toolkit(tmp_path / "b")).is_complete("ascend910_95")
    assert not find_toolkit(new_toolkit(tmp_path / "c", ("math", "nn"))).is_complete("ascend910_95")
    assert not find_toolkit(tmp_path / "a").is_complete("ascend035")
