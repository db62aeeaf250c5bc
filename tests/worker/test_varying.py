"""Which sizes are tried, and what follows from a refusal; the tracer is played."""

from __future__ import annotations

from collections.abc import Callable

from opscan.errors import ModelError
from opscan.inventory import Attempt, Finding, Inventory, Location, OpCall, TensorSpec, Trace
from opscan.tracing.sizes.resizing import Symbol
from opscan.worker.varying import Sizes, varied

TRACE = Trace("dispatch", "virtual", "2.13.0", False, True, attempts=(Attempt("dispatch", True),))


def inventory(sizes: Sizes) -> Inventory:
    spec = TensorSpec("float32", tuple(sizes.values()))
    return Inventory("m.py", 0, TRACE, (OpCall("aten::relu", "forward", (spec,), (spec,)),))


def vary(refuses: Callable[[Sizes], bool], *symbols: Symbol) -> tuple[Inventory, list[Sizes]]:
    asked: list[Sizes] = []

    def trace(sizes: Sizes) -> Inventory:
        asked.append(dict(sizes))
        if refuses(sizes):
            raise ModelError("m.py:7: running the model failed:\n    x @ w\n  RuntimeError: no such size.", "hint")
        return inventory(sizes)

    base = inventory({symbol.name: symbol.size for symbol in symbols})
    return varied(base, symbols, trace, lambda stage: None), asked


HEIGHT, WIDTH = Symbol("x.2", ((0, 2),), 64), Symbol("x.3", ((0, 3),), 64)


def test_each_size_alone_and_then_all_at_once() -> None:
    found, asked = vary(lambda sizes: False, HEIGHT, WIDTH)
    assert asked == [
        {"x.2": 96, "x.3": 64},
        {"x.2": 128, "x.3": 64},
        {"x.2": 64, "x.3": 96},
        {"x.2": 64, "x.3": 128},
        {"x.2": 96, "x.3": 96},
    ]
    assert found.calls[0].symbolic[0] == ("x.2", "x.3")
    assert found.trace.sizes == ("x.2 = 64, 96, 128", "x.3 = 64, 96, 128")
    assert found.findings == ()


def test_a_size_that_is_always_refused_is_fixed_and_its_line_is_told() -> None:
    found, _ = vary(lambda sizes: sizes["x.2"] != 64, HEIGHT)
    assert found.findings == (
        Finding(
            "OPS662",
            {
                "refused": "x.2 = 96, 128, 32, 256",
                "error": "RuntimeError: no such size",
                "outcome": "It is fixed at 64.",
                "outcome_zh": "该尺寸固定为 64。",
            },
            (Location("m.py", 7),),
        ),
    )
    assert found.calls[0].symbolic == ()


def test_sizes_that_change_only_together() -> None:
    found, _ = vary(lambda sizes: sizes["x.2"] != sizes["x.3"], HEIGHT, WIDTH)
    assert found.trace.sizes[0].startswith("x.2 = 64, 96, 128 (refused: ")
    assert [finding.rule for finding in found.findings] == ["OPS662", "OPS662"]
    assert "together" in found.findings[0].facts["outcome"]
    assert "x.2 = 96, x.3 = 96" in found.findings[0].facts["outcome"]


def test_larger_sizes_are_refused_and_smaller_taken() -> None:
    found, _ = vary(lambda sizes: sizes["x.2"] > 64, HEIGHT)
    assert found.findings[0].facts["outcome"] == "It takes 32, 64."


def test_a_trace_that_ends_early_is_no_run_of_the_model() -> None:
    def trace(sizes: Sizes) -> Inventory:
        failed = Trace(
            "dispatch", "virtual", "2.13.0", False, False, attempts=(Attempt("dispatch", False, "It ended."),)
        )
        return Inventory("m.py", 0, failed, ())

    found = varied(inventory({"x.2": 64}), (HEIGHT,), trace, lambda stage: None)
    assert found.findings[0].facts["error"] == "It ended."
    assert [call.name for call in found.calls] == ["aten::relu"]
