"""Hand-built assessments: one with every kind of verdict, one whose every string is hostile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from opscan.assessment import (
    VERDICTS,
    AssessedFinding,
    AssessedOp,
    Assessment,
    Blocker,
    CheckedTracer,
    Cost,
    CostItem,
    CrossCheck,
    Difference,
    Evidence,
    Gate,
    ModelInfo,
    NumericCheck,
    PersonDays,
    RouteComparison,
    RouteResult,
    RunInfo,
    Substitution,
    Summary,
    ToolInfo,
    Verdict,
)
from opscan.inventory import Attempt, Location, Trace
from opscan.rendering.interface import Lang
from opscan.target import Target
from opscan.text import Text
from opscan.workload import DynamicInput, Optimizer

ROTARY = Substitution(
    id="complex-rotary",
    title="Rotary embedding with real pairs instead of complex numbers",
    before="freqs = torch.polar(torch.ones_like(angles), angles)\nx = torch.view_as_complex(x) * freqs[positions]",
    after=(
        "cos, sin = angles.cos()[positions], angles.sin()[positions]\n"
        "real, imag = x[..., 0], x[..., 1]\n"
        "x = torch.stack((real * cos - imag * sin, real * sin + imag * cos), dim=-1)"
    ),
    supported=True,
    ops=("aten::index.Tensor", "aten::mul.Tensor", "aten::stack"),
    check=NumericCheck(1.1920929e-07, 3.4e-06, 1e-05, True, (("float32", (2, 64, 8, 64)),), True, 1e-06),
    note="Keep the angles in float32; positions stay int64.",
    title_zh="用实数对代替复数的旋转位置编码",
    note_zh="角度保持 float32，positions 保持 int64。",
)

FLOAT64 = Substitution(
    id="float64",
    title="float32 instead of float64",
    before="steps = torch.linspace(0, 1, n, dtype=torch.float64)",
    after="steps = torch.linspace(0, 1, n, dtype=torch.float32)",
    supported=False,
    check=NumericCheck(None, 0.2, 1e-05, False, (("float64", (1024,)),)),
)


def make_op(name: str, verdict: Verdict = "supported", **changes: object) -> AssessedOp:
    op = AssessedOp(
        name=name,
        verdict=verdict,
        rule=None,
        reason=None,
        phase="forward",
        count=1,
        dtypes=("float32",),
        inputs=(("float32", (1, 512)),),
        outputs=(("float32", (1, 512)),),
    )
    return replace(op, **changes)  # type: ignore[arg-type]


def make_summary(ops: tuple[AssessedOp, ...]) -> Summary:
    verdicts = {verdict: sum(op.verdict == verdict for op in ops) for verdict in VERDICTS}
    return Summary(ops=len(ops), calls=sum(op.count for op in ops), **verdicts)


def with_ops(assessment: Assessment, *ops: AssessedOp) -> Assessment:
    return replace(assessment, ops=ops, summary=make_summary(ops))


def cost_line(weight: str, title: str, quantity: int, unit: PersonDays, title_zh: str = "") -> CostItem:
    days = PersonDays(quantity * unit.low, quantity * unit.likely, quantity * unit.high)
    return CostItem(weight, title, quantity, unit, days, title_zh)


def sample_ops() -> tuple[AssessedOp, ...]:
    registered = Evidence("torch_npu", "2.6.0.post5", "PrivateUse1")
    observed = Evidence("observed", "2.13.0", "launches its kernel", "Ascend910B3, simulated runtime")
    documented = Evidence("cann", "8.5.0", "aclnnIndex, parameter self", "cann/ops-nn@1f2e3d4c")
    return (
        make_op(
            "aten::addmm",
            count=64,
            kernels=("aclnnAddmm",),
            inputs=(("float32", (4096,)), ("float32", (64, 4096)), ("float32", (4096, 4096))),
            locations=tuple(Location("llama_block.py", 41, f"layers.{n}.attention.wq") for n in range(4)),
            evidence=(registered, observed),
            routes={"eager": "supported", "graph": "unknown", "offline": "unknown"},
        ),
        make_op(
            "aten::index.Tensor",
            "unsupported",
            rule="OPS104",
            reason="aclnnIndex does not list complex64 for parameter self at CANN 8.5.0 on ascend910b",
            facts={"api": "aclnnIndex", "dtype": "complex64", "parameter": "self"},
            count=2,
            dtypes=("complex64", "int64"),
            inputs=(("complex64", (2048, 64)), ("int64", ("batch", 64))),
            outputs=(("complex64", ("batch", 64, 64)),),
            kernels=("aclnnIndex",),
            locations=(
                Location("llama_block.py", 31, "layers.0.attention"),
                Location("llama_block.py", 31, "layers.1.attention"),
                Location("llama_block.py", 36, "layers.0.attention"),
            ),
            evidence=(registered, observed, documented),
            routes={"eager": "unsupported", "graph": "unknown", "offline": "unknown"},
            substitutions=(ROTARY,),
        ),
        make_op(
            "aten::nonzero",
            "slow",
            rule="OPS203",
            reason="the size of its result depends on data, so the host waits for the NPU",
            dtypes=("bool",),
            inputs=(("bool", (8732,)),),
            outputs=(("int64", ("u0", 1)),),
            kernels=("aclnnNonzeroV2",),
            locations=(Location("detector.py", 88, "postprocess"),),
            evidence=(registered,),
        ),
        make_op(
            "torchvision::nms",
            "fallback",
            rule="OPS102",
            reason="torch_npu 2.6.0.post5 registers no kernel for it, so it runs on the CPU",
            inputs=(("float32", (200, 4)), ("float32", (200,))),
            outputs=(("int64", ("u1",)),),
            locations=(Location("detector.py", 97, "postprocess"),),
            evidence=(Evidence("host", "", "CPU, CUDA"),),
        ),
        make_op(
            "aten::linspace",
            "unknown",
            rule="OPS303",
            reason="sources disagree on float64",
            dtypes=("float64",),
            inputs=(),
            outputs=(("float64", (1024,)),),
            conflicts=("CANN 8.1.RC1 lists float64 for aclnnLinspace, CANN 8.5.0 does not",),
            locations=(Location("llama_block.py", 12, ""),),
            evidence=(documented,),
            substitutions=(FLOAT64,),
        ),
        make_op(
            "aten::logcumsumexp",
            "unknown",
            rule="OPS302",
            reason="registered, but never observed at these dtypes",
            phase="backward",
            dtypes=("bfloat16",),
            parts=("aten::_logcumsumexp",),
        ),
    )


def sample_assessment() -> Assessment:
    ops = sample_ops()
    return Assessment(
        schema=1,
        tool=ToolInfo("0.1.0"),
        model=ModelInfo("examples/llama_block.py", 25_557_032),
        target=Target("2.6.0.post5", "8.5.0", "ascend910b"),
        trace=Trace(
            "dispatch",
            "virtual",
            "2.13.0",
            approximate=True,
            complete=False,
            unseen=("operators after detector.py:91 for more than one box",),
            attempts=(Attempt("export", False, "Data-dependent value at detector.py:91"), Attempt("dispatch", True)),
        ),
        ops=ops,
        findings=(
            AssessedFinding(
                "OPS601", "warning", "a cuda device is hard-coded; it was redirected", (Location("llama_block.py", 9),)
            ),
            AssessedFinding(
                "OPS611",
                "info",
                "a Python loop runs over a result that depends on data",
                (Location("detector.py", 91, "postprocess"),),
                {"value": "keep"},
            ),
        ),
        summary=make_summary(ops),
        cost=Cost(
            PersonDays(1.75, 3.5, 7.0),
            (
                cost_line("rewrite_known", "operators with a known replacement", 1, PersonDays(0.25, 0.5, 1.0)),
                cost_line(
                    "fallback", "operators that fall back to the CPU", 1, PersonDays(0.5, 1.0, 2.0), "回退到 CPU 的算子"
                ),
                cost_line("unknown", "operators to test on the target", 2, PersonDays(0.5, 1.0, 2.0)),
            ),
        ),
        gate=Gate(False, "unsupported"),
        warnings=("torch_npu 2.6.0.post5 is documented for CANN 8.3.RC1, not 8.5.0",),
        cross_check=CrossCheck(
            (
                CheckedTracer("dispatch", True, True, False, 6, 70),
                CheckedTracer("export", False, False, reason="Data-dependent value\n  at detector.py:91"),
                CheckedTracer("jit", True, False, True, 1_234, 68),
            ),
            (
                Difference("torchvision::nms", "forward", {"dispatch": 1, "jit": 0}, "fallback"),
                Difference("aten::nonzero", "forward", {"dispatch": 1, "jit": 0}, "slow", "constant"),
                Difference("aten::logcumsumexp", "backward", {"dispatch": 1}, "slow", "ended"),
            ),
            1,
        ),
    )


#: Markup, terminal escapes (colour, title, clear screen, C1), bidirectional controls, line breaks, a lone surrogate.
HOSTILE = (
    "<img src=x onerror=alert(1)><script>alert(2)</script>\"'`{{7*7}}{% raw %}[red]&amp;"
    "\x1b[2J\x1b]0;owned\x07\x9b31m\u202egnp.exe\u2066\u200b\r\n\t\x00\udc80</style></script>"
)


def hostile_assessment() -> Assessment:
    """Every free string of an assessment is :data:`HOSTILE` or holds it; one name has 20,000 characters besides."""
    place = (Location(HOSTILE, 1, HOSTILE),)
    check = NumericCheck(float("nan"), float("inf"), 1e-5, False, ((HOSTILE, (1, HOSTILE)),), True)
    replacement = Substitution(HOSTILE, HOSTILE, HOSTILE, HOSTILE, False, (HOSTILE,), check, HOSTILE)
    op = make_op(
        HOSTILE,
        "unsupported",
        rule=HOSTILE,
        reason=HOSTILE,
        dtypes=(HOSTILE,),
        inputs=((HOSTILE, (HOSTILE, 2)),),
        outputs=((HOSTILE, ()),),
        kernels=(HOSTILE,),
        locations=place,
        evidence=(Evidence(HOSTILE, HOSTILE, HOSTILE, HOSTILE),),
        conflicts=(HOSTILE,),
        substitutions=(replacement,),
        routes={HOSTILE: HOSTILE},
        parts=(HOSTILE,),
        facts={HOSTILE: HOSTILE},
    )
    long = make_op("aten::" + "very_long_name_" * 1400, "fallback", rule="OPS102", reason="r" * 5000)
    days = PersonDays(1, 1, 1)
    return with_ops(
        replace(
            sample_assessment(),
            tool=ToolInfo(HOSTILE),
            model=ModelInfo(HOSTILE, 1),
            target=Target(HOSTILE, HOSTILE, HOSTILE),
            trace=Trace(HOSTILE, HOSTILE, HOSTILE, True, False, (HOSTILE,), (Attempt(HOSTILE, False, HOSTILE),)),
            findings=(AssessedFinding(HOSTILE, "error", HOSTILE, place, {HOSTILE: HOSTILE}),),
            cost=Cost(days, (CostItem(HOSTILE, HOSTILE, 1, days, days),)),
            warnings=(HOSTILE,),
            notes=(Text(HOSTILE, HOSTILE),),
            routes=hostile_routes(place),
            cross_check=CrossCheck(
                (CheckedTracer(HOSTILE, False, True, False, 1, 1, HOSTILE),),
                (Difference(HOSTILE, "forward", {HOSTILE: 1}, "unsupported"),),
            ),
            workload=RunInfo(
                True,
                Optimizer(HOSTILE, ((HOSTILE, HOSTILE),)),
                dynamic=(DynamicInput(HOSTILE, (0, 1)),),
                tracer=HOSTILE,
            ),
        ),
        op,
        long,
    )


def hostile_routes(place: tuple[Location, ...]) -> RouteComparison:
    blocker = Blocker(HOSTILE, HOSTILE, HOSTILE, (HOSTILE,), 1, place, {HOSTILE: HOSTILE})
    finding = AssessedFinding(HOSTILE, "warning", HOSTILE, place, {HOSTILE: HOSTILE})
    blocked = RouteResult(
        "graph",
        HOSTILE,
        HOSTILE,
        Summary(1, 1, 0, 0, 0, 1, 0),
        {HOSTILE: 1},
        (blocker,),
        (finding,),
        PersonDays(1, 1, 1),
    )
    return RouteComparison((blocked, RouteResult("offline", HOSTILE, HOSTILE)), "graph", (Text(HOSTILE, HOSTILE),))


class SampleMessages:
    """Stands in for the rules: they know Chinese texts of the rules in the sample, and echo the facts."""

    def title(self, rule: str, lang: Lang) -> str | None:
        return {"en": "dtype not accepted", "zh": "数据类型不被接受"}[lang] if rule == "OPS104" else None

    def message(self, rule: str, lang: Lang, facts: Mapping[str, str]) -> str | None:
        if rule != "OPS104" or lang != "zh":
            return None
        return "{api} 的参数 {parameter} 未列出 {dtype}".format(**facts)

    def why(self, rule: str, lang: Lang) -> str | None:
        return {"en": "The kernel rejects the call", "zh": "内核拒绝该调用"}[lang] if rule == "OPS104" else None

    def fix(self, rule: str, lang: Lang) -> str | None:
        return {"en": "Use a listed dtype", "zh": "改用受支持的数据类型"}[lang] if rule == "OPS104" else None


@pytest.fixture
def sample() -> Assessment:
    return sample_assessment()


@pytest.fixture
def hostile() -> Assessment:
    return hostile_assessment()


@pytest.fixture
def messages() -> SampleMessages:
    return SampleMessages()


@pytest.fixture
def op() -> Callable[..., AssessedOp]:
    return make_op


@pytest.fixture
def with_operators() -> Callable[..., Assessment]:
    return with_ops


@pytest.fixture
def hostile_text() -> str:
    return HOSTILE
