"""An export to ONNX with sizes left open, as both exporters take it, and whether they stayed open."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import onnx
import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from opscan.tracing.onnx.check import Compared, compare, tensors
from opscan.tracing.sizes.resizing import Resizing, Symbol, candidates

#: So many other sizes of a dimension are tried until the module takes one.
_TRIED = 3


@dataclass(frozen=True, slots=True)
class OpenSizes:
    """``shapes`` for the newer exporter, by parameter; ``names`` and ``axes`` for the older one. ``symbols`` are the
    names of the sizes, by how they are spelled in the file, where a name is an identifier."""

    shapes: dict[str, Any]
    names: tuple[str, ...]
    axes: dict[str, dict[int, str]]
    symbols: Mapping[str, str]


def open_sizes(resizing: Resizing, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> OpenSizes:
    """What the exporters are to be told of the recipe's sizes."""
    leaves = tree_leaves((args, kwargs))
    spelled = {symbol.name: re.sub(r"\W", "_", symbol.name) for symbol in resizing.symbols}
    dims: dict[int, dict[int, str]] = {}
    for symbol in resizing.symbols:
        for index, dim in symbol.places:
            dims.setdefault(id(leaves[index]), {})[dim] = spelled[symbol.name]
    bound = inspect.signature(module.forward).bind(*args, **kwargs).arguments
    shapes = {name: tree_map(lambda leaf: dims.get(id(leaf)), value) for name, value in bound.items()}
    names = tuple(each.name for each in resizing.inputs)
    found = [dims.get(id(leaf)) for leaf in leaves if isinstance(leaf, torch.Tensor)]
    axes = {name: own for name, own in zip(names, found, strict=True) if own}
    return OpenSizes(shapes, names, axes, {name: symbol for symbol, name in spelled.items()})


def with_symbols(model: onnx.ModelProto, sizes: OpenSizes) -> onnx.ModelProto:
    """The model with the sizes' own names in place of how they are spelled in a file."""
    if not sizes.symbols:
        return model
    spelled = re.compile(r"\b(" + "|".join(map(re.escape, sizes.symbols)) + r")\b")
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        for dim in value.type.tensor_type.shape.dim:
            if dim.HasField("dim_param"):
                dim.dim_param = spelled.sub(lambda found: sizes.symbols[found[1]], dim.dim_param)
    return model


def fixed_sizes(model: onnx.ModelProto, resizing: Resizing) -> list[str]:
    """Sizes that the exported inputs hold as numbers all the same: ``x.2 = 224``."""
    found = []
    for given, value in zip(resizing.inputs, model.graph.input, strict=False):
        for dim, size in zip(given.shape, value.type.tensor_type.shape.dim, strict=False):
            if isinstance(dim, str) and size.HasField("dim_value"):
                found.append(f"{dim} = {size.dim_value}")
    return list(dict.fromkeys(found))


def differing_sizes(
    exported: bytes, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], resizing: Resizing
) -> list[str]:
    """Sizes, one of each symbol, at which the exported model does not compute what the module does:
    ``x.2 = 256: output y, …``."""
    told = []
    for symbol in resizing.symbols:
        compared = _compared(exported, module, args, kwargs, resizing, symbol)
        if compared is not None:
            size, found = compared
            if found.output:
                told.append(f"{symbol.name} = {size}: output {found.output}, {found.detail}")
            elif "onnxruntime does not run it" in found.skipped:
                told.append(f"{symbol.name} = {size}: {found.skipped}")
    return told


def _compared(
    exported: bytes,
    module: nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    resizing: Resizing,
    symbol: Symbol,
) -> tuple[int, Compared] | None:
    """At the first other size that the module takes; None where it takes none."""
    for size in candidates(symbol.size, symbol.range)[:_TRIED]:
        other, named = resizing.arguments(args, kwargs, {symbol.name: size})
        try:
            with torch.no_grad():
                expected = tensors(module(*other, **named))
        except Exception:  # any error of the model's: this size is not for it
            continue
        return size, compare(exported, tensors((other, named)), expected)
    return None
