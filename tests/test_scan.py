"""The scan joins its parts: what the tracer is told of the target, which replacements are looked for and believed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from opscan.assess import Judged
from opscan.assessment import NumericCheck, RunInfo, Substitution
from opscan.errors import OpscanError
from opscan.inventory import Inventory, OpCall, TensorSpec, Trace
from opscan.loading.reference import parse_reference
from opscan.matrix.query import Matrix
from opscan.matrix.releases import installed_torch
from opscan.rules.registry import RULES
from opscan.scan import _REPLACEABLE, ScanRequest, _run, _Substitutions, _widest, release_for
from opscan.substitution.interface import CheckResult, Text
from opscan.target import Target
from opscan.verdict import Ruling
from opscan.worker.protocol import Check, Checked
from opscan.workload import DynamicInput, Optimizer, Workload

TARGET = Target("2.13.0", "9.1.0", "ascend910b")
PASSED = NumericCheck(0.0, 0.0, 1e-6, passed=True)


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return Matrix.load(TARGET)


def test_the_tracer_is_told_of_kernels_derivatives_and_autocast(matrix: Matrix) -> None:
    release = release_for(matrix)
    assert (release.torch, release.torch_npu) == ("2.13.0", "2.13.0")
    assert "aten::addmm" in release.registered
    assert "npu::npu_fusion_attention_v3" in release.registered
    assert "aten::lgamma" not in release.registered
    assert "aten::_weight_norm" in release.differentiable
    assert {"aten::linear", "aten::softmax.int"} <= release.autocast
    assert "aten::relu" not in release.autocast


def test_the_host_torch_is_known_without_torch() -> None:
    import torch

    assert (installed_torch() or "").partition("+")[0] == torch.__version__.partition("+")[0]


# --- what was run ---------------------------------------------------------------------------------------------


def test_the_result_says_what_was_run() -> None:
    asked = Workload(True, Optimizer("sgd", (("momentum", "0.9"),)), "fp16", (DynamicInput("x", (0,)),))
    request = ScanRequest(parse_reference("timm:resnet18"), workload=asked, tracer="export")
    assert _run(request) == RunInfo(True, asked.optimizer, "fp16", asked.dynamic, "export")
    assert _run(replace(request, workload=replace(asked, train=False))).optimizer is None


def test_an_exported_model_infers_as_it_stands() -> None:
    asked = Workload(True, amp="fp16", dynamic=(DynamicInput("x", (0,)),))
    request = ScanRequest(parse_reference("timm:resnet18"), workload=asked, route="offline")
    assert _run(request) == RunInfo(dynamic=asked.dynamic)


# --- replacements ---------------------------------------------------------------------------------------------


def call(name: str, *dtypes: str) -> OpCall:
    inputs = tuple(TensorSpec(d, (2, 3)) for d in dtypes)
    return OpCall(name, "forward", inputs, inputs[:1], parameters=("self",) if len(inputs) == 1 else ())


def judged(name: str, rule: str | None, *dtypes: str, **facts: str) -> Judged:
    verdict = RULES[rule].verdict if rule else "supported"
    return Judged(Ruling(verdict or "supported", rule, facts), [call(name, *dtypes)])


class FakeWorker:
    """Answers checks; ``asked`` are the calls."""

    def __init__(self, answer: Callable[[Check], Checked]) -> None:
        self._answer = answer
        self.asked: list[str] = []

    def check(self, request: Check) -> Checked:
        self.asked.append(request.match.call.name)
        return self._answer(request)


def traced(*calls: OpCall) -> Inventory:
    return Inventory("", 0, Trace("dispatch", "virtual", "2.13.0", False, True), calls)


def offers(
    matrix: Matrix, entries: list[Judged], answer: Callable[[Check], Checked]
) -> tuple[dict[int, tuple[Substitution, ...]], FakeWorker]:
    worker = FakeWorker(answer)
    anything: Any = worker
    return _Substitutions(anything, matrix, release_for(matrix), lambda stage: None).find(entries), worker


def believed(request: Check) -> Checked:
    return Checked(CheckResult(PASSED), traced(call("aten::expm1", "float32")))


def test_a_refused_dtype_is_replaced(matrix: Matrix) -> None:
    entries = [
        judged("aten::relu", None, "float32"),
        judged("aten::expm1", "OPS104", "float64", dtype="float64"),
    ]
    found, worker = offers(matrix, entries, believed)
    assert worker.asked == ["aten::expm1"]
    assert list(found) == [1]
    (offer,) = found[1]
    assert (offer.id, offer.supported, offer.check) == ("float64-to-float32", True, PASSED)
    assert offer.ops == ("aten::expm1",)
    assert "float32" in offer.after
    assert offer.title_zh
    assert offer.note_zh


@pytest.mark.parametrize("rule", sorted(set(RULES) - {"OPS601", "OPS602", "OPS603", "OPS604", "OPS605"}))
def test_replacements_are_looked_for_where_a_dtype_is_to_blame(matrix: Matrix, rule: str) -> None:
    if RULES[rule].verdict is None:
        return
    found, _ = offers(matrix, [judged("aten::expm1", rule, "float64", dtype="float64")], believed)
    assert bool(found) is (rule in _REPLACEABLE)


def test_a_replacement_with_an_unsupported_operator_is_not_supported(matrix: Matrix) -> None:
    def answer(request: Check) -> Checked:
        return Checked(CheckResult(PASSED), traced(call("aten::expm1", "float32"), call("aten::lgamma", "float32")))

    found, _ = offers(matrix, [judged("aten::expm1", "OPS104", "float64", dtype="float64")], answer)
    assert found[0][0].supported is False
    assert found[0][0].ops == ("aten::lgamma", "aten::expm1")


def test_a_replacement_that_could_not_be_traced_says_why(matrix: Matrix) -> None:
    def answer(request: Check) -> Checked:
        return Checked(CheckResult(PASSED, Text("A note.", "说明。")), None, "no shape function")

    found, _ = offers(matrix, [judged("aten::expm1", "OPS104", "float64", dtype="float64")], answer)
    (offer,) = found[0]
    assert (offer.supported, offer.ops) == (False, ())
    assert "A note." in offer.note
    assert "no shape function" in offer.note
    assert "说明。" in offer.note_zh


def test_a_check_that_kills_its_process_does_not_fail_the_scan(matrix: Matrix) -> None:
    def answer(request: Check) -> Checked:
        raise OpscanError("The process was killed by SIGSEGV.", "hint")

    found, _ = offers(matrix, [judged("aten::expm1", "OPS104", "float64", dtype="float64")], answer)
    (offer,) = found[0]
    assert (offer.supported, offer.check) == (False, None)
    assert "SIGSEGV" in offer.note
    assert offer.after


def test_an_operator_that_no_family_knows_has_no_offer(matrix: Matrix) -> None:
    found, worker = offers(matrix, [judged("aten::_fft_c2c", "OPS104", "int64", dtype="int64")], believed)
    assert found == {}
    assert worker.asked == []


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        (("float32", "complex64"), "complex64"),
        (("float64", "complex128"), "complex128"),
        (("int64", "float64"), "float64"),
        (("int64", "float32"), "int64"),
        ((), ""),
    ],
)
def test_the_dtype_to_replace_where_the_refusal_names_none(dtypes: tuple[str, ...], expected: str) -> None:
    assert _widest(call("aten::a", *dtypes)) == expected
