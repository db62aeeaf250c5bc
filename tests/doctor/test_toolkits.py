from __future__ import annotations

from pathlib import Path

from fake_machine import SOCS, places, toolkit_folder, write

from opscan.doctor.cann import find_toolkits, library_folders, set_env_script


def test_nothing_is_found_on_a_machine_without(tmp_path: Path) -> None:
    assert find_toolkits(places(tmp_path), SOCS) == ()


def test_a_toolkit_that_latest_leads_to(tmp_path: Path) -> None:
    base = tmp_path / "usr/local/Ascend/ascend-toolkit"
    toolkit_folder(base / "8.1.RC1", kernels=("ascend910b", "ascend310p"))
    (base / "latest").symlink_to("8.1.RC1")

    (found,) = find_toolkits(places(tmp_path), SOCS)

    assert (found.path, found.release, found.kind, found.named_by) == (str(base / "latest"), "8.1.RC1", "toolkit", "")
    assert found.kernels == ("ascend310p", "ascend910b")
    assert found.inner == "V100R001C21SPC001B238"
    assert found.compatible == ("V100R001C15", "V100R001C18", "V100R001C21")
    assert found.unreadable == ()


def test_cann_8_5_with_its_operator_package(tmp_path: Path) -> None:
    base = tmp_path / "usr/local/Ascend"
    toolkit = base / "cann-9.0.0"
    write(toolkit / "x86_64-linux/ascend_toolkit_install.info", "version=9.0.0")
    write(toolkit / "x86_64-linux/ascend_ops_install.info", "package_name=Ascend-cann-910b-ops", "version=9.0.0")
    (toolkit / "opp/built-in/op_impl/ai_core/tbe/kernel/config/ascend950").mkdir(parents=True)
    (base / "cann").symlink_to("cann-9.0.0")

    (found,) = find_toolkits(places(tmp_path), SOCS)

    assert (found.release, found.ops, found.ops_package) == ("9.0.0", "9.0.0", "Ascend-cann-910b-ops")
    assert found.kernels == ("ascend950dt", "ascend950pr")


def test_the_one_that_a_variable_names_comes_first_and_others_follow(tmp_path: Path) -> None:
    base = tmp_path / "usr/local/Ascend/ascend-toolkit"
    old, new = toolkit_folder(base / "8.0.0", "8.0.0"), toolkit_folder(base / "8.5.0", "8.5.0")
    (base / "latest").symlink_to("8.5.0")

    found = find_toolkits(places(tmp_path, {"ASCEND_TOOLKIT_HOME": str(old)}), SOCS)

    assert [(each.release, each.named_by) for each in found] == [("8.0.0", "ASCEND_TOOLKIT_HOME"), ("8.5.0", "")]
    assert found[1].path == str(base / "latest")
    assert new.is_dir()


def test_one_of_the_users_own(tmp_path: Path) -> None:
    toolkit_folder(tmp_path / "home/Ascend/ascend-toolkit/latest", "8.2.RC1")
    assert [each.release for each in find_toolkits(places(tmp_path), SOCS)] == ["8.2.RC1"]


def test_an_inference_runtime_is_told_from_a_toolkit(tmp_path: Path) -> None:
    write(tmp_path / "usr/local/Ascend/nnrt/latest/aarch64-linux/ascend_nnrt_install.info", "version=7.0.0")
    (found,) = find_toolkits(places(tmp_path), SOCS)
    assert (found.kind, found.release) == ("nnrt", "7.0.0")


def test_releases_where_the_install_file_is_missing(tmp_path: Path) -> None:
    for number, (file, line) in enumerate(
        [
            ("opp/version.info", "version_dir=8.1.RC1"),
            ("share/info/runtime/version.info", "Version=9.1.0"),
            ("version.cfg", "toolkit_running_version=[7.6.0.1.220:8.0.0]"),
        ]
    ):
        home = tmp_path / str(number)
        write(home / file, "Timestamp=1", line)
        (home / "lib64").mkdir()
        (found,) = find_toolkits(places(tmp_path, {"ASCEND_HOME_PATH": str(home)}), SOCS)
        assert found.release == ["8.1.RC1", "9.1.0", "8.0.0"][number]


def test_the_name_of_the_folder_tells_last(tmp_path: Path) -> None:
    (tmp_path / "cann-8.5.0/lib64").mkdir(parents=True)
    (tmp_path / "anything/lib64").mkdir(parents=True)
    for name, release in (("cann-8.5.0", "8.5.0"), ("anything", "")):
        variables = {"ASCEND_HOME_PATH": str(tmp_path / name)}
        assert [each.release for each in find_toolkits(places(tmp_path, variables), SOCS)] == [release]


def test_a_file_that_cannot_be_read_is_told_and_others_answer(tmp_path: Path) -> None:
    home = toolkit_folder(tmp_path / "cann")
    broken = home / "aarch64-linux/ascend_toolkit_install.info"
    broken.unlink()
    broken.mkdir()
    write(home / "opp/version.info", "version_dir=8.1.RC1")

    (found,) = find_toolkits(places(tmp_path, {"ASCEND_HOME_PATH": str(home)}), SOCS)

    assert found.release == "8.1.RC1"
    assert found.unreadable == (str(broken),)


def test_a_file_full_of_garbage_tells_nothing(tmp_path: Path) -> None:
    home = toolkit_folder(tmp_path / "cann")
    (home / "aarch64-linux/ascend_toolkit_install.info").write_bytes(
        b"version=\xff\xfe\x00\nversion\n=8.1.RC1\n" * 9999
    )
    (found,) = find_toolkits(places(tmp_path, {"ASCEND_HOME_PATH": str(home)}), SOCS)
    assert found.release == ""


def test_a_variable_that_leads_nowhere_names_no_toolkit(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for path in ("/nowhere", str(tmp_path / "loop"), "", "relative", str(tmp_path)):
        assert find_toolkits(places(tmp_path, {"ASCEND_HOME_PATH": path}), SOCS) == ()


def test_where_scripts_and_libraries_are(tmp_path: Path) -> None:
    base = tmp_path / "usr/local/Ascend/ascend-toolkit"
    toolkit_folder(base / "latest")
    (found,) = find_toolkits(places(tmp_path), SOCS)
    assert set_env_script(found) == base / "latest/set_env.sh"
    assert library_folders(found)[0] == base / "latest/lib64"

    (base / "latest/set_env.sh").unlink()
    write(base / "set_env.sh")
    assert set_env_script(found) == base / "set_env.sh"
