from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opscan.assessment import (
    AssessedFinding,
    AssessedOp,
    Cost,
    NumericCheck,
    PersonDays,
    Severity,
    Substitution,
    Verdict,
)
from opscan.cost import KINDS, estimate, load_weights
from opscan.errors import OpscanError
from opscan.inventory import Location

PASSED = NumericCheck(0.0, 0.0, 1e-6, passed=True)
FAILED = NumericCheck(1.0, 1.0, 1e-6, passed=False)


def op(name: str, verdict: Verdict, *substitutions: Substitution, dtype: str = "float32") -> AssessedOp:
    return AssessedOp(
        name=name,
        verdict=verdict,
        rule=None,
        reason=None,
        phase="forward",
        count=1,
        dtypes=(dtype,),
        inputs=(),
        outputs=(),
        substitutions=substitutions,
    )


def replaced(check: NumericCheck | None, supported: bool = True) -> Substitution:
    return Substitution("complex-to-real", "", "before", "after", supported, check=check)


def finding(rule: str, severity: Severity, *lines: int) -> AssessedFinding:
    return AssessedFinding(rule, severity, "", tuple(Location("model.py", line) for line in lines))


def days(cost: Cost) -> tuple[float, float, float]:
    return cost.person_days.low, cost.person_days.likely, cost.person_days.high


def quantities(cost: Cost) -> dict[str, int]:
    return {item.weight: item.quantity for item in cost.items}


def test_a_counterpart_in_torch_costs_less_than_a_kernel() -> None:
    known = replace(op("cuda_extension::flash_attn.flash_attn_func", "unsupported"), facts={"counterpart": "yes"})
    unknown = replace(op("cuda_extension::mamba_ssm.selective_scan_fn", "unsupported"), facts={"counterpart": ""})
    assert quantities(estimate([known, unknown], [])) == {
        "base": 1,
        "operator.unsupported": 1,
        "operator.counterpart": 1,
    }


def test_a_model_without_findings_costs_the_base_alone() -> None:
    cost = estimate([op("aten::relu", "supported")], [])
    assert days(cost) == (0.5, 1.0, 2.0)
    assert quantities(cost) == {"base": 1}


def test_the_arithmetic_of_one_of_each() -> None:
    ops = [
        op("aten::a", "unsupported"),
        op("aten::b", "unsupported", replaced(PASSED)),
        op("aten::c", "fallback"),
        op("aten::d", "slow"),
        op("aten::e", "unknown"),
    ]
    cost = estimate(ops, [finding("X1", "error", 3), finding("X2", "warning", 4, 9)], complete=False)
    # 0.5 + 2 + 0.2 + 0.1 + 0.1 + 0.1 + 0.2 + 2 × 0.04 + 0.2, and so on
    assert cost.person_days == PersonDays(3.48, 7.2, 17.4)
    assert [item.days.likely for item in cost.items] == [1.0, 4.0, 0.4, 0.3, 0.2, 0.2, 0.4, 0.2, 0.5]
    assert all(item.title and item.title_zh for item in cost.items)


@pytest.mark.parametrize("substitution", [replaced(None), replaced(FAILED), replaced(PASSED, supported=False)])
def test_an_unverified_substitution_does_not_make_it_cheaper(substitution: Substitution) -> None:
    assert estimate([op("aten::a", "unsupported", substitution)], []) == estimate([op("aten::a", "unsupported")], [])


def test_dtype_variants_of_one_operator_are_one_piece_of_work() -> None:
    one = estimate([op("aten::sort", "unsupported")], [])
    three = estimate(
        [
            op("aten::sort", "unsupported", dtype="float64"),
            op("aten::sort", "unsupported", dtype="complex64"),
            op("aten::sort", "fallback", dtype="int8"),
            op("aten::sort", "supported"),
        ],
        [],
    )
    assert three == one


