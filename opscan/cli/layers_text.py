"""The comparison of a whole model as text."""

from __future__ import annotations

import sys
from typing import TextIO

from opscan.cli.probe_text import departure
from opscan.layers import Layered
from opscan.probing.layers.report import Layer
from opscan.rendering.screen import Screen
from opscan.rendering.table import print_table
from opscan.rendering.terminal import summary_console

#: Rows of each list. The file has all of them.
_ROWS = 20


def print_layered(layered: Layered, written: str | None, stream: TextIO = sys.stdout) -> None:
    screen = Screen(summary_console(stream))
    report, versions = layered.report, layered.versions
    screen.line(
        [(layered.model, "bold"), (f"  {versions.soc}, torch_npu {versions.torch_npu}, CANN {versions.cann}", "")]
    )
    screen.blank()
    counts = {s: sum(layer.status == s for layer in report.layers) for s in ("agrees", "departs", "open")}
    screen.line(
        [
            (f"{len(report.layers)} runs of modules: {counts['agrees']} agree, {counts['departs']} depart, ", ""),
            (f"{counts['open']} were not compared", ""),
        ]
    )
    if report.first is None:
        screen.line([("No module departs from the CPU.", "bold green")])
    else:
        screen.line([("The first that departs: ", "bold red"), (_named(report.first), "bold")])
        _print(screen, "", [layer for layer in report.layers if layer.status == "departs"])
    _print(screen, "Gradients that depart", list(report.gradients))
    _print(screen, "Not compared", [layer for layer in report.layers if layer.status == "open"])
    for note in report.notes:
        screen.line([("Note: ", "bold"), (note, "")])
    if written is not None:
        screen.line([("Written: ", "bold"), (written, "")])


def _print(screen: Screen, title: str, layers: list[Layer]) -> None:
    if not layers:
        return
    screen.blank()
    if title:
        screen.line([(title, "bold")])
    rows = [(str(layer.order), _named(layer), _says(layer)) for layer in layers[:_ROWS]]
    print_table(screen, ("#", "module", "says"), rows)
    if len(layers) > _ROWS:
        screen.line([(f"… and {len(layers) - _ROWS} more", "")])


def _named(layer: Layer) -> str:
    place = f" {layer.file}:{layer.line}" if layer.file else ""
    return f"{layer.module or '(the model)'} ({layer.kind}){place}"


def _says(layer: Layer) -> str:
    if layer.message or layer.errors is None:
        return layer.message
    return departure(layer.errors)
