from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from fake_machine import A2, A3, A5, B310, P310, answers, board, npu_smi, places

from opscan.doctor.npu_smi import ask, parse_table
from opscan.matrix.data import matrix_roots
from opscan.matrix.releases import canonical_soc, load_socs

SOCS = load_socs(matrix_roots())


def canonical(name: str) -> str:
    return canonical_soc(name, SOCS)


@pytest.mark.parametrize(
    ("table", "chips"),
    [
        (A2, [(0, 0, "910B3", "OK", "0000:C1:00.0"), (1, 0, "910B3", "OK", "0000:C2:00.0")]),
        (A3, [(0, 0, "Ascend910", "OK", "0000:9D:00.0"), (0, 1, "Ascend910", "Warning", "0000:9F:00.0")]),
        (P310, [(224, 0, "310P3", "OK", "0000:82:00.0")]),
        (B310, [(0, 0, "310B1", "Alarm", "NA")]),
        (A5, [(0, 0, "Ascend950PR", "OK", "0000:61:00.0")]),
    ],
)
def test_tables_of_every_family(table: str, chips: list[tuple[int, int, str, str, str]]) -> None:
    assert [(d.card, d.chip, d.name, d.health, d.bus) for d in parse_table(table)] == chips


@pytest.mark.parametrize(
    "text", ["", "|||", "| 0 | 1 | 2 |", A2[:300], "| x y | OK | z |\n| 0 | 0000:C1:00.0 | 0 |", "\0\x1b[31m" * 9]
)
def test_text_without_a_table_has_no_chips(text: str) -> None:
    assert parse_table(text) == []


def test_a2_with_what_the_boards_say(tmp_path: Path) -> None:
    card = board(NPU_ID="0", Software_Version="25.5.1", Firmware_Version="7.8.0.6.201", Compatibility="OK")
    answers(tmp_path, A2, {"-t board -i 0": card, "-t board -i 1": card})

    smi, (first, second) = ask(places(tmp_path), canonical)

    assert (smi.state, smi.version) == ("answered", "25.5.1")
    assert (first.name, first.soc, first.firmware, first.compatibility) == (
        "Ascend910B3",
        "ascend910b",
        "7.8.0.6.201",
        "OK",
    )
    assert (second.card, second.bus) == (1, "0000:C2:00.0")


def test_a3_is_named_by_chip_and_number(tmp_path: Path) -> None:
    chip = board(NPU_ID="0", NPU_Name="9392", Chip_Name="Ascend910")
    card = board(Firmware_Version="7.5.0.1.129", Compatibility="NOK")
    answers(tmp_path, A3, {"-t board -i 0": card, "-t board -i 0 -c 0": chip, "-t board -i 0 -c 1": chip})

    _, devices = ask(places(tmp_path), canonical)

    assert {(d.name, d.soc, d.compatibility) for d in devices} == {("Ascend910_9392", "ascend910_93", "NOK")}


@pytest.mark.parametrize(
    ("table", "name", "soc"),
    [
        (P310, "Ascend310P3", "ascend310p"),
        (B310, "Ascend310B1", "ascend310b"),
        (A5, "Ascend950PR", "ascend950pr"),
        (A3, "Ascend910", ""),
        (A2.replace("910B3", "910B "), "Ascend910B", "ascend910"),
        (A2.replace("910B3", "910A "), "Ascend910A", "ascend910"),
        (A2.replace("910B3", "777X9"), "Ascend777X9", ""),
    ],
)
def test_names_where_no_board_answers(tmp_path: Path, table: str, name: str, soc: str) -> None:
    answers(tmp_path, table)
    _, devices = ask(places(tmp_path), canonical)
    assert (devices[0].name, devices[0].soc) == (name, soc)


@pytest.mark.parametrize(("number", "soc"), [("9579", "ascend950pr"), ("95zz", "ascend950pr")])
def test_a_new_member_of_a_known_family_is_of_the_family(tmp_path: Path, number: str, soc: str) -> None:
    answers(tmp_path, A5, {"-t board -i 0": board(NPU_Name=number, Chip_Name="Ascend950PR")})
    _, (device,) = ask(places(tmp_path), canonical)
    assert (device.name, device.soc) == (f"Ascend950PR_{number}", soc)


def test_an_unknown_number_of_ascend910_is_not_taken_for_the_910a_group(tmp_path: Path) -> None:
    answers(tmp_path, A3, {"-t board -i 0": board(NPU_Name="8888", Chip_Name="Ascend910")})
    _, devices = ask(places(tmp_path), canonical)
    assert devices[0].soc == ""


def test_none_is_absent(tmp_path: Path) -> None:
    smi, devices = ask(places(tmp_path), canonical)
    assert (smi.state, devices) == ("absent", ())


def test_it_is_found_beside_the_path(tmp_path: Path) -> None:
    answers(tmp_path, P310)
    usual = tmp_path / "usr/local/bin"
    usual.mkdir(parents=True)
    (tmp_path / "bin/npu-smi").rename(usual / "npu-smi")
    assert len(ask(places(tmp_path), canonical)[1]) == 1


def test_a_failure_says_its_last_line(tmp_path: Path) -> None:
    npu_smi(tmp_path, "echo starting; echo 'dcmi module initialize failed. ret is -8005' >&2; exit 1")
    smi, devices = ask(places(tmp_path), canonical)
    assert (smi.state, smi.said) == ("failed", "dcmi module initialize failed. ret is -8005")
    assert devices == ()


def test_one_that_cannot_run_fails(tmp_path: Path) -> None:
    npu_smi(tmp_path, "")
    (tmp_path / "bin/npu-smi").write_bytes(b"\x7fELF nothing")
    assert ask(places(tmp_path), canonical)[0].state == "failed"


def test_one_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    npu_smi(tmp_path, f"sleep 300 & echo $! > {tmp_path}/child; wait")
    started = time.monotonic()

    smi, _ = ask(places(tmp_path), canonical, limit=0.5)

    assert smi.state == "silent"
    assert time.monotonic() - started < 30
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if not _lives(child):
            break
        time.sleep(0.05)
    assert not _lives(child)


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z" and os.path.exists(f"/proc/{pid}")


def test_one_that_never_stops_talking_is_ended(tmp_path: Path) -> None:
    npu_smi(tmp_path, "while :; do echo nothing of note is said here; done")
    assert ask(places(tmp_path), canonical)[0].state == "garbled"


@pytest.mark.parametrize("said", ["hello", "", r"\377\376\000 | \033[31m"])
def test_one_that_says_something_else_is_garbled(tmp_path: Path, said: str) -> None:
    npu_smi(tmp_path, f"printf '{said}\\n'")
    assert ask(places(tmp_path), canonical)[0].state == "garbled"


def test_bytes_that_are_no_utf8_do_no_harm_to_the_table(tmp_path: Path) -> None:
    answers(tmp_path, P310)
    (tmp_path / "said0").write_bytes(b"\xff\xfe warning\n" + P310.encode())
    assert len(ask(places(tmp_path), canonical)[1]) == 1
