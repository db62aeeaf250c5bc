"""Small models as files, rehearsed and judged, and what tests ask of the result."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path

from opscan.assessment import AssessedFinding, AssessedOp, Assessment
from opscan.cli.workload_options import parse_workload
from opscan.loading.reference import parse_reference
from opscan.probing.environment import RehearsalEnvironment
from opscan.probing.simulator.build import environment_variables
from opscan.scan import ScanRequest, scan_with
from opscan.worker.host import Engine, Worker

HEADER = """\
import torch
from torch import nn
import torch.nn.functional as F
"""

#: A model of one function: what follows is the body of its forward.
FUNCTION = """
class M(nn.Module):
    def forward(self, x):
{body}

def build_model():
    return M()

def example_inputs():
    return ({inputs},)
"""


@dataclass(frozen=True)
class Rehearsed:
    """An assessment beside the text of the model's file. A comment ``# <-- here`` marks the line a test is about."""

    result: Assessment
    source: str

    def verdicts(self, name: str, phase: str = "forward") -> set[str]:
        return {op.verdict for op in self.result.ops if (op.name, op.phase) == (name, phase)}

    def only(self, name: str, phase: str = "forward") -> AssessedOp:
        found = [op for op in self.result.ops if (op.name, op.phase) == (name, phase)]
        assert len(found) == 1, f"{name}: {len(found)} entries among {self.names(phase)}"
        return found[0]

    def names(self, phase: str = "forward") -> list[str]:
        return [op.name for op in self.result.ops if op.phase == phase]

    def findings(self, rule: str) -> list[AssessedFinding]:
        return [finding for finding in self.result.findings if finding.rule == rule]

    def lines(self, rule: str) -> set[int]:
        return {where.line for finding in self.findings(rule) for where in finding.locations}

    @property
    def here(self) -> int:
        return next(n for n, text in enumerate(self.source.splitlines(), 1) if "# <-- here" in text)


class Rehearser:
    """One worker for many models: to load torch_npu takes seconds. One that died is replaced for the next model."""

    def __init__(self, environment: RehearsalEnvironment, runtime: Path, soc: str = "ascend910b") -> None:
        variables = environment_variables(runtime, soc, "9.1.0")
        self._engine = Engine("rehearse", str(environment.interpreter), variables)
        self._soc = soc
        self._worker: Worker | None = None

    def __call__(
        self, folder: Path, source: str, train: bool = False, optimizer: str | None = None, amp: str = "off"
    ) -> Rehearsed:
        text = HEADER + textwrap.dedent(source)
        path = folder / "model.py"
        path.write_text(text, encoding="utf-8")
        return Rehearsed(self.rehearse(path, train, optimizer, amp), text)

    def function(self, folder: Path, body: str, inputs: str = "torch.randn(4, 4)", train: bool = False) -> Rehearsed:
        """The model whose forward has this body."""
        indented = textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8)
        return self(folder, FUNCTION.format(body=indented, inputs=inputs), train)

    def rehearse(self, path: Path, train: bool = False, optimizer: str | None = None, amp: str = "off") -> Assessment:
        workload = parse_workload(train, optimizer, amp)
        request = ScanRequest(
            parse_reference(str(path)),
            torch_npu="2.13.0",
            cann="9.1.0",
            soc=self._soc,
            workload=workload,
            probe="off",
        )
        return scan_with(self.worker(), request, lambda stage: None)

    def worker(self) -> Worker:
        if self._worker is None:
            self._worker = Worker(self._engine).__enter__()
        return self._worker

    def close(self) -> None:
        if self._worker is not None:
            self._worker.__exit__(None, None, None)
            self._worker = None
