"""The devices, as ``npu-smi`` tells of them. It may be absent, hang, or answer something else.

Formats: ``npu-smi info`` prints a table of two rows a chip: card and name, then chip and PCI bus (as quoted in issues
of vllm-project/vllm-ascend for 910B2 and A3 with 24.1 to 25.5; in the samples of Ascend/ModelZoo-PyTorch for 310P3). On
Ascend 950 a column of its own holds the number of the card. ``npu-smi info -t board -i CARD`` prints ``key : value``
lines: ``Software Version`` is the driver, ``Firmware Version`` the firmware, ``Compatibility`` whether they fit (CANN
9.1.0, "Querying the software package version"); with ``-c CHIP`` there are ``Chip Name`` and, on A3, ``NPU Name``: the
SoC is then ``<Chip Name>_<NPU Name>`` (CANN's guide to ATC, option ``--soc_version``).
"""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from opscan.doctor.facts import Device, NpuSmi, Places

#: Seconds that the first question may take: with sixteen chips, or a driver that is being loaded, it takes several.
TIME_LIMIT = 30.0

#: Seconds for each question about one card, and for how many cards it is asked.
_BOARD_LIMIT, _BOARDS = 10.0, 16

#: More than this is no answer.
_MOST = 1 << 20

_VERSION = re.compile(r"npu-smi\s+(\S+)\s+Version:\s*(\S+)")
_BUS = re.compile(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]|NA|N/A")


def ask(
    places: Places, canonical: Callable[[str], str], limit: float = TIME_LIMIT
) -> tuple[NpuSmi, tuple[Device, ...]]:
    """What npu-smi says. ``canonical``: a SoC of the matrix for a name that torch_npu uses, empty where it has none."""
    command = _find(places)
    if command is None:
        return NpuSmi("absent"), ()
    state, text = _run([command, "info"], places, limit)
    devices = parse_table(text)
    version = _VERSION.search(text)
    if not devices:
        state = "garbled" if state == "answered" else state
        return NpuSmi(state, version[2] if version else "", _last(text)), ()
    told = _boards(command, devices, places)
    named = tuple(_with_board(device, told.get((device.card, device.chip), {}), canonical) for device in devices)
    return NpuSmi("answered", version[2] if version else ""), named


def parse_table(text: str) -> list[Device]:
    """The chips in the table of ``npu-smi info``; none where the text has no such table."""
    devices: list[Device] = []
    head: tuple[int, str, str] | None = None
    for line in text.splitlines():
        cells = [cell.split() for cell in line.strip().strip("|").split("|")]
        if len(cells) < 3 or "Process" in (word for cell in cells for word in cell):
            head = None if len(cells) >= 3 else head
            continue
        if not _is_bus(cells[1]) and not _is_bus(cells[2]):
            head = _head(cells)
        elif head is not None:
            card, name, health = head
            bus, chip = next((c for c in cells[1:] if _is_bus(c)), [""]), cells[0]
            devices.append(Device(card, _number(chip[0]) if chip else 0, name, health=health, bus=bus[0]))
            head = None
    return devices


