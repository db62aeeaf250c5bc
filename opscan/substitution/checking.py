"""Run a replacement beside the original on the CPU and compare: the numbers that a report shows.

Belongs in a process that may import torch. Inputs are drawn on the recorded shapes from a fixed seed; the original runs
in its own dtype. A call that cannot be run raises nothing here: the result then has no check and says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from opscan.assessment import NumericCheck
from opscan.inventory import TensorSpec
from opscan.substitution import registry, samples, shapes
from opscan.substitution.interface import CheckResult, Match, NotChecked, Run, Text

SEED = 0

#: Relative and absolute tolerance by the dtype of the replacement's result: the defaults that torch documents for
#: ``torch.testing.assert_close``. Any other dtype must be equal.
TOLERANCES = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}


def replacement_callable(match: Match) -> Run:
    """The replacement as a function of the tensors of ``match.call.inputs``, flat and in order.

    It reads no values, so it can be traced on fake tensors. Raises ``NotChecked`` where it cannot be built.
    """
    return registry.family(match.family).replacement(match)


def concrete_inputs(match: Match) -> tuple[TensorSpec, ...]:
    """The recorded inputs with a number for each symbolic size, to trace the replacement on. Raises ``NotChecked``."""
    return _concrete(match.call.inputs)


def _concrete(specs: Sequence[TensorSpec]) -> tuple[TensorSpec, ...]:
    try:
        return shapes.concrete(specs)
    except ValueError as error:
        raise NotChecked(Text(f"a recorded size is unknown: {error}", f"记录的尺寸未知：{error}")) from error


def check(match: Match, limit: int = shapes.LIMIT) -> CheckResult:
    """Original and replacement on the recorded shapes, scaled down where they exceed ``limit`` bytes."""
    family = registry.family(match.family)
    try:
        original, replacement = family.original(match), family.replacement(match)
        specs, scaled = shapes.within_limit(concrete_inputs(match), _concrete(match.call.outputs), limit)
        inputs = family.sample_inputs(match, specs, torch.Generator().manual_seed(SEED))
        with torch.no_grad():
            expected, inputs = _expected(original, inputs)
            actual = _tensors(_run(replacement, inputs))
    except NotChecked as error:
        return CheckResult(None, error.why)
    if len(expected) != len(actual) or any(a.shape != e.shape for a, e in zip(actual, expected, strict=True)):
        return CheckResult(None, Text("original and replacement return different shapes", "原算子与替换的结果形状不同"))
    return CheckResult(compare(expected, actual, specs, scaled))


def _expected(original: Run, inputs: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """The original's results, and the inputs for them: normal ones, else in (0, 1) for logarithms, else above 1."""
    reason = Text("its results on sample inputs are not numbers", "样本输入上的结果不是数值")
    for candidates in (inputs, samples.moved(inputs, 0.05), samples.moved(inputs, 1.05)):
        try:
            results = _tensors(_run(original, candidates))
        except NotChecked as error:
            reason = error.why
            continue
        if not any(bool(result.isnan().any()) for result in results):
            return results, candidates
    raise NotChecked(reason)


def _run(function: Run, inputs: Sequence[Tensor]) -> Any:
    """Run on clones: an in-place operator must not change the inputs of the other side."""
    try:
        return function(*(tensor.clone() for tensor in inputs))
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        reason = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        raise NotChecked(
            Text(f"it does not run on sample inputs: {reason}", f"无法在样本输入上运行：{reason}")
        ) from error


def _tensors(result: Any) -> list[Tensor]:
    leaves = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
    if any(leaf.layout != torch.strided for leaf in leaves):
        raise NotChecked(Text("sparse results are not compared", "不比较稀疏结果"))
    return leaves


def compare(
    expected: Sequence[Tensor], actual: Sequence[Tensor], inputs: Sequence[TensorSpec] = (), scaled: bool = False
) -> NumericCheck:
    """Largest errors over all results; passed if every element is within the tolerance of its result's dtype.

    ``tolerance`` and ``absolute_tolerance`` of the value are those of the least precise result.
    """
    relative, absolute, worst_absolute, worst_relative, passed = 0.0, 0.0, 0.0, 0.0, True
    for want, got in zip(expected, actual, strict=True):
        rtol, atol = TOLERANCES.get(got.dtype, (0.0, 0.0))
        relative, absolute = max(relative, rtol), max(absolute, atol)
        wide = torch.complex128 if want.is_complex() or got.is_complex() else torch.float64
        want, got = want.to(wide), got.to(wide)
        error = (got - want).abs().masked_fill(got == want, 0.0)  # equal infinities differ by nothing
        size = want.abs()
        within = (error == 0) | (error <= atol + rtol * size) & size.isfinite()
        passed = passed and bool(within.all())
        if error.numel():
            worst_absolute = _larger(worst_absolute, error.max().item())
            relevant = (error / size)[size > atol]
            worst_relative = _larger(worst_relative, relevant.max().item() if relevant.numel() else 0.0)
    return NumericCheck(
        max_abs_error=_finite(worst_absolute),
        max_rel_error=_finite(worst_relative),
        tolerance=relative,
        passed=passed,
        shapes=tuple((spec.dtype, spec.shape) for spec in inputs),
        scaled=scaled,
        absolute_tolerance=absolute,
    )


def _larger(a: float, b: float) -> float:
    """The larger, where not a number is the largest of all."""
    return b if b != b or b > a else a


def _finite(value: float) -> float | None:
    return value if value - value == 0 else None
