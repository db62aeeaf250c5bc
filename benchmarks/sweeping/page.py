"""The page of the sweep, from its records alone: the same records make the same page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import get_args

from sweeping.records import Outcome, Record, Section

_SECTIONS: tuple[Section, ...] = get_args(Section)

_WHAT = {
    "torchvision": "Every model of torchvision: classification, segmentation, detection, video, optical flow",
    "timm": "300 models of timm, spread over its families",
    "transformers-4": "Every configuration class of transformers 4 that makes one from its defaults",
    "transformers-5": "Every configuration class of transformers 5 that makes one from its defaults, also of parts",
    "diffusers": "Architectures of diffusers",
    "segmentation": "Every architecture of segmentation_models_pytorch",
    "onnx-cases": "The node cases of onnx's own backend tests",
    "onnx-files": "ONNX files of rapidocr-onnxruntime, silero-vad and magika",
}

_INTRODUCTION = """\
# The zoo: which models get in

How many models of each kind lead to an inventory, and why the others do not. Written by

```console
$ python benchmarks/zoo.py --onnx WHEELS
$ python benchmarks/zoo.py --write docs/zoo.md
```

from `benchmarks/zoo_results.jsonl`. Each model is scanned as `opscan REF` scans it, on the virtual device, with random
weights and the inputs that opscan chooses; large configurations are not made smaller. A model that takes more than 90 s
of a processor's time, or 12 GB of address space, is ended; step-by-step models and large mixtures had 240 s.

- **whole**: the inventory holds every operator of the run.
- **one path**: the run went to its end; on the way the model asked for values that depend on data, one answer each was
  assumed, and each is a finding with its line.
- **in part**: the trace ended early, and the report says where and why.
- **no model**: the library's defaults make none that runs: it cannot be built from them, lacks a library or the
  configurations of its parts, or fails in its own `forward` (by a reviewed list, `benchmarks/sweeping/defaults.py`).

The share is that of models with an inventory among those that there are.
"""


def page(records: list[Record]) -> str:
    sections = [(name, [r for r in records if r.section == name]) for name in _SECTIONS]
    parts = [_INTRODUCTION, _table([(name, found) for name, found in sections if found])]
    parts += [_of_section(name, found) for name, found in sections if found]
    return "\n".join(parts)


def _table(sections: list[tuple[Section, list[Record]]]) -> str:
    lines = [
        "| section | models | whole | one path | in part | error | time | crash | no model | share | seconds |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_row(name, records) for name, records in sections]
    models = [record for name, records in sections for record in records if not name.startswith("onnx")]
    lines.append(_row("all PyTorch models", models))
    return "\n".join(lines) + "\n\nSeconds are of a processor's time, all models of a section together.\n"


def _row(name: str, records: list[Record]) -> str:
    run = [r for r in records if not r.ruled_out]
    counts = [sum(r.outcome == outcome for r in run) for outcome in get_args(Outcome)]
    share = f"{sum(r.has_inventory for r in run) / len(run):.1%}" if run else "–"
    seconds = f"{sum(r.seconds for r in records):.0f}"
    cells = [name, len(records), *counts, len(records) - len(run), share, seconds]
    return f"| {' | '.join(map(str, cells))} |"


def _of_section(name: Section, records: list[Record]) -> str:
    releases = ", ".join(sorted({r.release for r in records if r.release}))
    lines = [f"## {name}", "", f"{_WHAT[name]}{f' ({releases})' if releases else ''}.", ""]
    slowest = sorted(records, key=lambda r: -r.seconds)[:3]
    if slowest and slowest[0].seconds >= 1:
        told = ", ".join(f"{r.name} {r.seconds:.0f} s" for r in slowest)
        lines += [f"Slowest: {told}.", ""]
    lines += _grouped("No inventory", (r for r in records if not r.has_inventory and not r.ruled_out))
    lines += _grouped("In part", (r for r in records if r.outcome == "part"))
    lines += _grouped("No model", (r for r in records if r.ruled_out))
    assumed = sorted(r.name for r in records if r.outcome == "assumed")
    if assumed:
        lines += [f"One path: {', '.join(assumed)}.", ""]
    for reason, count in Counter(r.reason for r in records if r.outcome == "whole" and r.reason).items():
        lines += [f"Every node is listed; besides, not seen in {count}: {reason}.", ""]
    return "\n".join(lines)


def _grouped(title: str, records: Iterable[Record]) -> list[str]:
    groups: dict[str, list[str]] = defaultdict(list)
    for record in records:
        groups[_kind_of(record)].append(record.name)
    if not groups:
        return []
    lines = [f"{title}:", "", "| reason | models |", "|---|---|"]
    for reason, names in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        lines.append(f"| `{reason}` | {', '.join(sorted(names))} |")
    return [*lines, ""]


def _kind_of(record: Record) -> str:
    """A reason without its place and its numbers, so that models share it."""
    if record.ruled_out:
        return record.ruled_out
    if record.outcome == "part":
        reason = record.reason
    elif record.outcome == "time":
        reason = "time limit"
    else:
        reason = f"{record.kind}: {record.reason}" if record.kind else record.reason
    reason = re.sub(r"The trace ended( at \S+?:\d+)?( in \S+)?: ", "", reason)
    reason = re.sub(r"\S+\.py:\d+: ", "", reason)
    reason = re.sub(r"\b0x[0-9a-f]+\b|\d+", "N", reason)
    return reason.replace("`", "'").replace("|", "/")[:160].rstrip(". ")
