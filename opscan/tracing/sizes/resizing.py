"""A recipe whose sample inputs have other sizes: what ``--dynamic`` names is found among the loaded arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils._pytree import tree_flatten_with_path, tree_unflatten

from opscan.errors import UsageError
from opscan.inventory import Dim, VaryingInput
from opscan.tracing.interface import Recipe
from opscan.workload import DynamicInput

#: Steps that keep what image models divide sizes by: strides and patches.
_STEPS = (32, 16, 8)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A size that varies. ``places``: tensors, by their position among all of the arguments' leaves, and dimensions.
    ``size`` is that of the sample inputs; ``range`` the smallest and largest, None where nobody said. ``also``:
    dimensions that follow (``mask.1``)."""

    name: str
    places: tuple[tuple[int, int], ...]
    size: int
    range: tuple[int, int] | None = None
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A tensor among the arguments: the parameter it belongs to, its name, and where it stands."""

    parameter: str
    position: str
    name: str
    index: int
    tensor: torch.Tensor


class Resizing:
    """``parameters`` gives the names of the callable's parameters, once it is loaded. ``symbols`` and ``inputs`` are
    there after a first load."""

    def __init__(
        self, recipe: Recipe, parameters: Callable[[], Sequence[str]], dynamic: Sequence[DynamicInput]
    ) -> None:
        self._recipe = recipe
        self._parameters = parameters
        self._dynamic = dynamic
        self.symbols: tuple[Symbol, ...] = ()
        self.inputs: tuple[VaryingInput, ...] = ()

    def at(self, sizes: Mapping[str, int]) -> Recipe:
        """The recipe with the symbols' sizes in its inputs; those that are not named stay. Raises UsageError where an
        input or a dimension that should vary does not exist."""

        def load() -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
            model, args, kwargs = self._recipe.load()
            args, kwargs = self.arguments(args, kwargs, sizes)
            return model, args, kwargs

        return Recipe(load, self._recipe.root, self)

    def arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], sizes: Mapping[str, int]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments of the model with other sizes."""
        leaves, tree = tree_flatten_with_path((args, kwargs))
        if not self.symbols:
            self._find(leaves)
        values = [leaf for _, leaf in leaves]
        for symbol in self.symbols:
            for index, dim in symbol.places:
                values[index] = resized(values[index], dim, sizes.get(symbol.name, symbol.size))
        found: tuple[tuple[Any, ...], dict[str, Any]] = tree_unflatten(values, tree)
        return found

    def _find(self, leaves: Sequence[tuple[Any, Any]]) -> None:
        tensors = _tensors(leaves, self._parameters())
        found: dict[str, Symbol] = {}
        for asked in self._dynamic:
            matching = [leaf for leaf in tensors if asked.name in (leaf.parameter, leaf.position)]
            if not matching:
                listed = ", ".join(f"{leaf.name}[{', '.join(map(str, leaf.tensor.shape))}]" for leaf in tensors)
                raise UsageError(
                    f"--dynamic {asked.name}: the model is given no tensor of that name or position.",
                    f"Its tensors: {listed or 'none'}.",
                )
            for leaf in matching:
                for number, dimension in enumerate(asked.dimensions):
                    _add(found, leaf, asked, number, dimension)
        named = {
            leaf.index for leaf in tensors if any(a.name in (leaf.parameter, leaf.position) for a in self._dynamic)
        }
        for leaf in tensors:
            if leaf.index not in named:
                _follow(found, leaf)
        self.symbols = tuple(found.values())
        self.inputs = tuple(_input(leaf, self.symbols) for leaf in tensors)


def _tensors(leaves: Sequence[tuple[Any, Any]], parameters: Sequence[str]) -> list[_Leaf]:
    found = []
    for index, (path, leaf) in enumerate(leaves):
        if not isinstance(leaf, torch.Tensor):
            continue
        of_kwargs = path[0].idx == 1
        place = path[1].key if of_kwargs else path[1].idx
        position = "" if of_kwargs else str(place)
        parameter = str(place) if of_kwargs else (parameters[place] if place < len(parameters) else position)
        if of_kwargs and parameter in parameters:
            position = str(list(parameters).index(parameter))
        found.append(_Leaf(parameter, position, _name(parameter, path[2:]), index, leaf))
    return found


def _name(parameter: str, path: Sequence[Any]) -> str:
    """``images[0]``, ``batch[mask]``: names stand in expressions, so keys lose what has a meaning there."""
    keys = (getattr(key, "idx", getattr(key, "key", getattr(key, "name", ""))) for key in path)
    return "".join((re.sub(r"\W+", "_", parameter), *("[" + re.sub(r"\W+", "_", str(key)) + "]" for key in keys)))


