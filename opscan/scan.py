"""A scan from beginning to end: one child process, one matrix, one assessment."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache

from opscan.assess import Judged, assemble, judge_calls
from opscan.assessment import Assessment, FailOn, RunInfo, Substitution
from opscan.chain import Checks, TracerChoice, Tried, ask_all, follow, plan
from opscan.cross_check import Outcome, compare
from opscan.engine import EngineChoice
from opscan.errors import OpscanError
from opscan.inventory import Attempt, Finding, OpCall
from opscan.loading.inputs import Input
from opscan.loading.onnx_reference import OnnxFileReference
from opscan.loading.reference import Reference
from opscan.matrix.query import Matrix
from opscan.matrix.releases import installed_torch, resolve_target
from opscan.measure import ProbeChoice, measure
from opscan.sizes.asked import marked
from opscan.substitution import registry
from opscan.substitution.interface import CheckResult, Match
from opscan.target import Route, Target
from opscan.text import Text
from opscan.worker.host import Engine, Worker
from opscan.worker.protocol import Check, Checked, Release, Scan, Scanned, ScanOnnx
from opscan.workload import INFERENCE, DynamicInput, Workload

#: Verdicts for which a replacement is looked for: refused dtypes, and dtypes that only the AI CPU computes.
_REPLACEABLE = ("OPS104", "OPS106", "OPS107", "OPS202")


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """What the command line asked for. None for a part of the target takes its default."""

    reference: Reference
    inputs: tuple[Input, ...] = ()
    torch_npu: str | None = None
    cann: str | None = None
    soc: str | None = None
    workload: Workload = INFERENCE
    fail_on: FailOn = "unsupported"
    engine: EngineChoice = "auto"
    probe: ProbeChoice = "off"
    route: Route = "eager"
    tracer: TracerChoice = "auto"
    cross_check: bool = False


@dataclass(frozen=True, slots=True)
class OnnxRequest:
    """What was asked for about an ONNX file. None for a part of the target takes its default."""

    torch_npu: str | None = None
    cann: str | None = None
    soc: str | None = None
    fail_on: FailOn = "unsupported"
    dynamic: tuple[DynamicInput, ...] = ()


def scan(request: ScanRequest, progress: Callable[[str], None]) -> Assessment:
    """Trace, judge, look for replacements and prove them. Raises OpscanError."""
    target, _ = _target(request)
    ground = cache(lambda: _Ground.of(request))  # read while torch loads in the first worker

    def ask(worker: Worker, progress: Callable[[str], None], time_limit: float | None) -> Scanned:
        return worker.scan(ground().question(request), progress, time_limit)

    tracers = plan(request.tracer, request.engine, target, progress)
    with ExitStack() as stack:
        followed = follow(tracers, ask, progress, stack)
        checks = stack.enter_context(Checks(followed.worker))
        outcomes: tuple[Outcome, ...] = ()
        if request.cross_check and target.route == "eager":
            outcomes = tuple(map(_outcome, ask_all(followed, request.engine, target, ask, progress)))
        return _assess(request, ground(), followed.scanned, checks, progress, outcomes)


def scan_onnx(reference: OnnxFileReference, request: OnnxRequest, progress: Callable[[str], None]) -> Assessment:
    """List the operators of an ONNX file and judge them for the offline route. Raises OpscanError."""
    target, warnings = resolve_target(request.torch_npu, request.cann, request.soc, "offline", installed_torch())
    matrix = Matrix.load(target)
    with Worker(Engine(tracer="onnx-file")) as worker:
        inventory = worker.scan(ScanOnnx(reference), progress).inventory
    if request.dynamic:
        inputs, fixed = marked(inventory.inputs, request.dynamic)
        told = (Finding("OPS669", {"sizes": ", ".join(fixed)}),) if fixed else ()
        inventory = replace(inventory, inputs=inputs, findings=(*inventory.findings, *told))
    progress("judging operators")
    workload = RunInfo(dynamic=request.dynamic)
    return assemble(inventory, matrix, judge_calls(inventory, matrix), {}, request.fail_on, warnings, workload)


def scan_with(
    worker: Worker, request: ScanRequest, progress: Callable[[str], None], attempts: tuple[Attempt, ...] = ()
) -> Assessment:
    """The same in a worker that runs already: several scans may share one, with what a model leaves behind.

    ``attempts`` are those made before.
    """
    ground = _Ground.of(request)
    scanned = worker.scan(ground.question(request), progress)
    trace = replace(scanned.inventory.trace, attempts=(*attempts, *scanned.inventory.trace.attempts))
    inventory = replace(scanned.inventory, trace=trace)
    return _assess(request, ground, Scanned(inventory, scanned.notes), worker, progress)


@dataclass(frozen=True, slots=True)
class _Ground:
    """What a scan stands on: the matrix of its target, what tracers are told of it, and warnings about it."""

    matrix: Matrix
    release: Release
    warnings: tuple[Text, ...]

    @classmethod
    def of(cls, request: ScanRequest) -> _Ground:
        target, warnings = _target(request)
        matrix = Matrix.load(target)
        return cls(matrix, release_for(matrix), warnings)

    def question(self, request: ScanRequest) -> Scan:
        return Scan(request.reference, request.inputs, self.release, request.workload)


def _target(request: ScanRequest) -> tuple[Target, tuple[Text, ...]]:
    return resolve_target(request.torch_npu, request.cann, request.soc, request.route, installed_torch())


def _assess(
    request: ScanRequest,
    ground: _Ground,
    scanned: Scanned,
    checks: Worker | Checks,
    progress: Callable[[str], None],
    outcomes: tuple[Outcome, ...] = (),
) -> Assessment:
    """Measure and judge an inventory, look for replacements, and compare it with those of other tracers."""
    inventory, matrix = scanned.inventory, ground.matrix
    # An ONNX node is no call that an NPU could be asked for on its own.
    probe = "off" if request.route == "offline" else request.probe
    measurements = measure(inventory.calls, probe, matrix.target, progress)
    if measurements.failure and request.probe == "require":
        failed = Attempt("probe", False, measurements.failure)
        trace = replace(inventory.trace, attempts=(*inventory.trace.attempts, failed))
        inventory = replace(inventory, trace=trace)
    progress("judging operators")
    judged = judge_calls(inventory, matrix, measurements.by_key)
    substitutions = _Substitutions(checks, matrix, ground.release, progress).find(judged)
    compared = None
    if outcomes:
        compared = compare(outcomes, inventory.trace, lambda other: judge_calls(other, matrix, measurements.by_key))
        inventory = replace(inventory, findings=(*inventory.findings, *compared.findings))
    assessment = assemble(
        inventory,
        matrix,
        judged,
        substitutions,
        request.fail_on,
        ground.warnings + measurements.notes + _left_out(request),
        _run(request),
        scanned.notes,
    )
    return replace(assessment, cross_check=compared.cross_check) if compared else assessment


def _outcome(tried: Tried) -> Outcome:
    inventory = tried.scanned.inventory if tried.scanned else None
    return Outcome(tried.link.name, inventory, " ".join(tried.error.message.split()) if tried.error else "")


def _left_out(request: ScanRequest) -> tuple[Text, ...]:
    """Options that the route has no use for."""
    if request.route != "offline" or request.workload.amp == "off":
        return ()
    return (
        Text(
            "--amp is left out: the model is exported as it is, and ATC chooses the precision (--precision_mode).",
            "忽略 --amp：模型按原样导出，精度由 ATC 选择（--precision_mode）。",
        ),
    )


def _run(request: ScanRequest) -> RunInfo:
    """What was run of what was asked for: what is exported for the offline route only infers, as the model stands."""
    asked = request.workload
    if request.route == "offline":
        return RunInfo(dynamic=asked.dynamic, tracer=request.tracer)
    optimizer = asked.optimizer if asked.train else None
    return RunInfo(asked.train, optimizer, asked.amp, asked.dynamic, request.tracer)


def release_for(matrix: Matrix) -> Release:
    """What a tracer must know of the matrix's target."""
    return Release(
        matrix.torch_release,
        matrix.target.torch_npu,
        matrix.registered(),
        matrix.registered("AutogradPrivateUse1"),
        matrix.registered("AutocastPrivateUse1"),
        foreach=matrix.target.takes_foreach,
        bfloat16=matrix.target.autocasts_bfloat16,
    )


