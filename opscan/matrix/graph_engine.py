"""Whether CANN has a kernel of a graph-engine operator for given dtypes, and on which engine.

What one parameter says of a dtype is *yes* (listed), *no* (not listed) or *open* (it has no list, or its list is a
bound: the operator's prototype, which holds for every SoC, or what a kernel takes for some shapes). A kernel fits where
all that matter say yes and fails where one says no. The AI Core comes first, the AI CPU computes what it refuses, and
the host only folds constants.

The compiler converts floating-point inputs where a kernel lacks their dtype: it always widens float16 and bfloat16 to
float32, and narrows unless told to keep dtypes. ATC narrows by default (``force_fp16``), torchair does not, and
torch_npu lets single operators be narrowed on SoCs before Ascend910B1. Source: hicann/ge
``compiler/engines/nn_engine/optimizer/ops_kernel_store/sub_ops_store.cc``, ``api/atc/main_impl.cc`` @ffdcbc9f7496.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from opscan.matrix.claims import ClaimCode
from opscan.matrix.files import GeKernel, GeOp, GeParameter
from opscan.matrix.join import Judgement
from opscan.matrix.launches import Launch
from opscan.matrix.local_engine import LOCAL

Engine = Literal["ai_core", "ai_cpu", "local", ""]

_FLOATING = frozenset({"float16", "float32", "bfloat16", "float64"})

#: Dtypes of axes, sizes and positions.
_INDICES = frozenset({"int32", "int64"})

#: The dtype of a tensor whose dtype nothing tells.
UNKNOWN = "unknown"

#: Dtype → those that may stand in for it without loss, and those that it is narrowed to.
_WIDER = {"float16": ("float32",), "bfloat16": ("float32",)}
_NARROWER = {"float32": ("float16", "bfloat16"), "bfloat16": ("float16",)}


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What the kernels of one operator say.

    ``engine``: where it runs, ``""`` where that is not known. ``parameter``, ``dtype``: what refuses or is open.
    ``narrowed``: the dtype it is computed in where that is less precise than the one asked about. ``borrowed``:
    releases whose lists answered. ``sources``: where the deciding kernels are defined.
    """

    status: Literal["supported", "unsupported", "unknown"]
    code: ClaimCode = "ok"
    engine: Engine = ""
    parameter: str = ""
    dtype: str = ""
    detail: str = ""
    narrowed: str = ""
    borrowed: frozenset[str] = frozenset()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Fit:
    """What one kernel says of a call: ``parameter`` and ``dtype`` are the first that is not a yes."""

    kernel: GeKernel
    says: Literal["yes", "open", "no"]
    parameter: str = ""
    dtype: str = ""
    detail: str = ""
    narrowed: str = ""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one parameter says of one dtype."""

    says: Literal["yes", "open", "no"]
    parameter: str
    dtype: str
    detail: str = ""
    narrowed: str = field(default="", compare=False)


def accepts(op: GeOp | None, *dtypes: str, name: str = "", narrows: bool = False) -> Acceptance:
    """Whether a call with input ``dtypes`` has a kernel, where it is not known which input has which.

    Each input that carries data must take one of the dtypes, and each dtype must be taken by some input. Inputs carry
    data where they list a floating-point dtype, or all do where none does: an input that lists only integers is an
    index, an axis or a size, one that lists only bool a mask, and neither decides over another dtype. Beside a
    floating-point dtype, integers and bool may be such inputs too, and need not be taken.
    """
    return _over_kernels(op, name, lambda kernel: _fit_any(kernel, dtypes, narrows))


@dataclass(frozen=True, slots=True)
class NamedInput:
    """An input of an operator in a graph: the parameter's name, and the dtypes of its tensors (several of a list).

    ``constant``: it is written into the graph. What a converter writes for an axis or a size is its own choice of an
    integer dtype, and does not decide: converters are tested so, whichever of the two the kernel lists.
    """

    name: str
    dtypes: tuple[str, ...]
    constant: bool = False


def accepts_inputs(
    op: GeOp | None, inputs: tuple[NamedInput | None, ...], results: tuple[str, ...] = (), name: str = ""
) -> Acceptance:
    """Whether an operator of a graph has a kernel: inputs are matched by name, and by position where a kernel's
    definition names them otherwise.

    None stands for an input that is left out. ``results``: dtypes that the graph asks for, where inputs do not decide
    them. A dtype that no list of dtypes has (``unknown``) leaves the answer open. The compiler is torchair's: it does
    not narrow.
    """
    return _over_kernels(op, name, lambda kernel: _fit_names(kernel, inputs, results))


def judge_launch(launch: Launch, op: GeOp | None, cann: str, narrows: bool = False) -> Judgement:
    """Whether CANN release ``cann`` has a kernel for a launch of the legacy path: inputs are matched by position.

    Trailing inputs may be left out, and a null one says nothing.
    """
    found = _over_kernels(op, launch.api, lambda kernel: _fit_positions(kernel, launch, narrows))
    detail = found.detail or (f"{launch.api} has no entry at CANN {cann}" if found.code == "undocumented" else "")
    slow = next((d for a in launch.arguments for d in a.dtypes), "no tensor") if found.engine == "ai_cpu" else ""
    return Judgement(
        found.status,
        found.code,
        launch.api,
        found.parameter,
        found.dtype,
        detail,
        ai_cpu=slow,
        borrowed=found.borrowed,
    )


def _over_kernels(op: GeOp | None, name: str, fit: Callable[[GeKernel], _Fit]) -> Acceptance:
    """The answer of all kernels: a yes of the AI Core, else of the AI CPU, else what is open, else the refusal."""
    if name.rpartition(" ")[2] in LOCAL:
        return Acceptance("supported", engine="local", detail="the graph engine needs no kernel for it")
    if op is None:
        return Acceptance("unknown", "undocumented")
    if op.absent:
        return Acceptance("unsupported", "soc", sources=_sources(op.source))
    fits = [_doubted(fit(kernel)) for kernel in op.kernels if kernel.engine != "host_cpu"]
    core = [f for f in fits if f.kernel.engine == "ai_core"]
    cpu = [f for f in fits if f.kernel.engine == "ai_cpu"]
    if found := _first(core, "yes"):
        return _accepted(found, "ai_core")
    if found := _first(cpu, "yes"):
        if _first(core, "open"):
            return _accepted(found, "", "the AI CPU computes it where the AI Core does not, which is not documented")
        return _accepted(found, "ai_cpu")
    if found := _first(fits, "open"):
        return Acceptance("unknown", "undocumented", "", found.parameter, found.dtype, found.detail, "", *_cited(found))
    if not fits and op.kernels:
        return Acceptance("unknown", "undocumented", detail="only the host has a kernel", sources=_sources(op.source))
    if not core and not op.source:
        return Acceptance("unknown", "undocumented", detail="nothing tells whether the AI Core has a kernel")
    if not fits:
        return Acceptance("unsupported", "soc", sources=_sources(op.source))
    refusal = (core or cpu)[0]
    return Acceptance("unsupported", "dtype", "", refusal.parameter, refusal.dtype, "", "", *_cited(refusal))


def _doubted(fit: _Fit) -> _Fit:
    """A yes of an experimental kernel and a no that another release says are open."""
    if fit.says == "yes" and fit.kernel.experimental:
        return _Fit(fit.kernel, "open", detail="its only definition is experimental")
    if fit.says == "no" and fit.kernel.borrowed:
        detail = f"only CANN {fit.kernel.borrowed} lists dtypes, without {fit.dtype}"
        return _Fit(fit.kernel, "open", fit.parameter, fit.dtype, detail)
    return fit


def _first(fits: list[_Fit], says: str) -> _Fit | None:
    """The first fit that says so; of several, one that loses no precision and is this release's own."""
    order = sorted((f for f in fits if f.says == says), key=lambda f: (bool(f.narrowed), bool(f.kernel.borrowed)))
    return order[0] if order else None


