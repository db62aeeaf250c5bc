"""Gears: the few sizes that a graph or an offline model is compiled for. Inputs are padded to the next one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import ceil, prod

from opscan.inventory import VaryingInput

#: Three or four gears are recommended, and 100 is the most: of one dimension in torchair, of all combinations in both.
#: So many combinations are proposed.
#: Source: hiascend.com, CANN commercial 8.5.0, ATC ``--dynamic_dims`` (atlasatcparam_16_0020); Ascend/torchair
#: ``inference/_gear_utils.py``.
RECOMMENDED = 4
_COMBINED = 9

#: Larger gears are multiples of it, the rows of a block of the cube unit; or of twice it, as strides of pictures are.
_BLOCK = 16

#: The average is taken over so many sizes of a wide range.
_SAMPLES = 4096


@dataclass(frozen=True, slots=True)
class Padding:
    """Shares of a padded input that are padding: where all sizes of the range are as likely, and at worst."""

    average: float
    worst: float


def gears(size: int, bounds: tuple[int, int] | None, count: int = RECOMMENDED) -> tuple[int, ...]:
    """Sizes, ascending: over the range, each larger than the one before by the same factor; without a range half the
    given size, the size and twice it (a few small ones: 1, 2, 4, 8). Empty where neither is known."""
    if bounds is None:
        few = [size << step for step in range(count)]
        return tuple(few if 0 < size < _BLOCK else [size // 2, size, size * 2][-count:] if size else [])
    low, high = bounds
    block = 2 * _BLOCK if size and size % (2 * _BLOCK) == 0 else _BLOCK
    factor = (high / low) ** (1 / (count - 1))
    return tuple(sorted({min(high, _rounded(low * factor**step, block)) for step in range(count)} | {high}))


def _rounded(size: float, block: int) -> int:
    """Up, to a multiple of a block, or to a power of two below one."""
    whole = ceil(round(size, 6))
    return ceil(whole / block) * block if whole > _BLOCK else 1 << (whole - 1).bit_length()


def padding(of: tuple[int, ...], low: int) -> Padding:
    """What padding inputs of ``low`` and more to the next gear costs."""
    sizes = range(low, of[-1] + 1, max(1, (of[-1] - low) // _SAMPLES))
    padded = [next(gear for gear in of if gear >= size) for size in sizes]
    shares = [(gear - size) / gear for size, gear in zip(sizes, padded, strict=True)]
    return Padding(sum(shares) / len(shares), max(shares))


@dataclass(frozen=True, slots=True)
class Varying:
    """One symbol, and the gears proposed for it; empty where no size is known."""

    name: str
    low: int
    gears: tuple[int, ...]


def proposed(inputs: tuple[VaryingInput, ...], smallest: int = 1) -> tuple[Varying, ...]:
    """Gears for every symbol of the inputs, none below ``smallest``: so few that their combinations are."""
    sizes = _symbols(inputs)
    count = RECOMMENDED
    while count > 2 and count ** len(sizes) > _COMBINED:
        count -= 1
    found = []
    for name, (size, bounds) in sizes.items():
        kept = tuple(gear for gear in gears(size, bounds, count) if gear >= smallest)
        low = max(smallest, bounds[0]) if bounds else (kept[0] if kept else smallest)
        found.append(Varying(name, low, kept))
    return tuple(found)


def _symbols(inputs: tuple[VaryingInput, ...]) -> dict[str, tuple[int, tuple[int, int] | None]]:
    found: dict[str, tuple[int, tuple[int, int] | None]] = {}
    for each in inputs:
        ranges = iter(each.ranges)
        for dim, size in zip(each.shape, each.sizes, strict=True):
            if isinstance(dim, str):
                found.setdefault(dim, (size, next(ranges, None)))
    return found


def combined(varying: tuple[Varying, ...]) -> list[dict[str, str]]:
    """Sizes of every symbol, written out: all combinations where they are few, else the smallest of all, the next of
    all, and so on. A symbol without gears stands by its name in angle brackets."""
    sizes = {each.name: [str(gear) for gear in each.gears] or [f"<{each.name}>"] for each in varying}
    if prod(map(len, sizes.values())) <= _COMBINED:
        found = [dict(zip(sizes, combination, strict=True)) for combination in product(*sizes.values())]
        return found if len(found) > 1 else found * 2
    steps = max(map(len, sizes.values()))
    return [{name: own[min(step, len(own) - 1)] for name, own in sizes.items()} for step in range(steps)]
