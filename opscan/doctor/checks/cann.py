"""CANN: whether torch_npu's documents name the release, and whether the kernels of the devices are installed."""

from __future__ import annotations

from collections.abc import Iterator

from opscan.doctor.cann import VARIABLES
from opscan.doctor.checks.interface import Check, Status, same
from opscan.doctor.checks.matching import adapters_for, cann_for, surely_other
from opscan.doctor.facts import Facts, Toolkit
from opscan.matrix.files import ReleasesFile
from opscan.matrix.releases import is_documented
from opscan.text import Text


def check_cann(facts: Facts, releases: ReleasesFile) -> Iterator[Check]:
    """The toolkit in use, the others, and the kernels."""
    toolkit = facts.toolkit
    if toolkit is None:
        yield _missing(facts, releases)
        return
    yield _release(facts, toolkit, releases)
    if toolkit.unreadable:
        files = ", ".join(toolkit.unreadable)
        yield Check(
            "cann_files",
            "warning",
            Text(f"cannot be read: {files}", f"无法读取：{files}"),
            Text("Let this user read them.", "允许当前用户读取。"),
        )
    yield _kernels(facts, toolkit)


def _missing(facts: Facts, releases: ReleasesFile) -> Check:
    pointed = next((name for name in VARIABLES if facts.variables.get(name)), None)
    if pointed:
        path = facts.variables[pointed]
        return Check(
            "cann",
            "problem",
            Text(f"{pointed} is {path}, where there is no CANN.", f"{pointed} 为 {path}，该处没有 CANN。"),
            Text(f"Run `unset {pointed}`, or install CANN there.", f"运行 `unset {pointed}`，或在该处安装 CANN。"),
        )
    wanted = _wanted(facts, releases)
    return Check(
        "cann",
        "missing",
        Text("not installed", "未安装"),
        Text(
            f"On a machine with an NPU, install CANN{wanted}, with the kernels of its chip.",
            f"在有 NPU 的机器上安装 CANN{wanted} 以及对应芯片的算子包。",
        ),
    )


def _wanted(facts: Facts, releases: ReleasesFile) -> str:
    """The CANN release for the installed torch_npu, else for the one that fits torch and Python."""
    fit = adapters_for(releases, torch=facts.torch_release, python=facts.python_line)
    adapter = facts.torch_npu if facts.torch_npu in releases.torch_npu else next(reversed(fit), None)
    named = cann_for(releases, adapter) if adapter else ()
    return f" {named[0]}" if named else ""


def _release(facts: Facts, toolkit: Toolkit, releases: ReleasesFile) -> Check:
    says = f"{toolkit.release or '?'} ({toolkit.path})"
    others = [f"{each.release or '?'} ({each.path})" for each in facts.toolkits if each is not toolkit]
    also = Text(f"; also {', '.join(others)}", f"；另有 {'、'.join(others)}") if others else same("")
    status, en, zh, step = _judged(facts, toolkit, releases)
    return Check("cann", status, Text(f"{says}{also.en}{en}", f"{says}{also.zh}{zh}"), step)


def _judged(facts: Facts, toolkit: Toolkit, releases: ReleasesFile) -> tuple[Status, str, str, Text | None]:
    adapter, release = facts.torch_npu, toolkit.release
    if not release:
        return (
            "warning",
            ": no file tells its release.",
            "：没有文件说明其版本。",
            Text("Install CANN again if it does not run.", "如果无法运行，请重新安装 CANN。"),
        )
    if adapter is None or adapter not in releases.torch_npu or is_documented(adapter, release, releases):
        return "ok", "", "", None
    named = cann_for(releases, adapter)
    if not named:
        return (
            "warning",
            f": no document names the CANN of torch_npu {adapter}.",
            f"：没有文档说明 torch_npu {adapter} 对应的 CANN。",
            None,
        )
    status: Status = "problem" if surely_other(releases, release, named) else "warning"
    fit = adapters_for(releases, torch=facts.torch_release, python=facts.python_line, cann=release) or adapters_for(
        releases, python=facts.python_line, cann=release
    )
    other = f", or torch_npu {fit[-1]} (torch {releases.torch_npu[fit[-1]].torch})" if fit else ""
    other_zh = f"，或 torch_npu {fit[-1]}（torch {releases.torch_npu[fit[-1]].torch}）" if fit else ""
    return (
        status,
        f": the documents of torch_npu {adapter} name CANN {', '.join(named)}.",
        f"：torch_npu {adapter} 的文档写明的是 CANN {'、'.join(named)}。",
        Text(f"Install CANN {named[0]}{other}.", f"安装 CANN {named[0]}{other_zh}。"),
    )


def _kernels(facts: Facts, toolkit: Toolkit) -> Check:
    installed = ", ".join(toolkit.kernels)
    if toolkit.ops and toolkit.release and toolkit.ops != toolkit.release:
        return Check(
            "kernels",
            "problem",
            Text(
                f"{toolkit.ops_package or 'operator package'} {toolkit.ops} lies in CANN {toolkit.release}.",
                f"{toolkit.ops_package or '算子包'} {toolkit.ops} 安装在 CANN {toolkit.release} 中。",
            ),
            Text(f"Install the operator package {toolkit.release}.", f"安装 {toolkit.release} 版本的算子包。"),
        )
    lacking = sorted({device.soc for device in facts.devices if device.soc} - set(toolkit.kernels))
    if lacking:
        there = installed or "none"
        return Check(
            "kernels",
            "problem",
            Text(
                f"none for {', '.join(lacking)}, which is in this machine (installed: {there}).",
                f"缺少本机芯片 {'、'.join(lacking)} 的算子包（已安装：{installed or '无'}）。",
            ),
            Text(
                f"Install the kernels or operator package of CANN {toolkit.release} for that chip.",
                f"安装 CANN {toolkit.release} 中该芯片的 kernels 或 ops 软件包。",
            ),
        )
    if not installed:
        return Check(
            "kernels",
            "missing",
            Text("none for any chip", "没有任何芯片的算子包"),
            Text(
                f"Install the kernels or operator package of CANN {toolkit.release} for your chip.",
                f"安装 CANN {toolkit.release} 中所用芯片的 kernels 或 ops 软件包。",
            ),
        )
    return Check("kernels", "ok", same(installed))