def test_pieces_after_the_tenth_cost_half_the_cheapest_first() -> None:
    ops = [op(f"aten::{n}", "slow") for n in range(3)] + [op(f"aten::u{n}", "unsupported") for n in range(9)]
    assert [(item.weight, item.quantity, item.unit.likely) for item in estimate(ops, []).items] == [
        ("base", 1, 1.0),
        ("operator.unsupported", 9, 4.0),
        ("operator.slow", 1, 0.2),
        ("operator.slow", 2, 0.1),
    ]


def test_a_line_named_twice_counts_once_and_a_finding_without_lines_counts() -> None:
    cost = estimate([], [finding("X1", "warning", 3, 3, 5), finding("X1", "warning", 5), finding("X2", "error")])
    assert quantities(cost) == {"base": 1, "finding.warning": 2, "finding.error": 1}


def test_a_rule_with_a_weight_of_its_own() -> None:
    cost = estimate([], [finding("OPS601", "warning", 3, 4)])
    assert [(item.weight, item.quantity, item.days.likely) for item in cost.items[1:]] == [("rule.OPS601", 2, 0.08)]


def test_info_costs_nothing() -> None:
    assert estimate([], [finding("X1", "info", 3)]) == estimate([], [])


def test_weights_never_grow_from_the_dearest_kind_to_the_cheapest() -> None:
    weights = load_weights()
    for dearer, cheaper in pairwise(KINDS):
        a, b = weights.operators[dearer], weights.operators[cheaper]
        assert a.low >= b.low
        assert a.likely >= b.likely
        assert a.high >= b.high
    everything = [weights.base, weights.incomplete, *weights.operators.values(), *weights.findings.values()]
    for weight in [*everything, *weights.rules.values()]:
        assert 0 < weight.low <= weight.likely <= weight.high


def test_a_damaged_weights_file_is_named(tmp_path: Path) -> None:
    damaged = tmp_path / "weights.toml"
    damaged.write_text("[base]\nlow = 1\n", encoding="utf-8")
    with pytest.raises(OpscanError, match=r"weights\.toml"):
        load_weights(damaged)


verdicts: st.SearchStrategy[Verdict] = st.sampled_from(["supported", "slow", "fallback", "unsupported", "unknown"])
some_ops = st.builds(
    op,
    st.sampled_from([f"aten::{n}" for n in range(20)]),
    verdicts,
    st.sampled_from([replaced(PASSED), replaced(FAILED)]),
)
some_findings = st.builds(finding, st.sampled_from(["X1", "X2"]), st.just("warning"), st.integers(1, 30)) | st.builds(
    finding, st.sampled_from(["X3"]), st.just("error"), st.integers(1, 30)
)


@given(st.lists(some_ops, max_size=30), st.lists(some_findings, max_size=30), st.booleans())
def test_items_sum_exactly(ops: list[AssessedOp], findings: list[AssessedFinding], complete: bool) -> None:
    cost = estimate(ops, findings, complete)
    for key in ("low", "likely", "high"):
        exact = sum(Decimal(str(getattr(item.days, key))) for item in cost.items)
        assert exact == Decimal(str(getattr(cost.person_days, key)))
        for item in cost.items:
            unit = Decimal(str(getattr(item.unit, key)))
            assert unit * item.quantity == Decimal(str(getattr(item.days, key)))


@given(st.lists(some_ops, max_size=30), st.lists(some_findings, max_size=30), some_ops, some_findings)
def test_one_more_problem_never_makes_it_cheaper(
    ops: list[AssessedOp], findings: list[AssessedFinding], another_op: AssessedOp, another_finding: AssessedFinding
) -> None:
    before = days(estimate(ops, findings))
    for after in (
        days(estimate([*ops, another_op], findings)),
        days(estimate(ops, [*findings, another_finding])),
        days(estimate(ops, findings, complete=False)),
    ):
        assert all(b <= a for b, a in zip(before, after))


@given(st.lists(some_ops, max_size=30))
def test_the_order_of_operators_does_not_matter(ops: list[AssessedOp]) -> None:
    assert estimate(ops, []) == estimate(list(reversed(ops)), [])
