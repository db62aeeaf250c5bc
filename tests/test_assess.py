"""Grouping, ordering and counting of judged calls."""

from __future__ import annotations

from typing import Any

import pytest

from opscan.assess import assemble, assess_findings, judge_calls, summarise
from opscan.assessment import VERDICTS, Assessment, Substitution
from opscan.inventory import Attempt, Finding, Inventory, Location, OpCall, Phase, TensorSpec, Trace
from opscan.matrix.claims import KernelClaim, Registration
from opscan.target import Target

TRACE = Trace("dispatch", "virtual", "2.13.0", approximate=False, complete=True, attempts=(Attempt("dispatch", True),))


class FakeMatrix:
    target = Target("2.13.0", "9.1.0", "ascend910b")
    torch_release = "2.13.0"
    converters = None
    cann = roots = ()
    keys: dict[str, tuple[str, ...]] = {  # noqa: RUF012
        "aten::relu": ("PrivateUse1",),
        "aten::add.Tensor": ("PrivateUse1",),
        "aten::lgamma": ("CPU",),
        "aten::nothing": (),
        "aten::nonzero": ("PrivateUse1",),
        "aten::odd": ("PrivateUse1",),
    }

    def registration(self, name: str) -> Registration | None:
        return Registration(frozenset(self.keys[name])) if name in self.keys else None

    def kernels(
        self, name: str, dtypes: tuple[str, ...], results: tuple[str, ...] = (), rank: int | None = None
    ) -> KernelClaim:
        if "float64" in dtypes:
            return KernelClaim("unsupported", "dtype", "aclnnRelu", "self", "float64")
        return KernelClaim("unknown", "unverified") if name == "aten::odd" else KernelClaim("supported")


def call(
    name: str,
    line: int | None = None,
    dtypes: tuple[str, ...] = ("float32",),
    shape: tuple[int, ...] = (2,),
    phase: Phase = "forward",
    **fields: Any,
) -> OpCall:
    location = Location("model.py", line) if line else None
    inputs = tuple(TensorSpec(d, shape) for d in dtypes)
    return OpCall(name, phase, inputs, inputs[:1], location=location, **fields)


def inventory(*calls: OpCall, findings: tuple[Finding, ...] = ()) -> Inventory:
    return Inventory("model.py", 12, TRACE, calls, findings)


def assess(*calls: OpCall, **options: Any) -> Assessment:
    found = inventory(*calls, findings=options.pop("findings", ()))
    matrix: Any = FakeMatrix()
    judged = judge_calls(found, matrix)
    return assemble(found, matrix, judged, options.pop("substitutions", {}), options.pop("fail_on", "unsupported"))


def test_calls_of_one_kind_are_one_entry() -> None:
    ops = assess(call("aten::relu", 3, count=2), call("aten::relu", 5, shape=(7, 7)), call("aten::relu", 3)).ops
    assert len(ops) == 1
    assert ops[0].count == 4
    assert [place.line for place in ops[0].locations] == [3, 5]
    assert ops[0].inputs == (("float32", (2,)),)


def test_entries_differ_by_phase_by_dtypes_and_by_verdict() -> None:
    ops = assess(
        call("aten::relu"),
        call("aten::relu", phase="backward"),
        call("aten::relu", dtypes=("float16",)),
        call("aten::relu", dtypes=("float64",)),
    ).ops
    assert [(op.phase, op.dtypes, op.verdict) for op in ops] == [
        ("forward", ("float64",), "unsupported"),
        ("forward", ("float16",), "supported"),
        ("forward", ("float32",), "supported"),
        ("backward", ("float32",), "supported"),
    ]


def test_repeated_dtypes_are_told_once_in_order() -> None:
    ops = assess(call("aten::add.Tensor", dtypes=("float32", "int64", "float32"))).ops
    assert ops[0].dtypes == ("float32", "int64")


