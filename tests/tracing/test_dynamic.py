"""Inventories at several sizes laid on top of each other, by hand-built calls; sizes as expressions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opscan.inventory import Attempt, Finding, Inventory, KernelLaunch, Location, Observed, OpCall, TensorSpec, Trace
from opscan.tracing.sizes.overlay import Run, merged
from opscan.tracing.sizes.symbolic import expression

TRACE = Trace("dispatch", "virtual", "2.13.0", False, True, attempts=(Attempt("dispatch", True),))


def call(name: str, shape: tuple[int, ...], line: int = 1, count: int = 1) -> OpCall:
    spec = TensorSpec("float32", shape)
    return OpCall(name, "forward", (spec,), (spec,), (), Location("m.py", line), count)


def run(sizes: dict[str, int], *calls: OpCall, findings: tuple[Finding, ...] = ()) -> Run:
    return Run(sizes, Inventory("m.py", 0, TRACE, calls, findings))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([64, 64, 64], 64),
        ([224, 256, 320], "x"),
        ([7, 8, 10], "x//32"),
        ([448, 512, 640], "2*x"),
        ([225, 257, 321], "x+1"),
        ([224 * 224, 256 * 256, 320 * 320], "x*x"),
        ([7 * 7 + 1, 8 * 8 + 1, 10 * 10 + 1], "x*x//1024+1"),
        ([3, 1, 17], "f(x)"),
    ],
)
def test_one_size_of_one_symbol(values: list[int], expected: int | str) -> None:
    assert expression(values, [{"x": 224}, {"x": 256}, {"x": 320}]) == expected


def test_sizes_of_two_symbols() -> None:
    runs = [{"b": 1, "n": 4}, {"b": 2, "n": 4}, {"b": 1, "n": 6}, {"b": 2, "n": 6}]
    assert expression([r["b"] * r["n"] for r in runs], runs) == "b*n"
    assert expression([r["b"] + 2 * r["n"] + 1 for r in runs], runs) == "b+2*n+1"
    assert expression([r["n"] for r in runs], runs) == "n"
    assert expression([5, 5, 5, 6], runs) == "f(b, n)"


@given(st.integers(1, 6), st.integers(0, 9), st.integers(1, 8), st.lists(st.integers(1, 300), min_size=2, max_size=5))
def test_what_is_written_holds_in_every_run(factor: int, offset: int, divisor: int, sizes: list[int]) -> None:
    values = [(factor * n + offset) // divisor for n in sizes]
    written = expression(values, [{"n": n} for n in sizes])
    if isinstance(written, int):
        assert set(values) == {written}
    elif not written.startswith("f("):
        assert [eval(written, {}, {"n": n}) for n in sizes] == values


def test_a_size_that_changes_gets_the_name_of_what_it_depends_on() -> None:
    runs = [run({"x.2": n}, call("aten::a", (1, n)), call("aten::b", (1, n // 2, 3), line=2)) for n in (8, 16, 24)]
    first, second = merged(runs).calls
    assert first.inputs[0].shape == (1, 8)
    assert first.symbolic == ((1, "x.2"), (1, "x.2"))
    assert second.symbolic == ((1, "x.2//2", 3), (1, "x.2//2", 3))


def test_a_call_whose_sizes_stay_has_no_symbols() -> None:
    merged_ = merged([run({"x.0": n}, call("aten::a", (4, 4))) for n in (1, 2)])
    assert merged_.calls[0].symbolic == ()
    assert merged_.findings == ()


def test_a_loop_over_a_size_is_another_path_and_its_lines_are_told() -> None:
    runs = [run({"x.1": n}, call("aten::add", (8, n), line=7, count=n)) for n in (4, 5)]
    result = merged(runs)
    (finding,) = result.findings
    assert finding.rule == "OPS661"
    assert finding.facts == {"sizes": "x.1 = 5", "given": "x.1 = 4", "operators": "aten::add 4 → 5"}
    assert finding.locations == (Location("m.py", 7),)
    assert result.calls[0].count == 4
    assert result.calls[0].symbolic[0] == (8, "x.1")


def test_operators_of_another_path_are_listed_too() -> None:
    result = merged(
        [run({"x.0": 1}, call("aten::a", (1,))), run({"x.0": 2}, call("aten::a", (2,)), call("aten::b", (2,), line=3))]
    )
    assert [c.name for c in result.calls] == ["aten::a", "aten::b"]
    assert result.findings[0].facts["operators"] == "aten::b 0 → 1"


def test_a_view_more_or_less_is_no_other_path() -> None:
    view = replace(call("aten::slice.Tensor", (1,), line=3), is_view=True)
    assert merged([run({"x.0": 1}, call("aten::a", (1,)), view), run({"x.0": 2}, call("aten::a", (2,)))]).findings == ()


def test_another_kernel_at_another_size_is_another_path() -> None:
    def launching(api: str, size: int) -> OpCall:
        return replace(call("aten::mm", (size,)), observed=Observed(launches=(KernelLaunch(api),)))

    result = merged([run({"x.0": 1}, launching("aclnnA", 1)), run({"x.0": 2}, launching("aclnnB", 2))])
    assert result.findings[0].facts["operators"] == "aten::mm aclnnA → aclnnB"


def test_calls_that_are_equal_by_chance_in_one_run_keep_their_numbers() -> None:
    result = merged(
        [
            run({"x.0": 4}, call("aten::a", (4,), count=2)),
            run({"x.0": 5}, call("aten::a", (5,)), call("aten::a", (4,))),
        ]
    )
    assert result.calls[0].symbolic == ()
    assert "2 calls" in result.trace.unseen[0]
    assert result.findings == ()


def test_findings_of_all_runs_are_kept_once() -> None:
    one, two = Finding("OPS601", {"what": "cuda"}), Finding("OPS602", {"factory": "zeros"})
    result = merged([run({"n": 1}, findings=(one,)), run({"n": 2}, findings=(one, two))])
    assert result.findings == (one, two)
