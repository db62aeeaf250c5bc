"""What ``--dynamic`` asks of a file whose inputs are only read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from opscan.errors import UsageError
from opscan.inventory import Dim, VaryingInput
from opscan.workload import DynamicInput


def marked(
    inputs: Sequence[VaryingInput], dynamic: Iterable[DynamicInput]
) -> tuple[tuple[VaryingInput, ...], tuple[str, ...]]:
    """The inputs with what was asked, and dimensions that the file fixes all the same (``x.0 = 1``). Dimensions that
    the file leaves open keep its names, and vary whether asked or not. Raises UsageError for what is not there."""
    found = list(inputs)
    fixed: list[str] = []
    for asked in dynamic:
        index = _index(found, asked.name)
        found[index], own = _marked(found[index], asked)
        fixed += own
    return tuple(found), tuple(fixed)


def _index(inputs: Sequence[VaryingInput], name: str) -> int:
    for index, each in enumerate(inputs):
        if name in (each.name, str(index)):
            return index
    listed = ", ".join(f"{each.name}[{', '.join(map(str, each.shape))}]" for each in inputs)
    raise UsageError(f"--dynamic {name}: the file has no input of that name or position.", f"Its inputs: {listed}.")


def _marked(each: VaryingInput, asked: DynamicInput) -> tuple[VaryingInput, list[str]]:
    shape = list(each.shape)
    ranges = dict(zip((d for d, dim in enumerate(shape) if isinstance(dim, str)), each.ranges, strict=False))
    fixed = []
    for number, dimension in enumerate(asked.dimensions):
        if not -len(shape) <= dimension < len(shape):
            raise UsageError(
                f"--dynamic {asked.name}:{dimension}: the input {each.name} has {len(shape)} dimensions.",
                f"Its shape is [{', '.join(map(str, each.shape))}].",
            )
        dim = dimension % len(shape)
        label = asked.labels[number] if asked.labels else ""
        if isinstance(shape[dim], int):
            fixed.append(f"{each.name}.{dim} = {shape[dim]}")
        shape[dim] = _name(shape[dim], label, each.name, dim)
        ranges[dim] = asked.ranges[number] if asked.ranges else None
    of_varying = tuple(ranges.get(d) for d, size in enumerate(shape) if isinstance(size, str))
    return replace(each, shape=tuple(shape), ranges=of_varying), fixed


def _name(size: Dim, label: str, name: str, dim: int) -> str:
    if label:
        return label
    return size if isinstance(size, str) and size != "?" else f"{name}.{dim}"