def test_the_worst_come_first_then_the_phases_in_order() -> None:
    ops = assess(
        call("aten::relu"),
        call("aten::odd"),
        call("aten::nonzero"),
        call("aten::lgamma", phase="backward"),
        call("aten::lgamma"),
        call("aten::nothing", phase="optimizer"),
    ).ops
    assert [(op.name, op.verdict, op.phase) for op in ops] == [
        ("aten::nothing", "unsupported", "optimizer"),
        ("aten::lgamma", "fallback", "forward"),
        ("aten::lgamma", "fallback", "backward"),
        ("aten::nonzero", "slow", "forward"),
        ("aten::odd", "unknown", "forward"),
        ("aten::relu", "supported", "forward"),
    ]
    assert sorted({VERDICTS.index(op.verdict) for op in ops}) == [0, 1, 2, 3, 4]


def test_the_same_signature_with_other_attributes_is_judged_anew() -> None:
    keys = FakeMatrix.keys | {"aten::_to_copy": ("PrivateUse1",)}
    found = inventory(
        call("aten::_to_copy", 1),
        call("aten::_to_copy", 2, attributes=(("device", "device(type='cpu')"),)),
    )
    matrix: Any = FakeMatrix()
    matrix.keys = keys
    assert [(j.ruling.verdict, j.example.location.line) for j in judge_calls(found, matrix) if j.example.location] == [
        ("slow", 2),
        ("supported", 1),
    ]


def test_the_summary_counts_entries_and_calls() -> None:
    assessment = assess(call("aten::relu", count=5), call("aten::lgamma", count=2), call("aten::nothing"))
    summary = assessment.summary
    assert (summary.ops, summary.calls) == (3, 8)
    assert (summary.supported, summary.fallback, summary.unsupported, summary.slow, summary.unknown) == (1, 1, 1, 0, 0)
    assert summary == summarise(assessment.ops)


def test_the_gate_follows_the_summary() -> None:
    assert not assess(call("aten::nothing")).gate.passed
    assert assess(call("aten::nothing"), fail_on="never").gate.passed
    assert assess(call("aten::lgamma")).gate.passed
    assert not assess(call("aten::lgamma"), fail_on="fallback").gate.passed


def test_a_model_that_calls_nothing() -> None:
    assessment = assess()
    assert assessment.ops == ()
    assert assessment.gate.passed
    assert assessment.model.parameters == 12


def test_substitutions_stay_with_their_entry() -> None:
    offer = Substitution("float64-to-float32", "t", "a", "b", supported=True)
    ops = assess(call("aten::relu"), call("aten::relu", dtypes=("float64",)), substitutions={0: (offer,)}).ops
    assert [op.substitutions for op in ops] == [(offer,), ()]
    assert ops[0].dtypes == ("float64",)


def test_routes_of_which_no_table_tells_are_unknown() -> None:
    assert assess(call("aten::lgamma")).ops[0].routes == {"eager": "fallback", "graph": "unknown", "offline": "unknown"}


def test_an_onnx_node_says_which_operators_it_stands_for() -> None:
    nodes = [
        call("ai.onnx::Add", attributes=(("opset", "18"), ("origin", of))) for of in ("aten::add.Tensor", "aten::addmm")
    ]
    assert assess(*nodes, call("aten::relu")).ops[-1].origins == ()
    (node,) = (op for op in assess(*nodes).ops)
    assert node.origins == ("aten::add.Tensor", "aten::addmm")
    assert node.routes["graph"] == "unknown"


def finding(rule: str, line: int, **facts: str) -> Finding:
    return Finding(rule, facts, (Location("model.py", line),))


def test_the_same_finding_at_several_lines_is_one() -> None:
    found = assess_findings([
        finding("OPS601", 3, what="Tensor.cuda()"),
        finding("OPS601", 9, what="Tensor.cuda()"),
        finding("OPS601", 4, what="torch.cuda.is_available()"),
    ])  # fmt: skip
    assert [[place.line for place in f.locations] for f in found] == [[3, 9], [4]]
    assert "Tensor.cuda()" in found[0].message


def test_findings_are_ordered_by_severity() -> None:
    found = assess_findings([finding("OPS602", 1, factory="torch.arange"), finding("OPS604", 2, operator="aten::add")])
    assert [f.severity for f in found] == ["warning", "info"]


@pytest.mark.parametrize("rule", ["OPS601", "OPS602", "OPS603", "OPS604"])
def test_findings_carry_their_facts(rule: str) -> None:
    found = assess_findings([Finding(rule, {"what": "w", "factory": "f", "answer": "a", "operator": "o"})])
    assert found[0].facts["what"] == "w"
    assert "{" not in found[0].message