def _accepted(fit: _Fit, engine: Engine, detail: str = "") -> Acceptance:
    return Acceptance("supported", "ok", engine, "", "", detail, fit.narrowed, *_cited(fit))


def _cited(fit: _Fit) -> tuple[frozenset[str], tuple[str, ...]]:
    return frozenset({fit.kernel.borrowed} - {""}), _sources(fit.kernel.source)


def _sources(source: str) -> tuple[str, ...]:
    return (source,) if source else ()


def _inputs(kernel: GeKernel) -> list[GeParameter]:
    return [parameter for parameter in kernel.params if parameter.io == "in"]


def _fit_positions(kernel: GeKernel, launch: Launch, narrows: bool) -> _Fit:
    """Arguments against inputs in order. One input for several arguments takes a list of any length.

    An operator without inputs is told apart by its outputs.
    """
    inputs, arguments = _inputs(kernel), launch.arguments
    if not inputs and not arguments and launch.results and kernel.params:
        return _worst(kernel, [_says(p, d, False) for p, d in zip(kernel.params, launch.results, strict=False)])
    if not inputs:
        return _Fit(kernel, "open", detail=_no_list(kernel))
    if len(inputs) == 1:
        inputs = inputs * len(arguments)
    if len(arguments) > len(inputs):
        return _fit_any(kernel, tuple(d for a in arguments for d in a.dtypes), narrows)
    pairs = [(p, d) for p, a in zip(inputs, arguments, strict=False) for d in a.dtypes]
    return _worst(kernel, [_says(parameter, dtype, narrows) for parameter, dtype in pairs])


