"""The joiner: an inventory and a matrix become an assessment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from opscan import __version__
from opscan.assessment import (
    VERDICTS,
    AssessedFinding,
    AssessedOp,
    Assessment,
    FailOn,
    Launch,
    LaunchedTensor,
    ModelInfo,
    RunInfo,
    Substitution,
    Summary,
    TensorPair,
    ToolInfo,
)
from opscan.cost import estimate
from opscan.gate import decide
from opscan.graph_verdict import GraphJudge
from opscan.inventory import Dim, Finding, Inventory, KernelLaunch, Location, Observed, OpCall, TensorSpec
from opscan.matrix.query import Matrix
from opscan.measured_verdict import outranked
from opscan.offline_verdict import OfflineJudge
from opscan.probing.judgement import Measured
from opscan.probing.signature import signature_of
from opscan.quantization import findings_on_quantization
from opscan.routes.elsewhere import by_route
from opscan.rules.registry import RULES
from opscan.sizes.findings import findings_on_sizes
from opscan.text import Text
from opscan.verdict import Judge, Ruling

_SCHEMA = 1


@dataclass(slots=True)
class Judged:
    """All calls of one entry: (name, phase, dtypes, verdict), with the ruling of the first."""

    ruling: Ruling
    calls: list[OpCall] = field(default_factory=list)

    @property
    def example(self) -> OpCall:
        return self.calls[0]


def judge_calls(inventory: Inventory, matrix: Matrix, measured: Mapping[str, Measured] | None = None) -> list[Judged]:
    """Judge every call and group the calls as the report lists them, worst first. ``measured``: by signature's key."""
    judge = _judge(inventory, matrix)
    rulings: dict[tuple[object, ...], Ruling] = {}
    groups: dict[tuple[object, ...], Judged] = {}
    for call in inventory.calls:
        # Calls that differ in shapes alone are judged alike; a model repeats few of these signatures many times.
        signature = (call.name, _dtypes(call.inputs), _dtypes(call.outputs), call.attributes, call.parts, call.observed)
        ruling = rulings.get(signature)
        if ruling is None:
            ruling = rulings[signature] = judge.call(call)
        if measured and (own := measured.get(signature_of(call).key)) is not None:
            ruling = outranked(ruling, own)
        key = (call.name, call.phase, _distinct(call.dtypes), ruling.verdict)
        groups.setdefault(key, Judged(ruling)).calls.append(call)
    return sorted(groups.values(), key=_order)


def _judge(inventory: Inventory, matrix: Matrix) -> Judge | GraphJudge | OfflineJudge:
    """Who rules on calls in the target's route."""
    host_torch = inventory.trace.host_torch
    if matrix.target.route == "graph":
        return GraphJudge(matrix, host_torch)
    if matrix.target.route == "offline":
        return OfflineJudge(matrix, host_torch)
    return Judge(matrix, inventory.host_kernels, host_torch)


def _order(entry: Judged) -> tuple[int, int, str, str]:
    phases = ("forward", "backward", "optimizer")
    return (
        VERDICTS.index(entry.ruling.verdict),
        phases.index(entry.example.phase),
        entry.example.name,
        str(entry.example.dtypes),
    )


def assemble(
    inventory: Inventory,
    matrix: Matrix,
    judged: list[Judged],
    substitutions: Mapping[int, tuple[Substitution, ...]],
    fail_on: FailOn,
    warnings: tuple[Text, ...] = (),
    workload: RunInfo | None = None,
    notes: tuple[Text, ...] = (),
) -> Assessment:
    """Everything a report needs. ``substitutions`` are by index into ``judged``. ``workload``: what was run, where
    that is known."""
    ops = tuple(_entry(entry, matrix, substitutions.get(i, ())) for i, entry in enumerate(judged))
    kernels: dict[str, tuple[str, ...]] = {}
    for entry in judged:
        kernels[entry.example.name] = (*kernels.get(entry.example.name, ()), *entry.ruling.kernels)
    quantized = findings_on_quantization(inventory.calls, lambda name: matrix.registration(name) is not None)
    sizes = findings_on_sizes(inventory, kernels, matrix.target)
    findings = assess_findings((*inventory.findings, *quantized, *sizes))
    summary = summarise(ops)
    return Assessment(
        schema=_SCHEMA,
        tool=ToolInfo(__version__),
        model=ModelInfo(inventory.reference, inventory.parameters),
        target=matrix.target,
        trace=inventory.trace,
        ops=ops,
        findings=findings,
        summary=summary,
        cost=estimate(ops, findings, inventory.trace.complete),
        gate=decide(summary, fail_on),
        warnings=tuple(warning.en for warning in warnings),
        warnings_zh=tuple(warning.zh for warning in warnings),
        workload=workload,
        notes=notes,
    )


