"""The answers of ``opscan doctor`` as text."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.cells import cell_len

from opscan.doctor.checks.interface import Check, Status
from opscan.doctor.snapshot import Change, commands_back
from opscan.rendering.inert import inert
from opscan.rendering.interface import Lang
from opscan.rendering.screen import Screen
from opscan.rendering.terminal import summary_console
from opscan.text import Text

_STATUS: dict[Status, tuple[Text, str]] = {
    "ok": (Text("ok", "正常"), "green"),
    "warning": (Text("warning", "警告"), "yellow"),
    "problem": (Text("problem", "问题"), "bold red"),
    "missing": (Text("missing", "缺失"), "blue"),
}

_SUBJECTS = {
    "python": Text("Python", "Python"),
    "autoload": Text("torch, torch_npu", "torch 与 torch_npu"),
    "cann": Text("CANN", "CANN"),
    "cann_files": Text("CANN files", "CANN 文件"),
    "kernels": Text("CANN kernels", "CANN 算子包"),
    "driver": Text("driver", "驱动"),
    "firmware": Text("firmware", "固件"),
    "devices": Text("devices", "设备"),
    "soc": Text("chip", "芯片"),
    "variables": Text("variables", "环境变量"),
    "rehearsal": Text("rehearsal", "预演环境"),
    "compiler": Text("C compiler", "C 编译器"),
}

_FINE = Text("Nothing is wrong with what is installed.", "已安装的部分没有问题。")
_LACKING = Text("Missing parts matter only where they are to be used.", "缺失的部分仅在需要使用时才有影响。")


def print_checks(checks: Sequence[Check], lang: Lang) -> None:
    """One line a subject, below it what to do, and the result."""
    screen = Screen(summary_console(sys.stdout))
    words = {status: text.in_(lang) for status, (text, _) in _STATUS.items()}
    first = max(map(cell_len, words.values())) + 2
    second = max(cell_len(_subject(check, lang)) for check in checks) + 2
    for check in checks:
        name = _subject(check, lang)
        screen.line(
            [
                (_padded(words[check.status], first) + _padded(name, second), _STATUS[check.status][1]),
                (inert(check.says.in_(lang)), ""),
            ],
            hanging=first + second,
        )
        if check.next is not None:
            screen.line(
                [(" " * (first + second), ""), (inert(check.next.in_(lang)), "dim")],
                hanging=first + second,
            )
    problems = sum(check.status == "problem" for check in checks)
    screen.blank()
    if problems:
        found = Text(f"{problems} problem{'s' if problems > 1 else ''}.", f"{problems} 个问题。")
        screen.line([(found.in_(lang), "bold red")])
    else:
        lacking = any(check.status == "missing" for check in checks)
        screen.line([(_FINE.in_(lang), "bold green"), (f" {_LACKING.in_(lang)}" if lacking else "", "dim")])


def print_changes(taken: str, changes: tuple[Change, ...], lang: Lang) -> None:
    """What changed since a snapshot, and the way back."""
    screen = Screen(summary_console(sys.stdout))
    if not changes:
        screen.line(
            [(Text(f"Nothing has changed since {taken}.", f"自 {taken} 以来没有变化。").in_(lang), "bold green")]
        )
        return
    screen.line([(Text(f"Changed since {taken}:", f"自 {taken} 以来的变化：").in_(lang), "bold")])
    none = Text("none", "无").in_(lang)
    width = max(cell_len(inert(change.subject)) for change in changes) + 2
    for change in changes:
        screen.line(
            [(_padded(inert(change.subject), width), "bold"), (f"{change.before or none} -> {change.now or none}", "")],
            hanging=width,
        )
        if change.advice is not None:
            screen.line([(" " * width, ""), (change.advice.in_(lang), "dim")], hanging=width)
    commands = commands_back(changes)
    if commands:
        screen.blank()
        screen.line([(Text("To go back, run:", "如需恢复，请运行：").in_(lang), "bold")])
        for command in commands:
            screen.line([(command, "")], indent=2)


def _subject(check: Check, lang: Lang) -> str:
    return _SUBJECTS[check.subject].in_(lang) if check.subject in _SUBJECTS else check.subject


def _padded(words: str, width: int) -> str:
    return words + " " * (width - cell_len(words))