@dataclass(frozen=True, slots=True)
class _Substitutions:
    worker: Worker | Checks
    matrix: Matrix
    release: Release
    progress: Callable[[str], None]

    def find(self, judged: list[Judged]) -> dict[int, tuple[Substitution, ...]]:
        """Replacements by index into ``judged``; each is checked once for an operator and its dtypes."""
        found: dict[int, tuple[Substitution, ...]] = {}
        for index, entry in enumerate(judged):
            if entry.ruling.rule not in _REPLACEABLE:
                continue
            dtype = entry.ruling.facts.get("dtype") or _widest(entry.example)
            matches, _ = registry.find(entry.example, dtype)
            if matches:
                found[index] = tuple(self._prove(match) for match in matches)
        return found

    def _prove(self, match: Match) -> Substitution:
        self.progress(f"checking a replacement of {match.call.name}")
        family = registry.family(match.family)
        code = family.code(match)
        try:
            checked = self.worker.check(Check(match, self.release))
        except OpscanError as error:  # a check that fails, even if it takes its process with it, does not fail the scan
            checked = Checked(CheckResult(None), None, error.message)
        names, slow, runs = self._judge(checked)
        notes = [family.why, checked.result.note]
        if slow:
            some = ", ".join(slow)
            notes.append(Text(f"Of its operators, {some} runs slowly.", f"其中 {some} 运行较慢。"))
        return Substitution(
            id=family.id,
            title=family.title.en,
            before=code.before,
            after=code.after,
            supported=runs,
            ops=names,
            check=checked.result.check,
            note=" ".join(t for t in (*(n.en for n in notes), checked.trace_error) if t),
            title_zh=family.title.zh,
            note_zh=" ".join(t for t in (*(n.zh for n in notes), checked.trace_error) if t),
        )

    def _judge(self, checked: Checked) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
        """Operators of the replacement, those of them that are slow, and whether all run on the target's device."""
        if checked.inventory is None:
            return (), (), False
        judged = judge_calls(checked.inventory, self.matrix)
        slow = tuple(j.example.name for j in judged if j.ruling.verdict == "slow")
        runs = all(j.ruling.verdict in ("supported", "slow") for j in judged)
        return tuple(j.example.name for j in judged), slow, runs


def _widest(call: OpCall) -> str:
    """The dtype to replace where the refusal names none: the complex or float64 one among the arguments."""
    for dtype in ("complex128", "complex64", "complex32", "float64"):
        if dtype in call.dtypes:
            return dtype
    return call.dtypes[0] if call.dtypes else ""
