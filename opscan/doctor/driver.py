"""Driver and firmware by their version files, and what the kernel shows of the devices.

Formats: ``driver/version.info`` and ``firmware/version.info`` below ``/usr/local/Ascend``, as the fault diagnosis
guide of MindCluster (Ascend/mind-cluster) and public bug reports quote them: ``Version=``, in newer ones
``package_version=`` too, ``Innerversion=``, ``compatible_version=`` (internal names of CANN lines),
``compatible_version_fw=`` (ranges of firmware versions). ``/etc/ascend_install.info`` names another place:
``Driver_Install_Path_Param=``.
"""

from __future__ import annotations

from pathlib import Path

from opscan.doctor.facts import Package, Places
from opscan.doctor.files import bracketed, ranges, read_values

#: Huawei's number among PCI vendors, and the PCI class of processing accelerators.
_VENDOR, _ACCELERATOR = "0x19e5", "0x1200"


def read_driver(places: Places) -> Package | None:
    """The installed driver; None where there is none. One without a readable version file has an empty release."""
    return _package(places, "driver", "driver_install_path_param")


def read_firmware(places: Places) -> Package | None:
    return _package(places, "firmware", "firmware_install_path_param")


def count_accelerators(places: Places) -> int:
    """Ascend accelerators on the PCI bus, whether there is a driver for them or not."""
    count = 0
    for device in _entries(places.root / "sys/bus/pci/devices"):
        try:
            vendor, kind = ((device / name).read_text("ascii", "replace").strip() for name in ("vendor", "class"))
        except OSError:
            continue
        count += vendor == _VENDOR and kind.startswith(_ACCELERATOR)
    return count


def count_nodes(places: Places) -> int:
    """Device files of chips; a container sees those that were passed to it."""
    return sum(1 for path in _entries(places.root / "dev") if path.name.removeprefix("davinci").isdecimal())


def _package(places: Places, name: str, key: str) -> Package | None:
    folder = places.ascend / name
    try:
        elsewhere = (read_values(places.root / "etc/ascend_install.info") or {}).get(key)
    except OSError:
        elsewhere = None
    if elsewhere and not folder.exists():
        folder = places.root / elsewhere.lstrip("/") / name
    try:
        values = read_values(folder / "version.info")
    except OSError:
        return Package()
    if values is None:
        return Package() if folder.is_dir() and any(_entries(folder)) else None
    version = values.get("version", "")
    return Package(
        # Newer files have both; a firmware's own version (7.7.0.1.231) is not the release of its package.
        release=values.get("package_version") or ("" if name == "firmware" else version),
        version=version,
        inner=values.get("innerversion", ""),
        compatible=bracketed(values.get("compatible_version", "")),
        firmware=ranges(values.get("compatible_version_fw", "")),
    )


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
