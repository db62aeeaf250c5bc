"""An inventory judged for a target: all that a report needs, serialisable, renderable later without torch.

The field names are the keys of the JSON contract (``docs/json.md``): extend, never rename.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from opscan.inventory import Dim, Location, Phase, Trace
from opscan.target import Route, Target
from opscan.text import Text
from opscan.workload import Amp, DynamicInput, Optimizer

Verdict = Literal["supported", "slow", "fallback", "unsupported", "unknown"]
Severity = Literal["error", "warning", "info"]
FailOn = Literal["unsupported", "fallback", "slow", "unknown", "never"]

#: From worst to best, as reports sort them.
VERDICTS: tuple[Verdict, ...] = ("unsupported", "fallback", "slow", "unknown", "supported")

#: A tensor as the contract writes it: ``["float32", [1, 512]]``.
TensorPair = tuple[str, tuple[Dim, ...]]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a verdict comes from. ``kind``: ``torch_npu`` (registrations of a release), ``observed`` (the real
    adapter on the simulated runtime), ``npu`` (measured on a real NPU), ``cann`` (documented constraints),
    ``override`` (curated), ``host`` (the user's own process)."""

    kind: str
    release: str
    detail: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class NumericCheck:
    """A replacement compared with the original: largest absolute and relative error over all outputs, ``None`` where
    it is not finite (JSON has no such numbers).

    Passed means |error| ≤ ``absolute_tolerance`` + ``tolerance`` × |expected| for every element; ``max_rel_error`` is
    over the elements whose expected magnitude exceeds ``absolute_tolerance``. ``shapes`` are the inputs used;
    ``scaled`` says that the recorded shapes were too large and were scaled down.
    """

    max_abs_error: float | None
    max_rel_error: float | None
    tolerance: float
    passed: bool
    shapes: tuple[TensorPair, ...] = ()
    scaled: bool = False
    absolute_tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class Substitution:
    """Code to write instead. ``supported`` says whether every operator of the replacement is supported on the
    target.
    """

    id: str
    title: str
    before: str
    after: str
    supported: bool
    ops: tuple[str, ...] = ()
    check: NumericCheck | None = None
    note: str = ""
    title_zh: str = ""
    note_zh: str = ""


@dataclass(frozen=True, slots=True)
class LaunchedTensor:
    """A tensor that a kernel was given: the documented name of its parameter, empty where no signature fits, and CANN's
    storage format (``ND``, ``NCHW``)."""

    name: str
    dtype: str
    shape: tuple[Dim, ...]
    format: str = ""


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel that torch_npu was seen to launch for the example call: its API and the tensors among its arguments."""

    api: str
    tensors: tuple[LaunchedTensor, ...] = ()


@dataclass(frozen=True, slots=True)
class AssessedOp:
    """One (name, phase, dtypes, verdict), with one example of its shapes. ``facts`` fill the rule's message in any
    language. ``launches`` and ``copies`` (between host and device) are what a rehearsal saw for the example.
    ``origins`` are the operators of torch that nodes of an ONNX model stand for, where their exporter told. ``routes``:
    a verdict for each route, or ``unknown``.
    """

    name: str
    verdict: Verdict
    rule: str | None
    reason: str | None
    phase: Phase
    count: int
    dtypes: tuple[str, ...]
    inputs: tuple[TensorPair, ...]
    outputs: tuple[TensorPair, ...]
    kernels: tuple[str, ...] = ()
    locations: tuple[Location, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    conflicts: tuple[str, ...] = ()
    substitutions: tuple[Substitution, ...] = ()
    routes: dict[str, str] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)
    launches: tuple[Launch, ...] = ()
    copies: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AssessedFinding:
    """A finding about the model, with its message written out."""

    rule: str
    severity: Severity
    message: str
    locations: tuple[Location, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Summary:
    """``ops`` counts entries, ``calls`` counts executions; the others count entries by verdict."""

    ops: int
    calls: int
    supported: int
    slow: int
    fallback: int
    unsupported: int
    unknown: int


@dataclass(frozen=True, slots=True)
class PersonDays:
    low: float
    likely: float
    high: float


@dataclass(frozen=True, slots=True)
class CostItem:
    """One line of the arithmetic: ``quantity`` × the weight named ``weight`` = ``days``."""

    weight: str
    title: str
    quantity: int
    unit: PersonDays
    days: PersonDays
    title_zh: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    person_days: PersonDays
    items: tuple[CostItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Gate:
    passed: bool
    fail_on: FailOn


@dataclass(frozen=True, slots=True)
class ToolInfo:
    version: str


@dataclass(frozen=True, slots=True)
class ModelInfo:
    reference: str
    parameters: int


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What of the model was run, and how. ``optimizer``: of the training step, None without one. ``tracer``: as it was
    asked for; the trace says which one made the inventory."""

    train: bool = False
    optimizer: Optimizer | None = None
    amp: Amp = "off"
    dynamic: tuple[DynamicInput, ...] = ()
    tracer: str = "auto"


