"""Machines made by hand: toolkits, drivers and an ``npu-smi`` that says what a test wants."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from opscan.doctor.facts import SCHEMA, Device, Facts, NpuSmi, Package, Places, Toolkit, Torch

SOCS = frozenset({"ascend310b", "ascend310p", "ascend910", "ascend910_93", "ascend910b", "ascend950dt", "ascend950pr"})

RULE = "+---------------------------+---------------+----------------------------------------------------+"

A2 = f"""\
+------------------------------------------------------------------------------------------------+
| npu-smi 25.5.1                   Version: 25.5.1                                               |
{RULE}
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 93.1        41                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3000 / 65536         |
+===========================+===============+====================================================+
| 1     910B3               | OK            | 90.0        40                0    / 0             |
| 0                         | 0000:C2:00.0  | 0           0    / 0          3000 / 65536         |
+===========================+===============+====================================================+
{RULE}
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 0       0                 | 4711          | python                   | 58472                   |
+===========================+===============+====================================================+
"""

A3 = f"""\
| npu-smi 24.1.rc3.3               Version: 24.1.rc3.3                                           |
{RULE}
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     Ascend910           | OK            | 180.0       36                0    / 0             |
| 0     0                   | 0000:9D:00.0  | 0           0    / 0          3400 / 65536         |
+------------------------------------------------------------------------------------------------+
| 0     Ascend910           | Warning       | -           35                0    / 0             |
| 1     1                   | 0000:9F:00.0  | 0           0    / 0          3200 / 65536         |
+===========================+===============+====================================================+
"""

P310 = """\
+-------------------|-----------------|------------------------------------------------------+
| NPU     Name      | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |
| Chip    Device    | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |
+===================+=================+======================================================+
| 224     310P3     | OK              | NA           42                0    / 0              |
| 0       0         | 0000:82:00.0    | 0            1074 / 21534                            |
+===================+=================+======================================================+
"""

B310 = """\
| NPU     Name                  | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |
| Chip    Device                | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |
+===============================+=================+======================================================+
| 0       310B1                 | Alarm           | 9.0          57                15    / 15            |
| 0       0                     | NA              | 0            7356 / 11577                            |
+===============================+=================+======================================================+
"""

A5 = """\
| NPU    | Name             | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)  |
| Chip   |                  | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)          |
+========+==================+===============+=====================================================+
| 0      | Ascend950PR      | OK            | 195.6       56                0     / 0             |
|        |                  | 0000:61:00.0  | 0           0    / 0          5239  / 131072        |
+========+==================+===============+=====================================================+
"""


def board(**values: str) -> str:
    """``key : value`` lines; ``Chip_Name`` is "Chip Name"."""
    return "".join(f"        {key.replace('_', ' '):30} : {value}\n" for key, value in values.items())


def places(root: Path, variables: Mapping[str, str] | None = None) -> Places:
    """A machine whose file system is ``root``, with an empty path but for what ``npu_smi`` puts there."""
    (root / "bin").mkdir(parents=True, exist_ok=True)
    return Places({"PATH": str(root / "bin"), **(variables or {})}, root / "home", root)


def npu_smi(root: Path, script: str) -> None:
    """A shell script in place of npu-smi, with the usual tools at hand."""
    path = root / "bin" / "npu-smi"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nPATH={os.defpath}:/usr/bin\n{script}\n")
    path.chmod(0o755)


def answers(root: Path, table: str, cards: Mapping[str, str] | None = None) -> None:
    """An npu-smi that answers ``info`` by a table, and ``info <rest>`` by what ``cards`` has of the rest."""
    cases = []
    for number, (rest, text) in enumerate({"": table, **(cards or {})}.items()):
        (root / f"said{number}").write_text(text)
        cases.append(f'"{f"info {rest}".strip()}") cat {root}/said{number};;')
    npu_smi(root, 'case "$*" in\n' + "\n".join(cases) + "\n*) exit 1;;\nesac")


def write(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def toolkit_folder(path: Path, release: str = "8.1.RC1", kernels: tuple[str, ...] = ("ascend910b",)) -> Path:
    """An installed toolkit up to CANN 8.3: release and kernels."""
    write(
        path / "aarch64-linux" / "ascend_toolkit_install.info",
        "package_name=Ascend-cann-toolkit",
        f"version={release}",
        "innerversion=V100R001C21SPC001B238",
        "compatible_version=[V100R001C15],[V100R001C18],[V100R001C21]",
        "arch=aarch64",
    )
    (path / "lib64").mkdir(exist_ok=True)
    for soc in kernels:
        (path / "opp/built-in/op_impl/ai_core/tbe/kernel" / soc / "add").mkdir(parents=True)
        (path / "opp/built-in/op_impl/ai_core/tbe/kernel/config" / soc).mkdir(parents=True)
    write(path / "set_env.sh")
    return path


def facts(
    *,
    python: str = "3.11.7",
    torch: str | None = "2.6.0",
    torch_npu: str | None = "2.6.0.post5",
    cann: str | None = "8.5.0",
    **more: object,
) -> Facts:
    """A machine on which everything fits, but for what a test changes."""
    toolkit = Toolkit("/cann", cann, named_by="ASCEND_HOME_PATH", kernels=("ascend910b",)) if cann else None
    values: dict[str, object] = {
        "npu_smi": NpuSmi("answered", "25.5.1"),
        "toolkits": (toolkit,) if toolkit else (),
        "driver": Package("25.5.1", "25.5.1"),
        "devices": (device(0), device(1)),
        "variables": {"ASCEND_HOME_PATH": "/cann", "LD_LIBRARY_PATH": "/cann/lib64"} if toolkit else {},
        "packages": {"torch": torch or "", "torch-npu": torch_npu or ""},
        "compiler": "/usr/bin/cc",
        **more,
    }
    return Facts(  # type: ignore[arg-type]
        schema=SCHEMA,
        taken="2026-01-02T03:04:05+00:00",
        opscan="0",
        python=python,
        interpreter="/usr/bin/python3",
        platform="Linux-5.10-aarch64",
        machine="aarch64",
        torch=Torch(torch, "cpu") if torch else None,
        torch_npu=torch_npu,
        **values,
    )


def device(card: int, name: str = "Ascend910B3", soc: str = "ascend910b", **more: str) -> Device:
    return Device(card, 0, name, soc, health=more.pop("health", "OK"), bus="0000:C1:00.0", **more)
