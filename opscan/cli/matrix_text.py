"""The answers of ``opscan matrix …`` as text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby

from opscan.matrix.holdings import Holdings
from opscan.rendering.interface import Lang
from opscan.rendering.screen import Screen
from opscan.rendering.table import print_table
from opscan.rendering.terminal import summary_console
from opscan.routes.answer import Answer
from opscan.routes.diff import Change
from opscan.routes.kernel import Kernel
from opscan.routes.lookup import History, Span
from opscan.target import Target
from opscan.text import Text

_TITLES = {
    "gained": "Gained support",
    "lost": "Lost support",
    "decided": "Known now",
    "undecided": "Not known any more",
}


def _screen() -> Screen:
    return Screen(summary_console(sys.stdout))


def print_holdings(found: Holdings) -> None:
    screen = _screen()
    screen.line([("torch_npu releases", "bold")])
    headers = (
        "release",
        "torch",
        "CANN",
        "read from",
        "aten",
        "npu",
        "others",
        "converters",
        "only raise",
        "observed on",
        "measured on",
    )
    rows = []
    for a in found.adapters:
        others = sum(n for ns, n in a.registered.items() if ns not in ("aten", "npu"))
        counts = [str(n) for n in (a.registered.get("aten", 0), a.registered.get("npu", 0), others)]
        converters = [str(a.converters), str(a.raising)]
        basis = a.basis + (", yours" if a.own else "")
        rows.append(
            (
                a.release,
                a.torch,
                " ".join(a.cann),
                basis,
                *counts,
                *converters,
                " ".join(a.observed),
                " ".join(a.measured),
            )
        )
    print_table(screen, headers, rows)
    screen.blank()
    screen.line([("CANN releases", "bold")])
    cann = [
        (c.release + (" (yours)" if c.own else ""), c.soc, str(c.apis), str(c.absent), str(c.ge_ops), str(c.onnx))
        for c in found.cann
    ]
    print_table(screen, ("release", "SoC", "aclnn APIs", "absent", "graph-engine ops", "ONNX ops"), cann)
    screen.blank()
    for release, near in found.without_table.items():
        screen.line([(f"CANN {release} has no table; answers come from {' and '.join(near)}.", "")])
    newest = [h.sources for h in found.adapters[-1:]] + [h.sources for h in found.cann[-1:]]
    tables = dict.fromkeys(table for sources in newest for table in sources)
    screen.line(
        [(f"Raw tables: {', '.join(tables)} … (support_matrix/sources/README.md says where they are from)", "")]
    )


_EAGER = Text("eager", "单算子（eager）")
_GRAPH = Text("graph", "图模式（graph）")
_RELEASES = Text("torch_npu releases", "torch_npu 版本")
_HINT = Text(
    "Name a target for kernels and evidence: --torch-npu, --cann, --soc, --dtype.",
    "指定目标可查看内核与证据：opscan matrix query 的 --torch-npu、--cann、--soc、--dtype。",
)


def print_history(found: History, lang: Lang = "en") -> None:
    screen = _screen()
    screen.line([(found.operator, "bold")])
    screen.blank()
    for title, spans in ((_EAGER, found.eager), (_GRAPH, found.graph)):
        rows = [(span.state.in_(lang), _releases(span)) for span in spans]
        print_table(screen, (title.in_(lang), _RELEASES.in_(lang)), rows)
        screen.blank()
    headers = ("CANN", f"{found.dtype}, {found.soc}, {_EAGER.in_(lang)}")
    print_table(screen, headers, [(release, verdict) for release, verdict in found.cann])
    screen.blank()
    screen.line([(_HINT.in_(lang), "")])


def _releases(span: Span) -> str:
    return span.first if span.first == span.last else f"{span.first} … {span.last}"


def print_answers(operator: str, target: Target, answers: Sequence[Answer]) -> None:
    """The verdicts, the reasons of those that are not ``supported``, and the evidence, each once."""
    screen = _screen()
    screen.line([(operator, "bold"), (f"  torch_npu {target.torch_npu}, CANN {target.cann}, {target.soc}", "")])
    screen.blank()
    rows = [(a.route, a.dtype, a.ruling.verdict, a.ruling.rule or "", " ".join(a.ruling.kernels)) for a in answers]
    print_table(screen, ("route", "dtype", "verdict", "rule", "kernels"), rows)
    reasons: dict[str, list[str]] = {}
    for answer in answers:
        if answer.ruling.reason:
            reasons.setdefault(answer.ruling.reason, []).append(f"{answer.route} {answer.dtype}")
    if reasons:
        screen.blank()
    for reason, where in reasons.items():
        screen.line([(f"{', '.join(where)}: ", "bold"), (reason, "")])
    conflicts = dict.fromkeys(conflict for answer in answers for conflict in answer.ruling.conflicts)
    said = " ".join(reasons)
    for conflict in (c for c in conflicts if c not in said):
        screen.line([("conflict: ", "bold"), (conflict, "")])
    screen.blank()
    screen.line([("Evidence", "bold")])
    evidence = dict.fromkeys(e for answer in answers for e in answer.ruling.evidence)
    print_table(
        screen, ("kind", "release", "says", "source"), [(e.kind, e.release, e.detail, e.source) for e in evidence]
    )


def print_kernel(found: Kernel) -> None:
    screen = _screen()
    screen.line([(found.name, "bold"), (f"  CANN {found.cann}, {found.soc}: ", ""), (found.state, "bold")])
    for note in found.notes:
        screen.line([(note, "")])
    if found.parameters:
        screen.blank()
        headers = ("kernel", "io", "parameter", "dtypes", "ranks", "notes")
        rows = [(p.kernel, p.io, p.name, " ".join(p.dtypes), p.ranks, p.note) for p in found.parameters]
        print_table(screen, headers, rows)
    if found.sources:
        screen.blank()
    for source in found.sources:
        screen.line([("source: ", "bold"), (source, "")])


def print_diff(before: Target, after: Target, changes: Sequence[Change]) -> None:
    screen = _screen()
    screen.line([("from  ", "bold"), (str(before), "")])
    screen.line([("to    ", "bold"), (str(after), "")])
    for kind, group in groupby(changes, key=lambda change: change.kind):
        listed = list(group)
        operators = len({change.operator for change in listed})
        screen.blank()
        screen.line([(f"{_TITLES[kind]}: {operators} operator{'s' if operators != 1 else ''}", "bold")])
        rows = [(c.operator, " ".join(c.dtypes), f"{c.before} → {c.after}", c.reason or "") for c in listed]
        print_table(screen, ("operator", "dtypes", "verdict", "why not"), rows)
    if not changes:
        screen.blank()
        screen.line([("no operator changes its verdict", "")])
