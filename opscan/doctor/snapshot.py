"""Facts as a file, to compare with later: what has changed, and what to run to go back."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from opscan.doctor.cann import set_env_script
from opscan.doctor.facts import SCHEMA, Facts, Package, Toolkit
from opscan.doctor.variables import KNOWN
from opscan.errors import UsageError
from opscan.rendering.write import write_text
from opscan.text import Text

#: No snapshot is as large; whatever else a path leads to is not read whole.
_MOST = 16 * 1024 * 1024


_WRITE = "Write one with `opscan doctor --snapshot FILE`."

_INSTALL, _UNINSTALL = "python -m pip install ", "python -m pip uninstall -y "

#: Names and releases of packages; a snapshot is a file, and nothing else of it gets into a command unquoted.
_PLAIN = re.compile(r"[A-Za-z0-9][\w.!+-]*", re.ASCII)

_ODD = Text("Its name or release is none.", "其名称或版本无效。")
_ELSEWHERE = Text("It came from elsewhere than an index: install it from there.", "它并非来自软件源：请从原处安装。")
_BUILD = Text("A build (+…) is found in the index that it came from.", "该构建（+…）需从其原来的软件源获取。")


@dataclass(frozen=True, slots=True)
class Change:
    """``before`` and ``now`` are empty where there was or is none. ``commands`` lead back; else ``advice`` says how."""

    subject: str
    before: str
    now: str
    commands: tuple[str, ...] = ()
    advice: Text | None = None


def write_snapshot(path: str, facts: Facts) -> None:
    """Write the facts whole, or raise UsageError and leave what is there."""
    write_text(path, msgspec.json.format(msgspec.json.encode(facts), indent=1).decode() + "\n")


def read_snapshot(path: Path) -> Facts:
    """The facts of a snapshot. Raises UsageError for what is none, or one of another schema."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST)
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {error.strerror or error}.", _WRITE) from error
    try:
        schema = msgspec.json.decode(data, type=_Schema).schema
        if schema != SCHEMA:
            raise UsageError(
                f"{path} is of schema {schema}; this opscan reads {SCHEMA}.", "Use the opscan that wrote it."
            )
        return msgspec.json.decode(data, type=Facts)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no snapshot: {error}.", _WRITE) from error


class _Schema(msgspec.Struct):
    schema: int


def compare(before: Facts, now: Facts) -> tuple[Change, ...]:
    """What is different now, from the lowest layer to the highest."""
    return (
        *_devices(before, now),
        *_package("driver", before.driver, now.driver),
        *_package("firmware", before.firmware, now.firmware),
        *_toolkit(before.toolkit, now.toolkit),
        *_python(before, now),
        *_packages(before, now),
        *_variables(before.variables, now.variables),
    )


def _devices(before: Facts, now: Facts) -> Iterator[Change]:
    old, new = (", ".join(f"{d.card}.{d.chip} {d.name}" for d in facts.devices) for facts in (before, now))
    if old != new:
        advice = Text("Look for devices that are gone with `npu-smi info`.", "用 `npu-smi info` 查看消失的设备。")
        yield Change("devices", old, new, advice=advice)
    old, new = (", ".join(sorted({d.firmware for d in facts.devices} - {""})) for facts in (before, now))
    if old != new and before.devices and now.devices:
        advice = Text(f"Install the firmware {old} again.", f"重新安装固件 {old}。")
        yield Change("firmware of devices", old, new, advice=advice)


def _package(subject: str, before: Package | None, now: Package | None) -> Iterator[Change]:
    old, new = ((each.release or each.version or "?") if each else "" for each in (before, now))
    if old == new:
        return
    again = Text(f"Install the {subject} {old} again, and restart.", f"重新安装 {old} 并重启：{subject}。")
    remove = Text(f"Uninstall the {subject}.", f"卸载：{subject}。")
    yield Change(subject, old, new, advice=again if old else remove)


def _toolkit(before: Toolkit | None, now: Toolkit | None) -> Iterator[Change]:
    old, new = (f"{each.release or '?'} ({each.path})" if each else "" for each in (before, now))
    if old != new:
        yield _other_toolkit(before, old, new)
    old, new = (_contents(each) for each in (before, now))
    if before and now and before.path == now.path and old != new:
        advice = Text(f"Install these kernels again: {old}.", f"重新安装这些算子包：{old}。")
        yield Change("CANN kernels", old, new, advice=advice)


def _other_toolkit(before: Toolkit | None, old: str, new: str) -> Change:
    if before is None:
        return Change("CANN", old, new, advice=Text("Uninstall CANN.", "卸载 CANN。"))
    script = set_env_script(before)
    if script.is_file() and not new.endswith(f"({before.path})"):
        return Change("CANN", old, new, (f"source {shlex.quote(str(script))}",))
    return Change(
        "CANN",
        old,
        new,
        advice=Text(
            f"Install CANN {before.release} in {before.path} again.",
            f"在 {before.path} 重新安装 CANN {before.release}。",
        ),
    )


def _contents(toolkit: Toolkit | None) -> str:
    return ", ".join(filter(None, (*toolkit.kernels, toolkit.ops_package, toolkit.ops))) if toolkit else ""


def _python(before: Facts, now: Facts) -> Iterator[Change]:
    if before.python != now.python:
        advice = Text(
            f"Use Python {before.python}: {before.interpreter}", f"使用 Python {before.python}：{before.interpreter}"
        )
        yield Change("Python", before.python, now.python, advice=advice)


def _packages(before: Facts, now: Facts) -> Iterator[Change]:
    """One change a package; pip is called once for all of those that an index has."""
    old, new = before.packages, now.packages
    for name in sorted(old.keys() | new.keys()):
        then, here = old.get(name, ""), new.get(name, "")
        if then == here:
            continue
        if not _PLAIN.fullmatch(name) or (then and not _PLAIN.fullmatch(then)):
            yield Change(name, then, here, advice=_ODD)
        elif not then:
            yield Change(name, then, here, (f"{_UNINSTALL}{name}",))
        elif name in before.from_elsewhere:
            yield Change(name, then, here, advice=_ELSEWHERE)
        else:
            yield Change(
                name, then, here, (_INSTALL + shlex.quote(f"{name}=={then}"),), _BUILD if "+" in then else None
            )


def _variables(before: dict[str, str], now: dict[str, str]) -> Iterator[Change]:
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            command = f"export {name}={shlex.quote(before[name])}" if name in before else f"unset {name}"
            # A snapshot comes from a file: no command sets what opscan did not write there.
            yield Change(name, before.get(name, ""), now.get(name, ""), (command,) if name in KNOWN else ())


def commands_back(changes: tuple[Change, ...]) -> tuple[str, ...]:
    """The commands of all changes, those of one tool joined: pip must see all releases at once, for they depend on
    each other.
    """
    install: list[str] = []
    uninstall: list[str] = []
    rest: list[str] = []
    for command in (each for change in changes for each in change.commands):
        for start, group in ((_INSTALL, install), (_UNINSTALL, uninstall)):
            if command.startswith(start):
                group.append(command.removeprefix(start))
                break
        else:
            rest.append(command)
    pip = [start + " ".join(group) for start, group in ((_INSTALL, install), (_UNINSTALL, uninstall)) if group]
    return (*pip, *rest)
