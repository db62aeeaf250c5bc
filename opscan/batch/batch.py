"""A batch from beginning to end: what is there already, what must be scanned, and the sum."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Protocol

from opscan.assessment import Assessment
from opscan.batch.digest import digest
from opscan.batch.entries import Entry
from opscan.batch.records import Place, Record, places
from opscan.batch.schedule import Ended, Job, Limits, Started, run
from opscan.batch.summing import operator_tallies, roll_up, scanned_model, status_of
from opscan.errors import OpscanError
from opscan.rendering.json import load_assessment
from opscan.rollup import ModelResult, RollUp, SkippedFile, Status

#: What a scan says last where it has no result.
_ERROR = re.compile(r"^opscan: (?:internal )?error: (.*?)(?:\n  hint: (.*?))?\s*\Z", re.MULTILINE | re.DOTALL)

#: Exit codes of scans that have a result.
_RESULTS = (0, 1, 3)


class Watch(Protocol):
    """Is told of every step, to show progress."""

    def reused(self, count: int) -> None: ...

    def started(self, entry: Entry) -> None: ...

    def ended(self, result: ModelResult) -> None: ...


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """``command``: what runs ``opscan scan``, up to its options. ``common``: what all results depend on, for the
    digest. ``again``: scan what has a result, too.
    """

    source: str
    entries: Sequence[Entry]
    skipped: Sequence[SkippedFile]
    output: Path
    command: Sequence[str]
    lang: str
    common: Sequence[str]
    limits: Limits
    again: bool = False


def run_batch(request: BatchRequest, watch: Watch, stop: Event) -> RollUp:
    """Scan what has no current result, and sum up all. Ends early, with what there is, where ``stop`` is set."""
    batch = _Batch(request, places(request.output, (entry.name for entry in request.entries)), watch)
    batch.reuse()
    batch.scan(stop)
    return batch.roll_up(stop.is_set())


@dataclass(slots=True)
class _Batch:
    request: BatchRequest
    places: Mapping[str, Place]
    watch: Watch
    results: dict[int, ModelResult] = field(default_factory=dict)
    assessments: dict[int, Assessment] = field(default_factory=dict)
    digests: dict[int, str] = field(default_factory=dict)

    def reuse(self) -> None:
        for number, entry in enumerate(self.request.entries):
            self.digests[number] = digest(entry, self.request.common)
            kept = None if self.request.again else self.places[entry.name].kept(self.digests[number])
            if kept is not None:
                record, assessment = kept
                self._keep(number, record, assessment, reused=True)
        self.watch.reused(len(self.results))

    def scan(self, stop: Event) -> None:
        entries = self.request.entries
        jobs = [Job(n, self._command(e), e.folder) for n, e in enumerate(entries) if n not in self.results]
        for event in run(jobs, self.request.limits, stop):
            entry = entries[event.number]
            if isinstance(event, Started):
                self.places[entry.name].begin()
                self.watch.started(entry)
            else:
                self._judge(event)

    def roll_up(self, interrupted: bool) -> RollUp:
        entries = self.request.entries
        models = [
            self.results.get(n) or self._without(n, "not_run", None, "The batch was interrupted before.", "", 0.0)
            for n in range(len(entries))
        ]
        named = [(entries[number].name, self.assessments[number]) for number in sorted(self.assessments)]
        interrupted = interrupted and any(model.status == "not_run" for model in models)
        return roll_up(self.request.source, models, operator_tallies(named), self.request.skipped, interrupted)

    def _command(self, entry: Entry) -> list[str]:
        place, output = self.places[entry.name], self.request.output.resolve()
        files = [f"--json={output / place.json.name}", f"--html={output / place.html.name}"]
        return [*self.request.command, *files, f"--lang={self.request.lang}", *entry.arguments()]

    def _judge(self, ended: Ended) -> None:
        number, place = ended.number, self.places[self.request.entries[ended.number].name]
        if ended.exit_code in _RESULTS:
            try:
                assessment = load_assessment(place.json.read_bytes())
            except (OSError, OpscanError) as error:
                result = self._without(number, "error", ended.exit_code, f"Its report is gone: {error}", "", 0.0)
            else:
                record = Record(self.digests[number], ended.exit_code or 0, round(ended.seconds, 2))
                place.finish(record)
                self._keep(number, record, assessment, reused=False)
                self.watch.ended(self.results[number])
                return
        elif ended.exit_code is None:
            limit = self.request.limits.seconds
            reason, hint = f"No result within {limit:g} seconds.", "Give it more: --time-limit SECONDS"
            result = self._without(number, "time_limit", None, reason, hint, ended.seconds)
        else:
            reason, hint = _why(ended)
            result = self._without(number, "error", ended.exit_code, reason, hint, ended.seconds)
        place.clear()
        self.results[number] = result
        self.watch.ended(result)

    def _keep(self, number: int, record: Record, assessment: Assessment, reused: bool) -> None:
        entry = self.request.entries[number]
        place = self.places[entry.name]
        self.assessments[number] = assessment
        self.results[number] = ModelResult(
            entry.name,
            entry.reference,
            status_of(record.exit_code),
            record.exit_code,
            _incomplete(assessment) if record.exit_code not in (0, 1) else None,
            None,
            record.seconds,
            reused,
            record.digest,
            place.json.name,
            place.html.name,
            scanned_model(assessment),
        )

    def _without(
        self, number: int, status: Status, code: int | None, reason: str, hint: str, seconds: float
    ) -> ModelResult:
        entry = self.request.entries[number]
        return ModelResult(
            entry.name,
            entry.reference,
            status,
            code,
            reason,
            hint or None,
            round(seconds, 2),
            False,
            self.digests.get(number, ""),
            None,
            None,
            None,
        )


def _incomplete(assessment: Assessment) -> str | None:
    """Why operators may be missing from a result."""
    attempts, unseen = assessment.trace.attempts, assessment.trace.unseen
    if attempts and not attempts[-1].ok:
        return attempts[-1].reason
    return unseen[0] if unseen else None


def _why(ended: Ended) -> tuple[str, str]:
    """The error message of a scan without a result, and its hint."""
    start = max(ended.said.rfind("opscan: error: "), ended.said.rfind("opscan: internal error: "), 0)
    match = _ERROR.search(ended.said, start)
    if match:
        return " ".join(match[1].split()), " ".join((match[2] or "").split())
    code = ended.exit_code or 0
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return f"Its scan {how} and said nothing of a reason.", "Run opscan scan on it alone to see all that it prints."
