"""The results of many scans as one: what ``opscan batch`` writes as ``batch.json``. Frozen, without any I/O.

The field names are the keys of the JSON contract (``docs/json.md``): extend, never rename.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from opscan.assessment import PersonDays, Summary, ToolInfo, Verdict
from opscan.target import Route, Target

#: The version of the contract of ``batch.json``.
SCHEMA = 1

#: How the scan of one model ended. ``passed`` and ``failed``: by the gate. ``incomplete``: a result that may lack
#: operators. ``error``: no result. ``time_limit``: no result in the time it was given. ``not_run``: the batch was
#: interrupted before.
Status = Literal["passed", "failed", "incomplete", "error", "time_limit", "not_run"]

STATUSES: tuple[Status, ...] = ("error", "time_limit", "not_run", "incomplete", "failed", "passed")

#: Those without a result.
UNSCANNED: tuple[Status, ...] = ("error", "time_limit", "not_run")


@dataclass(frozen=True, slots=True)
class ScannedModel:
    """What is repeated here of a model's own report. ``calls``: by verdict, those of ``summary`` are entries.
    ``recommended``: the route, where all were compared."""

    reference: str
    target: Target
    complete: bool
    summary: Summary
    calls: dict[str, int]
    error_findings: int
    blockers: tuple[str, ...]
    person_days: PersonDays
    recommended: Route | None = None


@dataclass(frozen=True, slots=True)
class ModelResult:
    """One model of the batch. ``exit_code`` is that of its scan, None where the scan did not come to one. ``reused``:
    from an earlier run. ``json`` and ``html`` are its reports, relative to the roll-up. ``seconds``: of the scan.
    """

    name: str
    reference: str
    status: Status
    exit_code: int | None
    reason: str | None
    hint: str | None
    seconds: float
    reused: bool
    digest: str
    json: str | None
    html: str | None
    scanned: ScannedModel | None


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that could be taken for a model and is none that can be scanned."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class OperatorTally:
    """An operator that is not supported everywhere: its verdict, the rule, the names of the models, and their calls."""

    name: str
    verdict: Verdict
    rule: str | None
    models: tuple[str, ...]
    calls: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Models by how they ended; operators and calls of all results, by verdict; and the sum of their efforts, in which
    work that models share counts once for each of them.
    """

    models: int
    statuses: dict[str, int]
    ops: dict[str, int]
    calls: dict[str, int]
    person_days: PersonDays


@dataclass(frozen=True, slots=True)
class RollUp:
    """The whole batch. ``source``: the folder or list. ``interrupted``: before all models were scanned."""

    schema: int
    tool: ToolInfo
    source: str
    exit_code: int
    interrupted: bool
    totals: Totals
    models: tuple[ModelResult, ...]
    operators: tuple[OperatorTally, ...]
    skipped: tuple[SkippedFile, ...] = ()
