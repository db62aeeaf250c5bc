"""Environment variables: whether CANN's are set and agree, and those that make a run slower or end it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from opscan.doctor.cann import VARIABLES, library_folders, set_env_script
from opscan.doctor.checks.interface import Check, Status, same
from opscan.doctor.facts import Facts, Toolkit
from opscan.text import Text

#: Values that cost speed, and why. The first are meant for finding an error.
_SLOW = {
    ("ASCEND_LAUNCH_BLOCKING", "1"): Text(
        "operators run one after the other, for debugging", "算子同步执行，仅用于调试"
    ),
    ("TASK_QUEUE_ENABLE", "0"): Text("the queue of launches is off", "算子下发队列已关闭"),
    ("PYTORCH_NO_NPU_MEMORY_CACHING", "1"): Text("memory is not kept for reuse", "内存不复用"),
    ("ASCEND_GLOBAL_LOG_LEVEL", "0"): Text("CANN logs everything", "CANN 记录全部日志"),
    ("ASCEND_GLOBAL_LOG_LEVEL", "1"): Text("CANN logs everything of note", "CANN 记录大量日志"),
}

_OPTIONS = re.compile(r"\w+:[^,:]+(,\w+:[^,:]+)*")


def check_variables(facts: Facts) -> Iterator[Check]:
    """One line for each that matters here, and one with all that are set."""
    complaints = [*_of_toolkit(facts), *_of_devices(facts), *_of_speed(facts), *_of_memory(facts)]
    yield from complaints
    if facts.variables:
        yield Check("variables", "ok", same(", ".join(facts.variables)))
    elif not complaints:
        yield Check("variables", "ok", Text("none of torch_npu or CANN is set", "未设置 torch_npu 或 CANN 的变量"))


def _of_toolkit(facts: Facts) -> Iterator[Check]:
    toolkit = facts.toolkit
    if toolkit is None:
        return
    source = _source(toolkit)
    astray = next((name for name in VARIABLES if facts.variables.get(name)), None)
    if not toolkit.named_by and astray:
        path = facts.variables[astray]
        yield _complaint(
            astray, "problem", f"is {path}, where there is no CANN.", f"为 {path}，该处没有 CANN。", source
        )
    elif not toolkit.named_by:
        yield _complaint(
            "ASCEND_HOME_PATH",
            "warning",
            "is not set: set_env.sh has not been sourced here.",
            "未设置：此处尚未 source set_env.sh。",
            source,
        )
    elif not _on_path(facts, toolkit):
        yield _complaint(
            "LD_LIBRARY_PATH",
            "warning",
            f"does not hold the libraries of {toolkit.path}.",
            f"不包含 {toolkit.path} 的库。",
            source,
        )
    home, kit = facts.variables.get("ASCEND_HOME_PATH"), facts.variables.get("ASCEND_TOOLKIT_HOME")
    if home and kit and _real(home) != _real(kit):
        yield _complaint(
            "ASCEND_TOOLKIT_HOME",
            "warning",
            f"is {kit}, and ASCEND_HOME_PATH is {home}.",
            f"为 {kit}，而 ASCEND_HOME_PATH 为 {home}。",
            source,
        )
    opp = facts.variables.get("ASCEND_OPP_PATH")
    if opp and not Path(opp).is_dir():
        yield _complaint(
            "ASCEND_OPP_PATH", "problem", f"is {opp}: no such folder.", f"为 {opp}：该文件夹不存在。", source
        )
    elif opp and not _real(opp).is_relative_to(_real(toolkit.path)):
        yield _complaint(
            "ASCEND_OPP_PATH",
            "problem",
            f"is {opp}, which is not of {toolkit.path}: two CANN releases are mixed.",
            f"为 {opp}，不属于 {toolkit.path}：混用了两个 CANN。",
            source,
        )


def _of_devices(facts: Facts) -> Iterator[Check]:
    name = "ASCEND_RT_VISIBLE_DEVICES"
    value = facts.variables.get(name)
    if value is None:
        return
    step = Text(f"Run `unset {name}`, or list devices by number: 0,1.", f"运行 `unset {name}`，或用编号列出设备：0,1。")
    numbers = [part.strip() for part in value.split(",")]
    if not value.strip():
        yield _complaint(name, "warning", "is empty: no device can be seen.", "为空：看不到任何设备。", step)
    elif not all(number.isdecimal() for number in numbers):
        yield _complaint(name, "problem", f"is {value!r}: no list of numbers.", f"为 {value!r}：不是编号列表。", step)
    elif facts.devices and (beyond := [n for n in numbers if int(n) >= len(facts.devices)]):
        yield _complaint(
            name,
            "problem",
            f"names {', '.join(beyond)}, and there are {len(facts.devices)} devices.",
            f"包含 {'、'.join(beyond)}，而设备只有 {len(facts.devices)} 个。",
            step,
        )


def _of_speed(facts: Facts) -> Iterator[Check]:
    for (name, value), why in _SLOW.items():
        if facts.variables.get(name) == value:
            step = Text(f"Run `unset {name}` for full speed.", f"如需全速运行，请执行 `unset {name}`。")
            yield _complaint(name, "warning", f"is {value}: {why.en}.", f"为 {value}：{why.zh}。", step)
    queue = facts.variables.get("TASK_QUEUE_ENABLE")
    if queue is not None and queue not in ("0", "1", "2"):
        step = Text("Set it to 0, 1 or 2.", "请设置为 0、1 或 2。")
        yield _complaint("TASK_QUEUE_ENABLE", "warning", f"is {queue!r}.", f"为 {queue!r}。", step)


def _of_memory(facts: Facts) -> Iterator[Check]:
    name = "PYTORCH_NPU_ALLOC_CONF"
    value = facts.variables.get(name, "")
    if value and not _OPTIONS.fullmatch(value.replace(" ", "")):
        yield _complaint(
            name,
            "problem",
            f"is {value!r}: torch_npu expects key:value,key:value and raises.",
            f"为 {value!r}：torch_npu 需要 key:value,key:value，否则报错。",
            Text("For example expandable_segments:True.", "例如 expandable_segments:True。"),
        )


def _complaint(name: str, status: Status, en: str, zh: str, step: Text) -> Check:
    return Check("variables", status, Text(f"{name} {en}", f"{name} {zh}"), step)


def _source(toolkit: Toolkit) -> Text:
    script = set_env_script(toolkit)
    return Text(f"Run `source {script}`.", f"运行 `source {script}`。")


def _on_path(facts: Facts, toolkit: Toolkit) -> bool:
    """Whether the loader's variable leads to the libraries of the toolkit."""
    folders = {_real(folder) for folder in library_folders(toolkit)}
    return any(_real(part) in folders for part in facts.variables.get("LD_LIBRARY_PATH", "").split(":") if part)


def _real(path: str | Path) -> Path:
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError):
        return Path(path)
