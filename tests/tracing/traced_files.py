"""Small models as files, traced, and what tests ask of the inventory."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from opscan.cli.workload_options import parse_workload
from opscan.inventory import Finding, Inventory, OpCall
from opscan.loading.inputs import InputSpec, parse_input, parse_input_shape
from opscan.loading.reference import parse_reference
from opscan.matrix.query import Matrix
from opscan.scan import release_for
from opscan.target import Target
from opscan.worker.host import Worker
from opscan.worker.protocol import Release, Scan

HEADER = """\
import torch
from torch import nn
import torch.nn.functional as F
"""


@dataclass(frozen=True)
class Traced:
    """An inventory beside the text of its file. A test marks the line it is about with a comment: ``# <-- here``."""

    inventory: Inventory
    source: str
    stages: tuple[str, ...] = ()

    @property
    def calls(self) -> tuple[OpCall, ...]:
        return self.inventory.calls

    @property
    def complete(self) -> bool:
        return self.inventory.trace.complete

    @property
    def failed(self) -> bool:
        return any(not attempt.ok for attempt in self.inventory.trace.attempts)

    def names(self, phase: str = "forward") -> list[str]:
        """Operators of a phase in the order of their first call."""
        return list(dict.fromkeys(c.name for c in self.calls if c.phase == phase))

    def only(self, name: str, phase: str = "forward") -> OpCall:
        found = [c for c in self.calls if c.name == name and c.phase == phase]
        assert len(found) == 1, f"{name}: {len(found)} entries among {self.names(phase)}"
        return found[0]

    def times(self, name: str, phase: str = "forward") -> int:
        return sum(c.count for c in self.calls if c.name == name and c.phase == phase)

    def line(self, mark: str = "here") -> int:
        """The number of the line that carries ``# <-- mark``."""
        found = [n for n, text in enumerate(self.source.splitlines(), 1) if re.search(rf"# <-- {mark}\b", text)]
        assert len(found) == 1, f"{len(found)} lines are marked {mark}"
        return found[0]

    def lines_of(self, name: str, phase: str = "forward") -> set[int]:
        return {c.location.line for c in self.calls if c.name == name and c.phase == phase and c.location}

    def findings(self, rule: str | None = None) -> list[Finding]:
        return [f for f in self.inventory.findings if rule in (None, f.rule)]

    def finding_lines(self, rule: str) -> set[int]:
        return {place.line for f in self.findings(rule) for place in f.locations}


class Scanner:
    """Writes a file and traces it; a child that died is replaced for the next test."""

    def __init__(self, worker: Worker, release: Release) -> None:
        self._worker = worker
        self._release = release

    def __call__(
        self,
        folder: Path,
        source: str,
        inputs: tuple[str, ...],
        train: bool = False,
        header: bool = True,
        optimizer: str | None = None,
        amp: str = "off",
    ) -> Traced:
        text = (HEADER if header else "") + textwrap.dedent(source)
        path = folder / "model.py"
        path.write_text(text)
        stages: list[str] = []
        workload = parse_workload(train, optimizer, amp)
        request = Scan(parse_reference(str(path)), tuple(map(_spec, inputs)), self._release, workload)
        return Traced(self._worker.scan(request, stages.append).inventory, text, tuple(stages))


def _spec(text: str) -> InputSpec:
    return parse_input(text) if "=" in text else parse_input_shape(text)


def release_of(torch_npu: str, soc: str = "ascend910b") -> Release:
    return release_for(Matrix.load(Target(torch_npu, "9.1.0", soc)))


Trace = Callable[..., Traced]
