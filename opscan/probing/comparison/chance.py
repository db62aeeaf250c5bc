"""Results that are drawn at random: what can be said of them without knowing the numbers.

Bounds that hold for certain, and for enough elements the mean, within six standard deviations of itself: a correct
generator fails that once in 500 million times.
"""

from __future__ import annotations

from math import inf, sqrt

import torch
from torch import Tensor

from opscan.probing.comparison.contracts import Arguments, argument, base_name

_ENOUGH = 64


def complaint(operator: object, given: Arguments, results: list[Tensor]) -> str:
    """What is wrong with drawn results, empty where nothing shows. ``given`` are the arguments before the call."""
    base = base_name(operator)
    if not results:
        return ""
    first = results[0]
    low, high, mean, deviation = _law(base, operator, given)
    if base in ("native_dropout", "dropout"):
        return _dropout(operator, given, first)
    if base == "native_dropout_backward":
        return _dropout_backward(operator, given, first)
    if base in ("randperm",):
        return (
            "" if torch.equal(first.sort().values, torch.arange(first.numel(), dtype=first.dtype)) else "no permutation"
        )
    return _bounds(first, low, high) or _mean(first, mean, deviation)


def _law(base: str, operator: object, given: Arguments) -> tuple[float, float, float | None, float]:
    """(least, largest, mean, standard deviation) of one element; no mean where it depends on the arguments."""

    def number(name: str, default: float) -> float:
        value = argument(operator, given, name)
        return default if value is None or isinstance(value, Tensor) else float(value)

    if base in ("rand", "rand_like"):
        return 0.0, 1.0, 0.5, sqrt(1 / 12)
    if base == "uniform":
        low, high = number("from", 0.0), number("to", 1.0)
        return low, high, (low + high) / 2, (high - low) / sqrt(12)
    if base in ("randn", "randn_like"):
        return -inf, inf, 0.0, 1.0
    if base == "normal" and not any(isinstance(a, Tensor) for a in given[0][1:]):
        return -inf, inf, number("mean", 0.0), number("std", 1.0)
    if base in ("randint", "randint_like"):
        low, high = number("low", 0.0), number("high", 1.0) - 1
        return low, high, (low + high) / 2, (high - low + 1) / sqrt(12)
    if base == "exponential":
        rate = number("lambd", 1.0)
        return 0.0, inf, 1 / rate, 1 / rate
    if base == "bernoulli":
        chance = argument(operator, given, "p")
        known = isinstance(chance, float)
        return 0.0, 1.0, chance if known else None, sqrt(chance * (1 - chance)) if known else 0.0
    if base == "multinomial":
        weights = argument(operator, given, "self")
        return 0.0, float(weights.shape[-1] - 1), None, 0.0
    if base in ("geometric",):
        return 1.0, inf, None, 0.0
    if base in ("poisson", "log_normal", "_standard_gamma", "binomial"):
        return 0.0, inf, None, 0.0
    return -inf, inf, None, 0.0


def _bounds(result: Tensor, low: float, high: float) -> str:
    if result.is_complex() or not result.numel():
        return ""
    wide = result.double()
    if bool(wide.isnan().any()):
        return "NaN among the numbers drawn"
    least, most = float(wide.min()), float(wide.max())
    return "" if low <= least and most <= high else f"numbers in [{least:g}, {most:g}], not in [{low:g}, {high:g}]"


def _mean(result: Tensor, mean: float | None, deviation: float) -> str:
    if mean is None or result.numel() < _ENOUGH or result.is_complex():
        return ""
    seen, off = float(result.double().mean()), 6 * deviation / sqrt(result.numel())
    rounding = torch.finfo(result.dtype).eps * max(abs(mean), 1.0) if result.is_floating_point() else 0.0
    return (
        "" if abs(seen - mean) <= off + rounding else f"a mean of {seen:g} over {result.numel()} numbers, not {mean:g}"
    )


def _dropout_backward(operator: object, given: Arguments, result: Tensor) -> str:
    """The mask is drawn by the device's own forward operator: what it kept is the gradient scaled, the rest zero."""
    gradient, scale = argument(operator, given, "grad_output"), argument(operator, given, "scale")
    if not isinstance(gradient, Tensor) or not gradient.numel() or not result.numel():
        return ""
    return "" if _is_scaled(result, gradient.double() * float(scale)) else "what was kept is not scaled"


def _is_scaled(result: Tensor, scaled: Tensor) -> bool:
    """Whether every element that is not zero is the scaled one; NaN is not."""
    off = (result.double() - scaled).abs()[result != 0]
    limit = torch.finfo(result.dtype).eps * 4 * scaled.abs().max().clamp_min(1.0)
    return not off.numel() or bool(off.max() <= limit)


def _dropout(operator: object, given: Arguments, result: Tensor) -> str:
    """What is kept is scaled, the rest zero, in about the proportion asked for."""
    source = argument(operator, given, "input")
    p = argument(operator, given, "p")
    train = argument(operator, given, "train")
    chance = 0.0 if train is False else float(p)
    if not isinstance(source, Tensor) or not source.numel():
        return ""
    kept = result != 0
    scaled = source.double() / (1 - chance) if chance < 1 else source.double() * 0
    if not _is_scaled(result, scaled):
        return "what was kept is not scaled by 1 / (1 - p)"
    share = float(kept[source != 0].double().mean()) if bool((source != 0).any()) else 1 - chance
    spread = 6 * sqrt(chance * (1 - chance) / source.numel())
    if source.numel() < _ENOUGH or abs(share - (1 - chance)) <= spread + 1e-9:
        return ""
    return f"{share:.1%} of the elements were kept, not {1 - chance:.1%}"