def _fit_names(kernel: GeKernel, inputs: tuple[NamedInput | None, ...], results: tuple[str, ...]) -> _Fit:
    listed = _inputs(kernel)
    named = {parameter.name: parameter for parameter in listed}
    if not listed and any(inputs):
        return _Fit(kernel, "open", detail=_no_list(kernel))
    answers = []
    for position, given in enumerate(inputs):
        if given is None:
            continue
        parameter = named.get(given.name) or (listed[position] if position < len(listed) else None)
        if parameter is None:
            missing = f"its {kernel.engine.replace('_', ' ')} kernel documents no input {given.name}"
            answers.append(_Answer("open", given.name, given.dtypes[0] if given.dtypes else "", missing))
            continue
        if not (given.constant and _is_index(parameter) and set(given.dtypes) <= _INDICES):
            answers += [_says(parameter, dtype, False) for dtype in given.dtypes]
    outputs = [parameter for parameter in kernel.params if parameter.io == "out"]
    answers += [_says(parameter, dtype, False) for parameter, dtype in zip(outputs, results, strict=False)]
    return _worst(kernel, answers)


def _is_index(parameter: GeParameter) -> bool:
    """Whether a parameter takes an axis, a size or positions: integers of one of the two usual widths only."""
    return bool(parameter.dtypes) and set(parameter.dtypes) <= _INDICES


def _fit_any(kernel: GeKernel, dtypes: tuple[str, ...], narrows: bool) -> _Fit:
    inputs = _inputs(kernel)
    required = [p for p in inputs if not p.optional] or inputs
    if not required or not dtypes:
        return _Fit(kernel, "open" if not required else "yes", detail="" if required else _no_list(kernel))
    data = [p for p in required if not p.dtypes or set(p.dtypes) & _FLOATING] or required
    floating = tuple(d for d in dtypes if d in _FLOATING)
    main = tuple(dict.fromkeys(floating or dtypes))
    answers = [_best(_says(p, d, narrows) for d in main) for p in data]
    answers += [_best(_says(p, d, narrows) for p in inputs) for d in main]
    return _worst(kernel, answers)


def _says(parameter: GeParameter, dtype: str, narrows: bool) -> _Answer:
    """What a parameter says of a dtype, by itself or as a dtype that the compiler converts it to."""
    if not parameter.dtypes:
        return _Answer("open", parameter.name, dtype, f"no dtypes are documented for {parameter.name}")
    if dtype == UNKNOWN:
        return _Answer("open", parameter.name, dtype, f"the dtype that {parameter.name} is given is not known")
    narrower = _NARROWER.get(dtype, ()) if narrows else ()
    for taken in (dtype, *_WIDER.get(dtype, ()), *narrower):
        if taken in parameter.dtypes:
            if parameter.bound:
                detail = f"{parameter.name} lists {taken}, but not for every SoC and shape"
                return _Answer("open", parameter.name, dtype, detail)
            return _Answer("yes", parameter.name, dtype, narrowed=taken if taken in narrower else "")
    return _Answer("no", parameter.name, dtype)


def _best(answers: Iterable[_Answer]) -> _Answer:
    return min(answers, key=lambda a: (("yes", "open", "no").index(a.says), bool(a.narrowed)))


def _worst(kernel: GeKernel, answers: list[_Answer]) -> _Fit:
    worst = max(answers, key=lambda a: ("yes", "open", "no").index(a.says), default=None)
    if worst is None or worst.says == "yes":
        return _Fit(kernel, "yes", narrowed=next((a.narrowed for a in answers if a.narrowed), ""))
    return _Fit(kernel, worst.says, worst.parameter, worst.dtype, worst.detail)


def _no_list(kernel: GeKernel) -> str:
    return f"no inputs are documented for its {kernel.engine.replace('_', ' ')} kernel"
