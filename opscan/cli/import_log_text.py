"""The answers of ``opscan import-log`` as text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

from opscan.explanation import Explanation
from opscan.importing.comparison import OUTCOMES, Comparison, Outcome
from opscan.importing.observations import KINDS, FileKind, FileRead, Imported, Kind, Observation
from opscan.rendering.interface import Lang
from opscan.rendering.overview import percent
from opscan.rendering.screen import Screen
from opscan.rendering.table import print_table
from opscan.rendering.terminal import summary_console
from opscan.text import Text

#: Rows of each list. ``--json`` has all of them.
_ROWS = 20

_FILES: dict[FileKind, Text] = {
    "atc": Text("a log of ATC", "ATC 日志"),
    "torch_npu": Text("output of torch_npu", "torch_npu 输出"),
    "cann": Text("messages of CANN", "CANN 日志"),
    "op_summary": Text("a profile, by task", "按任务的性能数据"),
    "op_statistic": Text("a profile, by type", "按类型的性能数据"),
    "text": Text("nothing recognised", "未识别出内容"),
}

_KINDS: dict[Kind, tuple[Text, str]] = {
    "no_parser": (Text("ATC has no parser for", "ATC 没有解析器"), "bold red"),
    "no_kernel": (Text("No kernel for", "没有内核"), "bold red"),
    "refused": (Text("Calls that failed", "失败的调用"), "bold red"),
    "fallback": (Text("Fell back to the CPU", "回退到 CPU"), "dark_orange"),
    "ai_cpu": (Text("Ran on the AI CPU", "在 AI CPU 上运行"), "yellow"),
    "ran": (Text("Ran on the NPU", "在 NPU 上运行"), "green"),
}

_OUTCOMES: dict[Outcome, tuple[Text, str]] = {
    "contradicted": (Text("contradicts the scan", "与扫描矛盾"), "bold red"),
    "decided": (Text("decides what the scan left open", "确定了扫描未决的项"), "blue"),
    "unforeseen": (Text("is not in the scan", "不在扫描结果中"), "yellow"),
    "confirmed": (Text("confirms the scan", "与扫描一致"), "green"),
}

_CODES = Text("Error codes", "错误码")
_COMPARED = Text("Beside the scan for", "与扫描对照，目标平台")
_OPERATOR, _DTYPES, _COUNT = Text("operator", "算子"), Text("dtypes", "数据类型"), Text("times", "次数")
_TIME, _CODE, _LINES = Text("time (ms)", "时间（ms）"), Text("code", "错误码"), Text("lines", "行数")
_SAID, _SEEN, _RESULT = Text("scan", "扫描"), Text("observed", "观测"), Text("result", "结果")
_NOTHING = Text(
    "No operator is named in it. That does not say that all of them ran on the NPU.",
    "其中没有提到任何算子。这并不说明所有算子都在 NPU 上运行。",
)


def print_imported(
    imported: Imported, explanations: Mapping[str, Explanation], comparison: Comparison | None, lang: Lang
) -> None:
    """Files, observations from worst to best, codes with their meaning, and the comparison."""
    screen = Screen(summary_console(sys.stdout))
    for file in imported.files:
        screen.line([(_file(file, lang), "dim")])
    if not imported.observations:
        screen.blank()
        screen.line([(_NOTHING.in_(lang), "")])
    for kind in KINDS:
        _print_kind(screen, kind, [each for each in imported.observations if each.kind == kind], imported, lang)
    _print_codes(screen, imported, explanations, lang)
    if comparison is not None:
        _print_comparison(screen, comparison, lang)


def _file(file: FileRead, lang: Lang) -> str:
    kinds = ", ".join(_FILES[kind].in_(lang) for kind in file.kinds)
    said = Text(f"File {file.number}: {kinds}, {file.lines:,} lines", f"文件 {file.number}：{kinds}，{file.lines:,} 行")
    damaged = Text(f", {file.damaged:,} damaged rows", f"，{file.damaged:,} 行损坏")
    return said.in_(lang) + (damaged.in_(lang) if file.damaged else "")


def _print_kind(screen: Screen, kind: Kind, found: list[Observation], imported: Imported, lang: Lang) -> None:
    if not found:
        return
    title, style = _KINDS[kind]
    screen.blank()
    pieces = [(title.in_(lang), style)]
    spent = _spent(found)
    if spent:
        share = percent(round(spent), max(round(_spent(imported.observations)), 1))
        of_all = Text(f", {share} of all", f"，占 {share}").in_(lang)
        pieces.append((f"  {spent / 1000:,.3f} ms{of_all}", ""))
    screen.line(pieces)
    headers = [text.in_(lang) for text in (_OPERATOR, _DTYPES, _COUNT, _TIME, _CODE)]
    rows = [
        [
            " ".join(filter(None, (each.operator, each.kernel))),
            ", ".join(each.dtypes),
            f"{each.count:,}",
            f"{each.microseconds / 1000:,.3f}" if each.microseconds is not None else "",
            each.code,
        ]
        for each in found[:_ROWS]
    ]
    shown = [column for column in range(len(headers)) if any(row[column] for row in rows)]
    print_table(screen, [headers[c] for c in shown], [[row[c] for c in shown] for row in rows])
    _print_more(screen, len(found), lang)


def _spent(observations: Iterable[Observation]) -> float:
    return sum(each.microseconds or 0.0 for each in observations)


def _print_codes(screen: Screen, imported: Imported, explanations: Mapping[str, Explanation], lang: Lang) -> None:
    counts = {seen.code: seen.count for seen in imported.codes}
    for each in imported.observations:
        if each.code:
            counts.setdefault(each.code, each.count)
    if not counts:
        return
    screen.blank()
    screen.line([(_CODES.in_(lang), "bold")])
    for code, count in list(counts.items())[:_ROWS]:
        explanation = explanations.get(code)
        title = explanation.title if explanation else ""
        screen.line([(f"{code}  ", "bold"), (f"×{count:,}  {title}", "")], indent=2)
        if explanation and explanation.next:
            screen.line([(explanation.next, "dim")], indent=4)
        if explanation and explanation.rules:
            screen.line([(", ".join(f"{rule.code} {rule.title}" for rule in explanation.rules), "dim")], indent=4)
    _print_more(screen, len(counts), lang)


def _print_comparison(screen: Screen, comparison: Comparison, lang: Lang) -> None:
    target = comparison.target
    screen.blank()
    screen.line([(f"{_COMPARED.in_(lang)} {target}", "bold")])
    headers = [text.in_(lang) for text in (_OPERATOR, _DTYPES, _SAID, _SEEN, _RESULT)]
    rows = [
        [
            each.operator,
            ", ".join(each.dtypes),
            each.said or "",
            f"{_KINDS[each.observed][0].in_(lang)}{f' ({each.kernel})' if each.kernel else ''}",
            _OUTCOMES[each.outcome][0].in_(lang),
        ]
        for each in comparison.results
        if each.outcome != "confirmed"
    ]
    if rows:
        print_table(screen, headers, rows[: 2 * _ROWS])
        _print_more(screen, len(rows), lang, 2 * _ROWS)
    pieces = []
    for outcome in OUTCOMES:
        count = sum(each.outcome == outcome for each in comparison.results)
        if count:
            title, style = _OUTCOMES[outcome]
            pieces += [(f"{count:,} ", ""), (title.in_(lang), style), (" · ", "dim")]
    silent = sum(comparison.silent.values())
    unsaid = Text(f"of {silent:,} operators it says nothing", f"未提及的算子：{silent:,} 个")
    screen.line([*pieces, (unsaid.in_(lang), "dim")])


def _print_more(screen: Screen, total: int, lang: Lang, shown: int = _ROWS) -> None:
    if total > shown:
        more = Text(f"and {total - shown:,} more: --json has all", f"其余 {total - shown:,} 项见 --json")
        screen.line([(more.in_(lang), "dim")], indent=2)
