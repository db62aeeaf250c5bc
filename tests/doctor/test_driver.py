from __future__ import annotations

from pathlib import Path

from fake_machine import places, write

from opscan.doctor.driver import count_accelerators, count_nodes, read_driver, read_firmware
from opscan.doctor.facts import Package


def test_driver_and_firmware_by_their_files(tmp_path: Path) -> None:
    base = tmp_path / "usr/local/Ascend"
    write(
        base / "driver/version.info",
        "Version=25.0.rc1.1",
        "ascendhal_version=7.35.23",
        "Innerversion=V100R001C21SPC002B220",
        "compatible_version=[V100R001C13,V100R001C19],[V100R001C21]",
        "compatible_version_fw=[6.4.0,6.4.99],[7.0.0,7.7.99]",
        "package_version=25.0.rc1.1",
    )
    write(base / "firmware/version.info", "Version=7.7.0.1.231", "firmware_version=1.0", "package_version=25.0.rc1.1")

    assert read_driver(places(tmp_path)) == Package(
        release="25.0.rc1.1",
        version="25.0.rc1.1",
        inner="V100R001C21SPC002B220",
        compatible=("V100R001C13", "V100R001C19", "V100R001C21"),
        firmware=(("6.4.0", "6.4.99"), ("7.0.0", "7.7.99")),
    )
    firmware = read_firmware(places(tmp_path))
    assert firmware is not None
    assert (firmware.release, firmware.version) == ("25.0.rc1.1", "7.7.0.1.231")


def test_older_files_have_one_version(tmp_path: Path) -> None:
    base = tmp_path / "usr/local/Ascend"
    write(base / "driver/version.info", "Version=23.0.3")
    write(base / "firmware/version.info", "Version=7.1.0.5.220")
    driver, firmware = read_driver(places(tmp_path)), read_firmware(places(tmp_path))
    assert driver is not None
    assert firmware is not None
    assert (driver.release, firmware.release, firmware.version) == ("23.0.3", "", "7.1.0.5.220")


def test_none_is_none(tmp_path: Path) -> None:
    assert read_driver(places(tmp_path)) is None
    assert read_firmware(places(tmp_path)) is None
    (tmp_path / "usr/local/Ascend/driver").mkdir(parents=True)
    assert read_driver(places(tmp_path)) is None


def test_one_without_a_readable_file_is_there(tmp_path: Path) -> None:
    (tmp_path / "usr/local/Ascend/driver/version.info").mkdir(parents=True)
    assert read_driver(places(tmp_path)) == Package()
    write(tmp_path / "usr/local/Ascend/firmware/lib64/x")
    assert read_firmware(places(tmp_path)) == Package()


def test_another_place_that_the_install_file_names(tmp_path: Path) -> None:
    write(tmp_path / "etc/ascend_install.info", "Driver_Install_Path_Param=/opt/ascend")
    write(tmp_path / "opt/ascend/driver/version.info", "Version=25.2.0")
    driver = read_driver(places(tmp_path))
    assert driver is not None
    assert driver.release == "25.2.0"


def test_accelerators_on_the_bus_and_in_dev(tmp_path: Path) -> None:
    for name, vendor, kind in [
        ("0000:c1:00.0", "0x19e5", "0x120000"),
        ("0000:c2:00.0", "0x19e5", "0x120000"),
        ("0000:05:00.0", "0x19e5", "0x020000"),  # a network card of the same maker
        ("0000:06:00.0", "0x10de", "0x120000"),
    ]:
        write(tmp_path / "sys/bus/pci/devices" / name / "vendor", vendor)
        write(tmp_path / "sys/bus/pci/devices" / name / "class", kind)
    (tmp_path / "sys/bus/pci/devices/odd").mkdir()
    for name in ("davinci0", "davinci12", "davinci_manager", "null"):
        write(tmp_path / "dev" / name)

    assert count_accelerators(places(tmp_path)) == 2
    assert count_nodes(places(tmp_path)) == 2
