"""One size, seen in several runs of a model, as an expression of the input sizes that were varied between them.

Nothing is claimed beyond the runs: an expression is given only where it holds in each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import prod

from opscan.inventory import Dim

#: Products of more sizes than these are not looked for: batch × height × width.
_MOST_FACTORS = 3

#: Strides of convolutions and poolings, one after the other.
_STRIDES = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 64)

Sizes = Mapping[str, int]


def expression(values: Sequence[int], runs: Sequence[Sizes]) -> Dim:
    """``values``: the size in each run; ``runs``: the varied sizes of each run. ``f(x.2)`` where it depends on ``x.2``
    and no formula is found."""
    if len(set(values)) == 1:
        return values[0]
    names = list(dict.fromkeys(name for run in runs for name in run if len({r[name] for r in runs}) > 1))
    for count in range(1, _MOST_FACTORS + 1):
        for factors in combinations_with_replacement(names, count):
            products = [prod(run[name] for name in factors) for run in runs]
            found = _linear(values, products, "*".join(factors)) or _strided(values, products, "*".join(factors))
            if found:
                return found
    return _sum(values, runs, names) or f"f({', '.join(names)})"


def _linear(values: Sequence[int], products: Sequence[int], name: str) -> str:
    """``(p*name + c)//q`` without remainder in any run; empty where there is none."""
    low, high = products.index(min(products)), products.index(max(products))
    if products[low] == products[high]:
        return ""
    slope = Fraction(values[high] - values[low], products[high] - products[low])
    offset = values[low] - slope * products[low]
    if slope <= 0 or any(slope * m + offset != v for m, v in zip(products, values, strict=True)):
        return ""
    return _written(slope, offset, name)


def _written(slope: Fraction, offset: Fraction, name: str) -> str:
    divisor = (slope.denominator * offset.denominator) // _gcd(slope.denominator, offset.denominator)
    factor, rest = int(slope * divisor), int(offset * divisor)
    product = name if factor == 1 else f"{factor}*{name}"
    if divisor == 1:
        return f"{product}{rest:+d}" if rest else product
    if rest and rest % divisor == 0:
        return f"{product}//{divisor}{rest // divisor:+d}"
    return f"({product}{rest:+d})//{divisor}" if rest else f"{product}//{divisor}"


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def _strided(values: Sequence[int], products: Sequence[int], name: str) -> str:
    """``(name + c)//stride``, rounded down, as windows that are moved over an odd number of places count."""
    for stride in _STRIDES:
        low = max(stride * v - m for m, v in zip(products, values, strict=True))
        high = min(stride * v + stride - 1 - m for m, v in zip(products, values, strict=True))
        if low <= high and abs(low) <= 4 * stride:
            offset = min(max(low, 0), high)
            return f"({name}{offset:+d})//{stride}" if offset else f"{name}//{stride}"
    return ""


def _sum(values: Sequence[int], runs: Sequence[Sizes], names: Sequence[str]) -> str:
    """Of several sizes, each times a whole number: what ``cat`` and padding make."""
    factors: dict[str, int] = {}
    for name in names:
        for i, j in _pairs_in_which_only(name, runs, names):
            slope = Fraction(values[j] - values[i], runs[j][name] - runs[i][name])
            if slope.denominator != 1 or slope < 0:
                return ""
            factors[name] = int(slope)
            break
        else:
            return ""
    offset = values[0] - sum(factors[name] * runs[0][name] for name in names)
    if any(sum(factors[n] * run[n] for n in names) + offset != v for run, v in zip(runs, values, strict=True)):
        return ""
    terms = [name if factors[name] == 1 else f"{factors[name]}*{name}" for name in names if factors[name]]
    return "+".join(terms) + (f"{offset:+d}" if offset else "")


def _pairs_in_which_only(name: str, runs: Sequence[Sizes], names: Sequence[str]) -> list[tuple[int, int]]:
    others = [each for each in names if each != name]
    return [
        (i, j)
        for j in range(len(runs))
        for i in range(j)
        if runs[i][name] != runs[j][name] and all(runs[i][n] == runs[j][n] for n in others)
    ]
