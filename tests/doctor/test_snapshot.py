from __future__ import annotations

from pathlib import Path

import pytest
from fake_machine import device, facts
from msgspec.structs import replace

from opscan.doctor.facts import Facts, Package, Toolkit
from opscan.doctor.snapshot import Change, commands_back, compare, read_snapshot, write_snapshot
from opscan.errors import UsageError


def only(before: Facts, now: Facts) -> Change:
    (change,) = compare(before, now)
    return change


def test_a_snapshot_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    write_snapshot(str(path), facts())
    assert read_snapshot(path) == facts()
    assert compare(read_snapshot(path), facts()) == ()


def test_a_snapshot_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="folder"):
        write_snapshot(str(tmp_path / "folder"), facts())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is no snapshot"),
        (b"\xff\xfe", "is no snapshot"),
        (b"[]", "is no snapshot"),
        (b'{"schema": 1}', "is no snapshot"),
        (b'{"schema": 2, "taken": 5}', "is of schema 2; this opscan reads 1"),
    ],
)
def test_what_is_no_snapshot_is_refused(tmp_path: Path, data: bytes, says: str) -> None:
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(UsageError, match=says):
        read_snapshot(tmp_path / "x")


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file") as raised:
        read_snapshot(tmp_path / "x")
    assert "--snapshot" in raised.value.hint


def test_when_and_with_which_opscan_it_was_taken_is_no_change() -> None:
    assert compare(facts(), replace(facts(), taken="2027-01-01T00:00:00+00:00", opscan="9")) == ()


def test_packages_come_back_in_one_command() -> None:
    before = facts(packages={"torch": "2.6.0", "numpy": "1.26.4", "gone": "1.0", "same": "1"})
    now = facts(packages={"torch": "2.7.1", "numpy": "2.0.0", "new": "3", "other": "4", "same": "1"})

    changes = compare(before, now)

    assert [(c.subject, c.before, c.now) for c in changes] == [
        ("gone", "1.0", ""),
        ("new", "", "3"),
        ("numpy", "1.26.4", "2.0.0"),
        ("other", "", "4"),
        ("torch", "2.6.0", "2.7.1"),
    ]
    assert commands_back(changes) == (
        "python -m pip install gone==1.0 numpy==1.26.4 torch==2.6.0",
        "python -m pip uninstall -y new other",
    )


def test_a_package_that_came_from_elsewhere_has_no_command() -> None:
    change = only(facts(packages={"own": "1"}, from_elsewhere=("own",)), facts(packages={"own": "2"}))
    assert change.commands == ()
    assert change.advice is not None
    assert "elsewhere than an index" in change.advice.en


def test_a_build_has_an_index_of_its_own() -> None:
    change = only(facts(packages={"torch": "2.6.0+cpu"}), facts(packages={"torch": "2.7.1+cpu"}))
    assert change.commands == ("python -m pip install torch==2.6.0+cpu",)
    assert change.advice is not None
    assert "index that it came from" in change.advice.en


def test_no_command_is_made_of_what_opscan_did_not_write() -> None:
    before = facts(
        packages={"x; rm -rf ~": "1", "-rlist": "1", "a": "1 --index-url=x"},
        variables={"LD_PRELOAD": "/x", "A;B": "$(x)"},
    )
    changes = compare(before, facts(packages={"--pre": "2"}, variables={}))
    assert len(changes) == 6
    assert commands_back(changes) == ()


def test_variables_come_back() -> None:
    before = facts(variables={"TASK_QUEUE_ENABLE": "$(reboot)", "ASCEND_RT_VISIBLE_DEVICES": "0"})
    now = facts(variables={"TASK_QUEUE_ENABLE": "0", "ASCEND_LAUNCH_BLOCKING": "1"})
    assert commands_back(compare(before, now)) == (
        "unset ASCEND_LAUNCH_BLOCKING",
        "export ASCEND_RT_VISIBLE_DEVICES=0",
        "export TASK_QUEUE_ENABLE='$(reboot)'",
    )


def test_a_toolkit_that_is_still_there_is_sourced_again(tmp_path: Path) -> None:
    old = tmp_path / "cann-8.5.0"
    old.mkdir()
    (old / "set_env.sh").touch()
    before = facts(toolkits=(Toolkit(str(old), "8.5.0"),))
    change = only(before, facts(toolkits=(Toolkit("/cann-9.1.0", "9.1.0"),)))
    assert (change.before, change.now) == (f"8.5.0 ({old})", "9.1.0 (/cann-9.1.0)")
    assert change.commands == (f"source {old}/set_env.sh",)


def test_a_toolkit_that_was_replaced_in_its_place_is_installed_again(tmp_path: Path) -> None:
    (tmp_path / "set_env.sh").touch()
    before, now = (facts(toolkits=(Toolkit(str(tmp_path), release),)) for release in ("8.5.0", "9.1.0"))
    change = only(before, now)
    assert change.commands == ()
    assert change.advice is not None
    assert "Install CANN 8.5.0" in change.advice.en


def test_kernels_of_the_same_toolkit() -> None:
    before, now = (facts(toolkits=(Toolkit("/cann", "8.5.0", kernels=k),)) for k in (("ascend910b",), ()))
    assert only(before, now).subject == "CANN kernels"


@pytest.mark.parametrize(
    ("change", "subject", "before", "now"),
    [
        ({"driver": Package("26.1.0")}, "driver", "25.5.1", "26.1.0"),
        ({"driver": None}, "driver", "25.5.1", ""),
        ({"firmware": Package(version="7.8")}, "firmware", "", "7.8"),
        ({"devices": (device(0),)}, "devices", "0.0 Ascend910B3, 1.0 Ascend910B3", "0.0 Ascend910B3"),
        ({"python": "3.12.1"}, "Python", "3.11.7", "3.12.1"),
        ({"toolkits": ()}, "CANN", "8.5.0 (/cann)", ""),
    ],
)
def test_what_no_command_brings_back_is_advised(change: dict[str, object], subject: str, before: str, now: str) -> None:
    found = only(facts(), facts(**change))  # type: ignore[arg-type]
    assert (found.subject, found.before, found.now) == (subject, before, now)
    assert found.commands == ()
    assert found.advice is not None
    assert found.advice.zh != found.advice.en


def test_health_and_the_state_of_npu_smi_are_no_change() -> None:
    assert compare(facts(), facts(devices=(device(0, health="Alarm"), device(1)))) == ()
