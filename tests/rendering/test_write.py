from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from opscan.errors import UsageError
from opscan.rendering.write import check_writable, write_text


def test_writes_utf8_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "报告.html"
    check_writable(str(target))
    assert list(tmp_path.iterdir()) == []
    write_text(str(target), "算子 ×2\n")
    assert target.read_bytes() == "算子 ×2\n".encode()
    assert list(tmp_path.iterdir()) == [target]


def test_replaces_a_file_and_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_text("old, and longer than the new one")
    target.chmod(0o640)
    write_text(str(target), "new")
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target = tmp_path / "real.html"
    target.write_text("old")
    link = tmp_path / "link.html"
    link.symlink_to(target)
    write_text(str(link), "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_failure_leaves_the_old_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(UsageError, match="No space left on device"):
        write_text(str(target), "new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist") as caught:
        check_writable(str(tmp_path / "missing" / "report.html"))
    assert str(tmp_path / "missing") in caught.value.message
    assert "Create the folder" in caught.value.hint


@pytest.mark.parametrize("path", ["", "{folder}", "{folder}/", "{folder}/new/"])
def test_a_folder_is_not_a_file(tmp_path: Path, path: str) -> None:
    with pytest.raises(UsageError, match="names a folder"):
        check_writable(path.format(folder=tmp_path))


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="Cannot write"):
        check_writable(str(tmp_path / "file" / "report.html"))


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="too long"):
        check_writable(str(tmp_path / ("x" * 300)))


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a file system that refuses new files")
def test_a_folder_that_refuses_files() -> None:
    with pytest.raises(UsageError, match=r"Cannot write /proc/self/report\.html"):
        check_writable("/proc/self/report.html")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_writable(str(pipe))
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(str(pipe), "through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_dash_is_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    check_writable("-")
    write_text("-", "算子\n")
    assert capfdbinary.readouterr().out == "算子\n".encode()
    assert not Path("-").exists()


def test_hostile_paths_are_inert_in_the_message(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        check_writable(str(tmp_path / "missing\x1b[2J" / "x"))
    assert "\x1b" not in caught.value.message