def parse_lines(text: str) -> dict[str, str]:
    """The values of ``key : value`` lines, by the key in lower case."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        key, separator, value = line.partition(":")
        if separator and value.strip():
            values.setdefault(key.strip().lower(), value.strip())
    return values


def _head(cells: Sequence[Sequence[str]]) -> tuple[int, str, str] | None:
    """Card, name and health of a first row: ``0 910B3 | OK | …``, or ``0 | Ascend950PR | OK | …``."""
    words = [*cells[0], *cells[1]] if len(cells[0]) == 1 else list(cells[0])
    health = cells[2] if len(cells[0]) == 1 else cells[1]
    if len(words) < 2 or not words[0].isdecimal() or not health:
        return None
    return int(words[0]), " ".join(words[1:]), " ".join(health)


def _is_bus(cell: Sequence[str]) -> bool:
    return len(cell) == 1 and _BUS.fullmatch(cell[0]) is not None


def _number(word: str) -> int:
    return int(word) if word.isdecimal() else 0


def _boards(command: str, devices: Sequence[Device], places: Places) -> dict[tuple[int, int], dict[str, str]]:
    """What is said of each card, and of each of its chips. After a question without an answer no more are asked."""
    told: dict[tuple[int, int], dict[str, str]] = {}
    for card in list(dict.fromkeys(device.card for device in devices))[:_BOARDS]:
        state, text = _run([command, "info", "-t", "board", "-i", str(card)], places, _BOARD_LIMIT)
        if state != "answered":
            break
        board = parse_lines(text)
        for device in (each for each in devices if each.card == card):
            told[card, device.chip] = board
            if not _names_soc(device.name):
                asked = [command, "info", "-t", "board", "-i", str(card), "-c", str(device.chip)]
                state, text = _run(asked, places, _BOARD_LIMIT)
                told[card, device.chip] = {**board, **parse_lines(text)} if state == "answered" else board
    return told


def _names_soc(name: str) -> bool:
    """Whether the name in the table says which chip it is: on A3 and later it names only the family."""
    return name.removeprefix("Ascend").strip() not in ("910", "950", "950PR", "950DT")


def _with_board(device: Device, board: dict[str, str], canonical: Callable[[str], str]) -> Device:
    family, number = board.get("chip name", ""), board.get("npu name", "")
    plain = device.name.replace(" ", "")
    name = plain if plain.startswith("Ascend") else f"Ascend{plain}"
    if family.startswith("Ascend") and number and number not in ("NA", "N/A"):
        name = f"{family.replace(' ', '')}_{number}"
    return Device(
        card=device.card,
        chip=device.chip,
        name=name,
        soc=_soc(name, canonical),
        health=device.health,
        bus=device.bus,
        firmware=board.get("firmware version", ""),
        compatibility=board.get("compatibility", ""),
    )


def _soc(name: str, canonical: Callable[[str], str]) -> str:
    """The SoC of the matrix; a member of a known family that has no entry of its own is taken for the family."""
    if name == "Ascend910B":
        # Without a digit it is a chip of the older 910A group, although people mean Atlas A2 by it.
        return "ascend910"
    if name == "Ascend910":
        return ""  # what A3 says where npu-smi did not tell more
    family = "Ascend910_93" if name.startswith("Ascend910_93") else name.partition("_")[0]
    return canonical(name) or (canonical(family) if family not in (name, "Ascend910") else "")


def _find(places: Places) -> str | None:
    """On the path, else where the driver puts it: a service or cron job has a short path."""
    found = shutil.which("npu-smi", path=places.variables.get("PATH", os.defpath))
    usual = [places.root / "usr/local/bin/npu-smi", places.root / "usr/local/sbin/npu-smi"]
    return found or next((str(path) for path in usual if os.access(path, os.X_OK) and path.is_file()), None)


def _run(command: Sequence[str], places: Places, limit: float) -> tuple[str, str]:
    """How a question ended, and what was said. A process that does not end in time is killed with its children."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(places.variables),
            start_new_session=True,
        )
    except OSError as error:
        return "failed", error.strerror or str(error)
    try:
        output = _read(process, time.monotonic() + limit)
        if output is None or len(output) > _MOST:
            _end(process)
            return ("silent", "") if output is None else ("garbled", "")
        code = process.wait(timeout=limit)
    except subprocess.TimeoutExpired:
        _end(process)
        return "silent", ""
    except BaseException:
        _end(process)
        raise
    _end(process)
    return ("answered" if code == 0 else "failed"), output.decode("utf-8", "replace")


def _read(process: subprocess.Popen[bytes], deadline: float) -> bytes | None:
    """All that it prints, or more than anyone asked for; None where it goes on for too long."""
    assert process.stdout is not None
    output = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while len(output) <= _MOST and (left := deadline - time.monotonic()) > 0:
            if not selector.select(left):
                continue
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            if not chunk:
                return output
            output += chunk
    return output if len(output) > _MOST else None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of it; one that hangs inside the driver cannot be killed, and is not waited for."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.stdout is not None:
        process.stdout.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=1)


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""