def assess_findings(findings: Iterable[Finding]) -> tuple[AssessedFinding, ...]:
    """Findings with their messages written out, most severe first; the same message at several lines is one finding."""
    grouped: dict[tuple[str, str], AssessedFinding] = {}
    for finding in findings:
        rule = RULES[finding.rule]
        message = rule.say("en", finding.facts)
        before = grouped.get((rule.code, message))
        locations = (*(before.locations if before else ()), *finding.locations)
        grouped[rule.code, message] = AssessedFinding(rule.code, rule.severity, message, locations, dict(finding.facts))
    severities = ("error", "warning", "info")
    return tuple(sorted(grouped.values(), key=lambda f: (severities.index(f.severity), f.rule)))


def summarise(ops: Iterable[AssessedOp]) -> Summary:
    entries = list(ops)
    counts = {verdict: sum(op.verdict == verdict for op in entries) for verdict in VERDICTS}
    return Summary(ops=len(entries), calls=sum(op.count for op in entries), **counts)


def _entry(entry: Judged, matrix: Matrix, substitutions: tuple[Substitution, ...]) -> AssessedOp:
    call, ruling = entry.example, entry.ruling
    observed = call.observed or Observed()
    return AssessedOp(
        name=call.name,
        verdict=ruling.verdict,
        rule=ruling.rule,
        reason=ruling.reason,
        phase=call.phase,
        count=sum(c.count for c in entry.calls),
        dtypes=_distinct(call.dtypes),
        inputs=_pairs(call.inputs, call.symbolic[: len(call.inputs)]),
        outputs=_pairs(call.outputs, call.symbolic[len(call.inputs) :]),
        kernels=ruling.kernels,
        locations=_locations(entry.calls),
        evidence=ruling.evidence,
        conflicts=ruling.conflicts,
        substitutions=substitutions,
        routes=by_route(matrix, call, ruling.verdict),
        parts=tuple(part.name for part in call.parts),
        facts=ruling.facts,
        launches=tuple(_launch(launch, matrix) for launch in observed.launches),
        copies=observed.copies,
        origins=_origins(entry.calls),
    )


def _launch(launch: KernelLaunch, matrix: Matrix) -> Launch:
    names = iter(matrix.names_of(launch))
    tensors = []
    for argument in launch.arguments:
        name = argument.name or next(names, "")
        formats = argument.formats or ("",) * len(argument.tensors)
        if argument.kind in ("T", "L"):
            pairs = zip(argument.tensors, formats, strict=True)
            tensors += [LaunchedTensor(name, spec.dtype, spec.shape, layout) for spec, layout in pairs]
    return Launch(launch.api, tuple(tensors))


def _locations(calls: Iterable[OpCall]) -> tuple[Location, ...]:
    return tuple(dict.fromkeys(c.location for c in calls if c.location is not None))


def _origins(calls: Iterable[OpCall]) -> tuple[str, ...]:
    told = (dict(call.attributes).get("origin", "") for call in calls)
    return tuple(dict.fromkeys(origin for origin in told if origin))


def _dtypes(specs: tuple[TensorSpec, ...]) -> tuple[str, ...]:
    return tuple(spec.dtype for spec in specs)


def _pairs(specs: tuple[TensorSpec, ...], symbolic: tuple[tuple[Dim, ...], ...]) -> tuple[TensorPair, ...]:
    """With the names of sizes that vary, where some do."""
    shapes = symbolic or tuple(spec.shape for spec in specs)
    return tuple((spec.dtype, shape) for spec, shape in zip(specs, shapes, strict=True))


def _distinct(dtypes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(dtypes))
