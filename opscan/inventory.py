"""What a model executes: operator calls, where they stand in the user's code, and what a trace could not see.

Nothing here imports torch or touches a file: these values travel between the tracing process and the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Phase = Literal["forward", "backward", "optimizer"]

#: A size: a number, or the name of a symbolic dimension.
Dim = int | str


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """One tensor argument or result: dtype by its torch name without the prefix (``float32``), and shape."""

    dtype: str
    shape: tuple[Dim, ...]


@dataclass(frozen=True, slots=True)
class Location:
    """A line of the user's code. ``file`` is relative to the model's folder where it lies below it; ``module`` is the
    qualified name in ``model.named_modules()``, empty for the model itself."""

    file: str
    line: int
    module: str = ""


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """One argument of a kernel launch. ``kind``: ``T`` tensor, ``L`` tensor list, ``S`` scalar, ``I B F Z`` arrays of
    int, bool, float, scalar, ``v`` a plain value, ``0`` null or zero, ``?`` arguments that could not be read. A scalar
    is a tensor spec without dimensions. To a graph-engine operator, ``I`` is a tensor of integers that the graph holds
    as a constant. ``formats`` are CANN's storage formats of the tensors (``ND``, ``NCHW``, ``FRACTAL_NZ``), in the same
    order. ``name`` is that of the parameter, where the launch tells it: a graph-engine operator's own.
    """

    kind: str
    tensors: tuple[TensorSpec, ...] = ()
    formats: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """A kernel that torch_npu asked CANN for: an aclnn API with its arguments in the order of its
    ``GetWorkspaceSize`` call (floating-point values are not seen), or ``GE`` and the graph-engine operator of the
    legacy path, whose ``results`` are apart."""

    api: str
    arguments: tuple[KernelArgument, ...] = ()
    results: tuple[TensorSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class Observed:
    """What torch_npu did for one call, as seen on an NPU or a simulated one.

    ``copies``: copies between host and device that the call made, in order: ``H2D`` or ``D2H``. ``raised``: the message
    with which the adapter refused it, empty where it did not.
    """

    launches: tuple[KernelLaunch, ...] = ()
    copies: tuple[str, ...] = ()
    raised: str = ""


@dataclass(frozen=True, slots=True)
class OpCall:
    """One operator at one call site.

    ``name`` is the qualified overload (``aten::add.Tensor``; ``.default`` is dropped). ``inputs`` are all its tensor
    arguments in schema order, lists flattened, ``None`` left out. ``attributes`` are the other arguments as
    (parameter name, ``repr``) pairs. ``parameters`` names the schema parameter of each input, in the same order; an
    element of a list carries its position (``tensors[0]``; ``indices[1]`` in ``x[:, i]``), and it is empty where the
    tracer knows no schema. ``parts`` are the operators that a composite-explicit kernel calls below the
    Python dispatch key, where a dispatch mode does not see them; empty for every other operator. ``is_view``: the
    result shares an argument's memory, so no kernel runs. ``observed`` is what the adapter did for it; None where the
    call never reached one. ``symbolic``: where sizes of the model's inputs were varied, the shapes of ``inputs`` and
    then of ``outputs`` with what they depend on (``x.2//2``); empty where no size of the call changed.
    """

    name: str
    phase: Phase
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    attributes: tuple[tuple[str, str], ...] = ()
    location: Location | None = None
    count: int = 1
    parts: tuple[OpCall, ...] = ()
    parameters: tuple[str, ...] = ()
    is_view: bool = False
    observed: Observed | None = None
    symbolic: tuple[tuple[Dim, ...], ...] = ()

    @property
    def dtypes(self) -> tuple[str, ...]:
        """dtypes of the tensor arguments, in order; those of the results for an operator without tensor arguments."""
        return tuple(spec.dtype for spec in (self.inputs or self.outputs))


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about the model rather than one operator, by rule id. ``facts`` fill the rule's message."""

    rule: str
    facts: dict[str, str] = field(default_factory=dict)
    locations: tuple[Location, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One tracer that was tried, and why it failed if it did."""

    tracer: str
    ok: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """How an inventory was obtained. ``engine``: ``virtual`` (a virtual device), ``rehearse`` (the real adapter on a
    simulated runtime) or ``cpu``. ``approximate``: the host's torch is not the target's, so decompositions may
    differ. ``complete`` is false where a value that depends on data was assumed; ``unseen`` says in words what was
    not seen. ``values``: whether results were computed; ``values_note`` says why only in part. ``sizes``: what the
    model was run at, a line for each dimension that varies (``x.2 = 224, 256, 320``), whose names stand in symbolic
    shapes."""

    tracer: str
    engine: str
    host_torch: str
    approximate: bool
    complete: bool
    unseen: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    values: Literal["none", "partly", "computed"] = "none"
    values_note: str = ""
    sizes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VaryingInput:
    """A tensor input of the model with sizes that vary: ``shape`` has the symbols, ``sizes`` what was given (0 where
    nothing tells). ``ranges``: of the dimensions that vary, the smallest and largest size where the user said them."""

    name: str
    dtype: str
    shape: tuple[Dim, ...]
    sizes: tuple[int, ...]
    ranges: tuple[tuple[int, int] | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Inventory:
    """Every operator call of one model.

    ``host_kernels`` maps each operator in ``calls`` to the dispatch keys for which the tracing process itself holds an
    explicit kernel: the only evidence there is for operators that the user's own code registers. ``inputs``: the tensor
    inputs, where sizes of some of them vary.
    """

    reference: str
    parameters: int
    trace: Trace
    calls: tuple[OpCall, ...]
    findings: tuple[Finding, ...] = ()
    host_kernels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    inputs: tuple[VaryingInput, ...] = ()