@dataclass(frozen=True, slots=True)
class Blocker:
    """What stops a model in one route: an unsupported operator, all its entries of one rule together; or a finding of
    the severity ``error``, whose ``operator`` is empty. ``facts`` fill the rule's message in any language.
    """

    operator: str
    rule: str | None
    reason: str
    dtypes: tuple[str, ...] = ()
    calls: int = 0
    locations: tuple[Location, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RouteResult:
    """One route of several for the same model.

    Without a ``summary`` the route was not judged: ``reason`` says why in one line, ``hint`` what to do about it. With
    one, a ``reason`` says why the route cannot be walked to its end, such as an export that fails. ``calls`` counts
    executions by verdict. ``findings`` are those that no other route has.
    """

    route: Route
    reason: str = ""
    hint: str = ""
    summary: Summary | None = None
    calls: dict[str, int] = field(default_factory=dict)
    blockers: tuple[Blocker, ...] = ()
    findings: tuple[AssessedFinding, ...] = ()
    person_days: PersonDays | None = None
    trace: Trace | None = None


@dataclass(frozen=True, slots=True)
class RouteComparison:
    """Routes side by side. ``recommended`` is None where none was judged; ``reasons`` say why it and not another."""

    results: tuple[RouteResult, ...]
    recommended: Route | None
    reasons: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class CheckedTracer:
    """One tracer of a cross-check. ``name``: as ``--tracer`` has it, or ``rehearse``. ``ok``: it reached the model's
    end; ``reason`` says why not. ``ops`` counts different operators in different phases, ``calls`` executions; both are
    None without an inventory. ``shown``: the report is about its inventory."""

    name: str
    ok: bool
    shown: bool
    complete: bool = False
    ops: int | None = None
    calls: int | None = None
    reason: str | None = None


#: Why tracers differ about an operator, where it can be told. ``ended``: only those that ended early do. ``rehearsal``:
#: only the rehearsal does, whose torch_npu has kernels of its own. ``view``: no kernel runs for it. ``form``: together
#: with its other forms (in place, other overloads) it is called as often. ``constant``: it has no tensor arguments, or
#: gives a value to Python, so that a captured graph may hold its result.
Cause = Literal["ended", "rehearsal", "view", "form", "constant"]


@dataclass(frozen=True, slots=True)
class Difference:
    """An operator that tracers of a cross-check count differently. ``counts`` are executions by the tracers' names, of
    those that looked at the phase. ``verdict`` is the worst of its entries in the report, else of a tracer that saw
    it."""

    name: str
    phase: Phase
    counts: dict[str, int]
    verdict: Verdict
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """Several tracers on one model. ``agreed``: operators that all inventories count alike."""

    tracers: tuple[CheckedTracer, ...]
    differences: tuple[Difference, ...] = ()
    agreed: int = 0


@dataclass(frozen=True, slots=True)
class Assessment:
    """The whole result. ``warnings`` are about the target itself (an undocumented pair of releases, for instance);
    ``warnings_zh`` are the same in Chinese, in the same order. ``routes`` are all routes side by side, where that was
    asked for; the rest is then about the one that ``target`` names. ``cross_check``: where other tracers were asked.
    ``workload`` is None in a report of an opscan that did not say. ``notes``: what was chosen where nobody said, such
    as the inputs; nothing is wrong there.
    """

    schema: int
    tool: ToolInfo
    model: ModelInfo
    target: Target
    trace: Trace
    ops: tuple[AssessedOp, ...]
    findings: tuple[AssessedFinding, ...]
    summary: Summary
    cost: Cost
    gate: Gate
    warnings: tuple[str, ...] = ()
    warnings_zh: tuple[str, ...] = ()
    routes: RouteComparison | None = None
    cross_check: CrossCheck | None = None
    workload: RunInfo | None = None
    notes: tuple[Text, ...] = ()
