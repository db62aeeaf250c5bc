"""The facts about a machine: what an inspection finds, what a snapshot keeps, what a comparison compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

#: The schema number of snapshots that this version of opscan writes and reads.
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Places:
    """Where to look. ``variables``: the environment of the process. ``root``: of the file system, for tests."""

    variables: Mapping[str, str]
    home: Path
    root: Path = Path("/")

    @property
    def ascend(self) -> Path:
        """Where driver and firmware lie, and CANN when it was installed for everyone."""
        return self.root / "usr/local/Ascend"


class Torch(msgspec.Struct, frozen=True):
    """``build``: ``cpu``, ``cuda 12.8``, …; empty: its version file does not say."""

    version: str
    build: str = ""


class Toolkit(msgspec.Struct, frozen=True):
    """An installed CANN. ``release``: empty where no file tells it. ``named_by``: the variable that points to it.

    ``inner``, ``compatible``: Huawei's internal names of it and of what it declares to work with (V100R001C21).
    ``kernels``: SoCs of the matrix whose kernels are installed. ``ops``: release of the separate operator package
    (CANN 8.5 and later), and ``ops_package`` its name. ``unreadable``: files that should tell and could not be read.
    """

    path: str
    release: str = ""
    kind: str = "toolkit"
    named_by: str = ""
    inner: str = ""
    compatible: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    ops: str = ""
    ops_package: str = ""
    unreadable: tuple[str, ...] = ()


class Package(msgspec.Struct, frozen=True):
    """Driver or firmware. ``release``: of the package (25.5.1); ``version``: what its own file calls the version.

    ``compatible``: internal names of the CANN lines that a driver declares to work with. ``firmware``: ranges of
    firmware versions that a driver works with, as (first, last).
    """

    release: str = ""
    version: str = ""
    inner: str = ""
    compatible: tuple[str, ...] = ()
    firmware: tuple[tuple[str, str], ...] = ()


class Device(msgspec.Struct, frozen=True):
    """One chip. ``name``: as torch_npu calls it (Ascend910B3). ``soc``: of the matrix; empty: unknown there.

    ``compatibility``: what npu-smi says of driver and firmware: OK, NOK, or something else.
    """

    card: int
    chip: int
    name: str
    soc: str = ""
    health: str = ""
    bus: str = ""
    firmware: str = ""
    compatibility: str = ""


class NpuSmi(msgspec.Struct, frozen=True):
    """What came of ``npu-smi``. ``state``: ``absent``, ``answered``, ``failed``, ``silent`` (it did not end in time),
    ``garbled`` (its answer has no table). ``said``: its last line, where it did not answer.
    """

    state: str
    version: str = ""
    said: str = ""


class Rehearsal(msgspec.Struct, frozen=True):
    """An environment that a rehearsal can run in."""

    torch_npu: str
    torch: str
    interpreter: str
    managed: bool


class Facts(msgspec.Struct, frozen=True):
    """All that an inspection found. ``packages``: distributions of this Python, by normalised name.

    ``from_elsewhere``: those of them that were not installed from an index, which ``name==version`` may not bring back.
    ``variables``: of the known ones those that are set. ``pci``: Ascend accelerators on the PCI bus; ``nodes``:
    ``/dev/davinci<n>``.
    """

    schema: int
    taken: str
    opscan: str
    python: str
    interpreter: str
    platform: str
    machine: str
    npu_smi: NpuSmi
    torch: Torch | None = None
    torch_npu: str | None = None
    toolkits: tuple[Toolkit, ...] = ()
    driver: Package | None = None
    firmware: Package | None = None
    devices: tuple[Device, ...] = ()
    pci: int = 0
    nodes: int = 0
    variables: dict[str, str] = {}
    rehearsals: tuple[Rehearsal, ...] = ()
    compiler: str = ""
    packages: dict[str, str] = {}
    from_elsewhere: tuple[str, ...] = ()

    @property
    def torch_release(self) -> str | None:
        """The torch release without its local part: 2.13.0 for 2.13.0+cpu."""
        return self.torch.version.partition("+")[0] if self.torch else None

    @property
    def python_line(self) -> str:
        """The Python version as wheels are named by: 3.11."""
        return ".".join(self.python.split(".")[:2])

    @property
    def toolkit(self) -> Toolkit | None:
        """The CANN that a program started here uses: the one a variable names, else the first that was found."""
        return next(iter(sorted(self.toolkits, key=lambda each: not each.named_by)), None)
