"""Small inputs distilled from what people report when they move models to Ascend, each with the right answer.

Every model ends in an inventory or in one clear message. Where evidence cannot decide, ``unknown`` with a reason is the
right answer and ``supported`` would be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from opscan.assessment import AssessedOp, Assessment
from opscan.errors import ModelError
from opscan.loading.reference import parse_reference
from opscan.scan import ScanRequest, scan_with
from opscan.worker.host import Worker
from opscan.workload import Workload

MODELS = Path(__file__).parent / "models"


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as started:
        yield started


@dataclass(frozen=True)
class Case:
    """``verdicts``: (operator, a dtype among its arguments, verdict, rule or None). ``findings``: (rule, line)."""

    model: str
    verdicts: tuple[tuple[str, str, str, str | None], ...] = ()
    findings: tuple[tuple[str, int], ...] = ()
    complete: bool = True
    train: bool = False
    cann: str = "9.1.0"
    torch_npu: str = "2.13.0"
    soc: str = "ascend910b"
    phases: dict[str, str] = field(default_factory=dict)
    substitution: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.model}-{self.torch_npu}-{self.cann}-{self.soc}"


EAGER_ON_A2 = (
    Case("a01", (("aten::isin.Tensor_Tensor", "int64", "supported", None),), (("OPS602", 4),)),
    Case("a01_nms", (("torchvision::nms", "float32", "fallback", "OPS102"),), (("OPS603", 7),), complete=False),
    Case("a02", (("aten::isin.Tensor_Tensor", "int64", "supported", None),)),
    Case("a02", (("aten::isin.Tensor_Tensor", "int64", "supported", None),), torch_npu="2.6.0.post5", cann="8.5.0"),
    Case("a04", (("aten::_scaled_dot_product_efficient_attention", "float32", "unsupported", "OPS101"),)),
    Case(
        "a05",
        (("aten::repeat_interleave.self_int", "float64", "unsupported", "OPS104"),),
        substitution={"aten::repeat_interleave.self_int": "float64-to-float32"},
    ),
    # As reported, the cast comes first: torch_npu narrows it, and expm1 never sees float64.
    Case("a06", (("aten::expm1", "float32", "supported", None),), (("OPS606", 4),)),
    Case("a06", (("aten::expm1", "float32", "supported", None),), (("OPS606", 4),), cann="8.5.0"),
    Case(
        "a06_float64",
        (("aten::expm1", "float64", "unsupported", "OPS104"),),
        substitution={"aten::expm1": "float64-to-float32"},
    ),
    Case("a06_float64", (("aten::expm1", "float64", "unsupported", "OPS104"),), cann="8.5.0"),
    Case(
        "a07",
        (("aten::index.Tensor", "complex64", "unsupported", "OPS104"),),
        cann="8.5.0",
        substitution={"aten::index.Tensor": "complex-to-real"},
    ),
    # The parameter table of 9.1.0 lists complex64, a note below it and the kernel's own check exclude it for A2.
    Case("a07", (("aten::index.Tensor", "complex64", "unsupported", "OPS104"),), cann="9.1.0"),
    Case(
        "a08",
        (("aten::gather", "complex128", "unsupported", "OPS104"),),
        substitution={"aten::gather": "complex-to-real"},
    ),
    Case("a10", (("aten::mul.Tensor", "complex128", "slow", "OPS202"),)),
    Case("a11", (("aten::_to_copy", "complex64", "unsupported", "OPS104"),)),
    Case("a13", (("aten::convolution", "bfloat16", "supported", None),)),
    Case("a13", (("aten::convolution", "bfloat16", "supported", None),), cann="8.5.0"),
    Case(
        "a17",
        (("aten::convolution_backward", "float32", "supported", None),),
        train=True,
        phases={"aten::convolution_backward": "backward"},
    ),
    Case("a20", (("aten::convolution", "bfloat16", "supported", None),)),
    Case("a24", (("aten::bincount", "int64", "slow", "OPS202"),), (("OPS603", 4),), complete=False),
    Case(
        "a25",
        (("aten::index.Tensor", "bool", "slow", "OPS203"), ("aten::_local_scalar_dense", "int64", "slow", "OPS203")),
        (("OPS603", 8), ("OPS603", 10)),
        complete=False,
    ),
    Case("a27", (("torchvision::deform_conv2d", "float32", "unsupported", "OPS101"),)),
    Case("a29", (("aten::grid_sampler_2d", "float32", "supported", None),)),
    Case(
        "a30",
        (("aten::gt.Scalar", "float32", "supported", None), ("aten::mul.Tensor", "float32", "supported", None)),
        train=True,
        phases={"aten::mul.Tensor": "backward"},
    ),
    Case("a43", (("npu::npu_fusion_attention_v3", "float32", "supported", None),)),
    Case("a48", (("aten::unique_dim", "int64", "slow", "OPS203"),), (("OPS603", 4),), complete=False),
    # The CPU is what the adapter falls back on where CANN lacks aclnnUpsampleNearestExact2d; 8.1.RC1 and later have it.
    Case("a50", (("aten::_upsample_nearest_exact2d", "float32", "supported", None),)),
    Case("a52", (("aten::_to_copy", "uint64", "unsupported", None),)),
    Case("a53", (("aten::_to_copy", "float8_e4m3fn", "unsupported", None),)),
    Case("a54", (("opscan_t::fused_experts", "float32", "fallback", "OPS102"),)),
    Case(
        "a55",
        (("npu::npu_lstm", "float32", "supported", None), ("npu::npu_lstm_backward", "float32", "supported", None)),
        train=True,
        phases={"npu::npu_lstm_backward": "backward"},
    ),
    Case("a57", (("aten::_to_copy", "float32", "supported", None),)),
    Case("t12", (("aten::_fft_c2c", "complex64", "supported", None),)),
)

OTHER_TARGETS = (
    # The kernel that stft reaches, aclStft, is in no log and no table: being registered does not make it supported.
    Case("a12", (("aten::stft", "float32", "unknown", "OPS302"),), soc="ascend950pr"),
    # Of the graph-engine operators that a convolution launches, those of 9.1.0 on this SoC are not public.
    Case("a14", (("aten::convolution", "float32", "unknown", "OPS306"),), soc="ascend310p"),
    Case("a18", (("aten::addmm", "bfloat16", "unsupported", "OPS107"),), soc="ascend310p"),
    Case("a18", (("aten::addmm", "bfloat16", "unsupported", "OPS107"),), soc="ascend910"),
    # Observed: without jit-compiled kernel for it, the adapter copies to the host, computes there and copies back.
    Case("a22", (("aten::isneginf", "float32", "slow", "OPS201"),), soc="ascend310p"),
)

TRACING = (
    Case("a42", (("aten::upsample_nearest2d", "float32", "supported", None),)),
    Case("t01", (("aten::index.Tensor", "bool", "slow", "OPS203"),), (("OPS603", 4),), complete=False),
    Case(
        "t02", (("aten::constant_pad_nd", "float32", "supported", None), ("aten::_to_copy", "int64", "slow", "OPS204"))
    ),
    Case(
        "t03",
        (("aten::cumsum", "int64", "slow", "OPS202"), ("aten::arange", "int64", "supported", None)),
        (("OPS603", 4),),
        complete=False,
    ),
    Case("t05", (("aten::add.Tensor", "float32", "supported", None),)),
    Case("t06", (("aten::sum", "float32", "supported", None),)),
    Case("t07", (("aten::embedding", "float32", "supported", None),)),
    Case("t08", (("aten::embedding", "float32", "supported", None),)),
    Case("t09", (("aten::mul.Tensor", "float32", "supported", None),)),
    Case("t10", (("aten::mul.Tensor", "float32", "supported", None),), (("OPS603", 4),), complete=False),
    Case(
        "t17",
        (
            ("cuda_extension::triton.double", "float32", "unknown", "OPS310"),
            ("aten::add.Tensor", "float32", "supported", None),
        ),
        (("OPS611", 3), ("OPS611", 4), ("OPS611", 16)),
    ),
    Case("t18", (("aten::convolution", "float32", "supported", None),), (("OPS603", 7),), complete=False),
    Case("t21", (("aten::add.Tensor", "float32", "supported", None),), (("OPS601", 3),)),
    Case(
        "t22", (("aten::scatter_reduce.two", "float32", "fallback", "OPS102"),), torch_npu="2.6.0.post5", cann="8.5.0"
    ),
)


@pytest.mark.parametrize("case", [*EAGER_ON_A2, *OTHER_TARGETS, *TRACING], ids=str)
def test_case(case: Case, worker: Worker) -> None:
    as_stated(scan(worker, case), case)


def as_stated(result: Assessment, case: Case) -> None:
    """The result says what the case says."""
    for name, dtype, verdict, rule in case.verdicts:
        op = find(result, name, dtype, case.phases.get(name))
        assert op.verdict == verdict, op
        if rule is not None:
            assert op.rule == rule, op
        assert op.evidence
        assert (op.reason is None) == (verdict == "supported")
    for rule, line in case.findings:
        lines = [where.line for f in result.findings if f.rule == rule for where in f.locations]
        assert line in lines, (rule, result.findings)
    assert result.trace.complete is case.complete
    assert all(attempt.ok for attempt in result.trace.attempts)
    for name, family in case.substitution.items():
        offered = [s for op in result.ops if op.name == name for s in op.substitutions if s.id == family]
        assert offered
        assert offered[0].supported
        assert offered[0].check is not None
        assert offered[0].check.passed


def test_token_ids_of_the_wrong_dtype_say_how_to_pass_the_dtype(worker: Worker) -> None:
    with pytest.raises(ModelError) as raised:
        scan(worker, Case("t16"))
    assert "t16.py:5" in raised.value.message
    assert "int64" in raised.value.hint


def test_every_model_is_used() -> None:
    used = {case.model for case in (*EAGER_ON_A2, *OTHER_TARGETS, *TRACING)} | {"t16"}
    assert {path.stem for path in MODELS.glob("*.py")} == used


def scan(worker: Worker, case: Case) -> Assessment:
    reference = parse_reference(str(MODELS / f"{case.model}.py"))
    request = ScanRequest(reference, (), case.torch_npu, case.cann, case.soc, Workload(case.train))
    return scan_with(worker, request, lambda stage: None)


def find(result: Assessment, name: str, dtype: str, phase: str | None) -> AssessedOp:
    found = [
        op
        for op in result.ops
        if op.name == name and dtype in (*op.dtypes, *(d for d, _ in op.outputs)) and phase in (None, op.phase)
    ]
    assert found, f"{name} {dtype} not among {sorted({(op.name, op.dtypes) for op in result.ops})}"
    return found[0]
