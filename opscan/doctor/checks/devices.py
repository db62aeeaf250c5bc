"""Driver, firmware and devices: whether they fit each other and CANN, and whether the devices answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from opscan.doctor.checks.interface import Check, Status, same
from opscan.doctor.checks.matching import declared, older, within
from opscan.doctor.facts import Device, Facts, Package
from opscan.matrix.data import matrix_roots
from opscan.matrix.files import ReleasesFile
from opscan.matrix.releases import documented_entry, without_soc
from opscan.text import Text

_BOOT = Text(
    "Install driver and firmware of one package release, and restart the machine.",
    "安装同一版本的驱动与固件，并重启机器。",
)


def check_devices(facts: Facts, releases: ReleasesFile) -> Iterator[Check]:
    """Driver, firmware where there is any, devices, and what torch_npu makes of them."""
    yield _driver(facts, releases)
    firmware = _firmware(facts)
    if firmware is not None:
        yield firmware
    yield _devices(facts)
    if facts.torch_npu in releases.torch_npu:
        for soc in sorted({device.soc for device in facts.devices if device.soc}):
            for words in without_soc(matrix_roots(), facts.torch_npu or "", soc):
                yield Check("soc", "problem", words)


def _driver(facts: Facts, releases: ReleasesFile) -> Check:
    driver = facts.driver or _of_npu_smi(facts)
    if driver is None:
        return _no_driver(facts, _named(facts, releases))
    if not driver.release:
        return Check(
            "driver",
            "warning",
            Text("installed; its version file cannot be read.", "已安装；无法读取其版本文件。"),
            Text("Ask `npu-smi info` as an administrator.", "以管理员身份运行 `npu-smi info`。"),
        )
    status, words, step = _judged_driver(facts, driver, releases)
    return Check("driver", status, Text(driver.release + words.en, driver.release + words.zh), step)


def _of_npu_smi(facts: Facts) -> Package | None:
    """The driver as npu-smi names it, where its files cannot be seen, as in some containers."""
    version = facts.npu_smi.version
    return Package(release=version, version=version) if version else None


def _named(facts: Facts, releases: ReleasesFile) -> tuple[str, ...]:
    """Driver releases that the documents of the installed torch_npu name."""
    return documented_entry(facts.torch_npu, releases).driver if facts.torch_npu in releases.torch_npu else ()


def _no_driver(facts: Facts, named: tuple[str, ...]) -> Check:
    if facts.pci:
        return Check(
            "driver",
            "missing",
            Text(
                f"not installed, and {facts.pci} Ascend accelerators are on the PCI bus.",
                f"未安装，而 PCI 总线上有 {facts.pci} 个昇腾加速器。",
            ),
            _BOOT,
        )
    if facts.nodes:
        return Check(
            "driver",
            "missing",
            Text("not visible here, although devices are.", "此处不可见，但设备可见。"),
            Text(
                "Pass /usr/local/Ascend/driver and /usr/local/bin/npu-smi into the container.",
                "将 /usr/local/Ascend/driver 与 /usr/local/bin/npu-smi 挂载到容器中。",
            ),
        )
    wanted = (
        Text(
            f"On a machine with an NPU, install driver and firmware {named[0]} or newer.",
            f"在有 NPU 的机器上安装 {named[0]} 或更新的驱动与固件。",
        )
        if named
        else None
    )
    return Check("driver", "missing", Text("not installed", "未安装"), wanted)


def _judged_driver(facts: Facts, driver: Package, releases: ReleasesFile) -> tuple[Status, Text, Text | None]:
    toolkit = facts.toolkit
    fits = declared(toolkit, driver) if toolkit else None
    named = _named(facts, releases)
    behind = next((name for name in named if older(driver.release, name)), None)
    if behind:
        en = f" is older than {behind}, which the documents of torch_npu {facts.torch_npu} name"
        zh = f" 早于 torch_npu {facts.torch_npu} 文档写明的 {behind}"
        step = Text(
            f"Install driver and firmware {behind} or newer, and restart the machine.",
            f"安装 {behind} 或更新的驱动与固件，并重启机器。",
        )
        if fits:
            return (
                "warning",
                Text(
                    f"{en}; the packages of CANN and driver say that they fit.",
                    f"{zh}；CANN 与驱动的软件包声明相互兼容。",
                ),
                step,
            )
        return ("warning" if fits is None else "problem"), Text(f"{en}.", f"{zh}。"), step
    if fits is False and toolkit:
        return (
            "warning",
            Text(
                f": neither it nor CANN {toolkit.release} declares to work with the other.",
                f"：它与 CANN {toolkit.release} 均未声明相互兼容。",
            ),
            Text(
                "See the version table of the CANN release for its driver.",
                "请查阅该 CANN 版本的配套表以确定驱动版本。",
            ),
        )
    return "ok", same(""), None


def _firmware(facts: Facts) -> Check | None:
    refused = sorted({device.card for device in facts.devices if device.compatibility == "NOK"})
    versions = sorted({device.firmware for device in facts.devices if device.firmware.strip("NA/ ")})
    if not versions and facts.firmware is not None and facts.firmware.version:
        versions = [facts.firmware.version]
    if refused:
        cards = ", ".join(map(str, refused))
        return Check(
            "firmware",
            "problem",
            Text(
                f"{', '.join(versions)}: npu-smi says that it does not fit the driver (cards {cards}).",
                f"{'、'.join(versions)}：npu-smi 表明它与驱动不兼容（卡 {cards}）。",
            ),
            _BOOT,
        )
    if not versions:
        return None
    spans = facts.driver.firmware if facts.driver else ()
    outside = [version for version in versions if within(version, spans) is False]
    if outside:
        wanted = ", ".join(f"{first}–{last}" for first, last in spans)
        return Check(
            "firmware",
            "problem",
            Text(
                f"{', '.join(outside)}: the driver works with {wanted}.", f"{'、'.join(outside)}：驱动适用于 {wanted}。"
            ),
            _BOOT,
        )
    if len(versions) > 1:
        listed = ", ".join(versions)
        return Check(
            "firmware",
            "warning",
            Text(f"differs from card to card: {listed}.", f"各卡不一致：{listed}。"),
            _BOOT,
        )
    return Check("firmware", "ok", same(versions[0]))


def _devices(facts: Facts) -> Check:
    if facts.devices:
        return _found(facts.devices)
    state, said = facts.npu_smi.state, f": {facts.npu_smi.said}" if facts.npu_smi.said else ""
    if state == "silent":
        return Check(
            "devices",
            "problem",
            Text("npu-smi does not answer.", "npu-smi 没有响应。"),
            Text("Look at `dmesg`; restart the machine.", "查看 `dmesg`；重启机器。"),
        )
    if state == "failed":
        return Check(
            "devices",
            "problem",
            Text(f"npu-smi fails{said}", f"npu-smi 失败{said}"),
            Text(
                "Restart after installing the driver, pass /dev/davinci* into a container, or ask for the permission "
                "to use them (group HwHiAiUser).",
                "安装驱动后需重启；容器需要传入 /dev/davinci*；或申请设备使用权限（HwHiAiUser 组）。",
            ),
        )
    if state == "garbled":
        return Check(
            "devices",
            "warning",
            Text(f"npu-smi answers without a table of devices{said}", f"npu-smi 的回答中没有设备表{said}"),
        )
    if facts.pci or facts.nodes:
        return Check(
            "devices",
            "missing",
            Text(
                f"npu-smi is not here; {facts.pci} accelerators on the PCI bus, {facts.nodes} in /dev.",
                f"没有 npu-smi；PCI 总线上有 {facts.pci} 个加速器，/dev 中有 {facts.nodes} 个。",
            ),
        )
    return Check(
        "devices",
        "missing",
        Text("no NPU in this machine", "本机没有 NPU"),
        Text("Scans and rehearsals need none.", "扫描与预演都不需要 NPU。"),
    )


def _found(devices: tuple[Device, ...]) -> Check:
    counts = Counter((device.name, device.soc) for device in devices)
    listed = ", ".join(f"{n} × {name}" + (f" ({soc})" if soc else "") for (name, soc), n in counts.items())
    ill = [f"{device.card}.{device.chip} {device.health}" for device in devices if device.health not in ("OK", "")]
    if ill:
        return Check(
            "devices",
            "warning",
            Text(f"{listed}; not healthy: {', '.join(ill)}", f"{listed}；不健康：{'、'.join(ill)}"),
            Text("Ask `npu-smi info -t health -i CARD`.", "运行 `npu-smi info -t health -i 卡号`。"),
        )
    unknown = sorted({device.name for device in devices if not device.soc})
    if unknown:
        return Check(
            "devices",
            "warning",
            Text(f"{listed}; not in the matrix: {', '.join(unknown)}", f"{listed}；矩阵中没有：{'、'.join(unknown)}"),
            Text("Name the chip yourself: --soc.", "请自行用 --soc 指定芯片。"),
        )
    return Check("devices", "ok", same(listed))