def _add(found: dict[str, Symbol], leaf: _Leaf, asked: DynamicInput, number: int, dimension: int) -> None:
    """One dimension: a symbol of its own, or another place of one with the same label; without labels, dimensions at
    the same position in several inputs that have the same size are taken for one."""
    shape = leaf.tensor.shape
    if not -len(shape) <= dimension < len(shape) or shape[dimension] == 0:
        raise UsageError(
            f"--dynamic {asked.name}:{dimension}: the input {leaf.name} has the shape {list(shape)}.",
            f"Its dimensions are 0 to {len(shape) - 1}, and a size that varies is at least 1.",
        )
    dim, size = dimension % len(shape), int(shape[dimension])
    label = asked.labels[number] if asked.labels else ""
    bounds = asked.ranges[number] if asked.ranges else None
    place = (leaf.index, dim)
    if any(place in symbol.places for symbol in found.values()):
        raise UsageError(f"--dynamic names dimension {dim} of {leaf.name} twice.", "Name each dimension once.")
    same = found.get(label) if label else _at_the_same_position(found, place, size)
    if same is not None and same.size != size:
        raise UsageError(
            f"--dynamic: {label} is {same.size} in one input and {size} in {leaf.name}.",
            "Dimensions of one name have one size: give sample inputs that do, or use two names.",
        )
    symbol = Symbol(label or f"{leaf.name}.{dim}", (place,), size, bounds)
    if same is not None:
        also = (*same.also, f"{leaf.name}.{dim}")
        symbol = Symbol(same.name, (*same.places, place), size, same.range or bounds, also)
    found[symbol.name] = symbol


def _follow(found: dict[str, Symbol], leaf: _Leaf) -> None:
    """An input that nobody named goes with the others: masks, lengths of the same batch."""
    for dim, size in enumerate(leaf.tensor.shape):
        same = _at_the_same_position(found, (leaf.index, dim), int(size))
        if same is not None:
            places, also = (*same.places, (leaf.index, dim)), (*same.also, f"{leaf.name}.{dim}")
            found[same.name] = replace(same, places=places, also=also)


def _at_the_same_position(found: Mapping[str, Symbol], place: tuple[int, int], size: int) -> Symbol | None:
    for symbol in found.values():
        if symbol.size == size and all(dim == place[1] and leaf != place[0] for leaf, dim in symbol.places):
            return symbol
    return None


def _input(leaf: _Leaf, symbols: Sequence[Symbol]) -> VaryingInput:
    named = {place: symbol for symbol in symbols for place in symbol.places}
    sizes = tuple(int(size) for size in leaf.tensor.shape)
    varying = [named.get((leaf.index, dim)) for dim in range(len(sizes))]
    shape: tuple[Dim, ...] = tuple(symbol.name if symbol else size for symbol, size in zip(varying, sizes, strict=True))
    dtype = str(leaf.tensor.dtype).removeprefix("torch.")
    return VaryingInput(leaf.name, dtype, shape, sizes, tuple(symbol.range for symbol in varying if symbol))


def resized(tensor: torch.Tensor, dim: int, size: int) -> torch.Tensor:
    """The tensor cut, or repeated from its beginning, so that what it holds stays valid: token ids, masks."""
    now = int(tensor.shape[dim])
    if now == size:
        return tensor
    longer = torch.cat([tensor.detach()] * -(-size // now), dim)
    return longer.narrow(dim, 0, size).clone().requires_grad_(tensor.requires_grad)


def candidates(size: int, bounds: tuple[int, int] | None) -> list[int]:
    """Sizes to try in place of ``size``, the most telling first."""
    if bounds is not None:
        low, high = bounds
        step = _step(size)
        middle = max(low, (low + high) // 2 // step * step)
        found = [high, low, middle, size + step, size - step]
        return _distinct(n for n in found if low <= n <= high and n != size)
    step = _step(size)
    larger = [size + step, size + 2 * step, 2 * size, 4 * size]
    smaller = [n for n in (size - step, size // 2) if n > 1]
    return _distinct(n for n in (*larger[:3], *smaller, larger[3]) if n != size)


def _step(size: int) -> int:
    return next((step for step in _STEPS if size % step == 0), 1)


def _distinct(sizes: Iterable[int]) -> list[int]:
    return list(dict.fromkeys(sizes))
