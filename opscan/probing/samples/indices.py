"""Tensors that index other tensors: in range, and without repetition where a repetition would leave the result open."""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from torch import Tensor

from opscan.inventory import TensorSpec
from opscan.probing.samples.draft import Draft, Fill
from opscan.probing.samples.interface import Unsampled
from opscan.probing.samples.kinds import dtype_of


def _size(draft: Draft, name: str, dim: int) -> int:
    shape = draft.shape(name)
    return shape[dim] if shape else 1


def _along(draft: Draft) -> None:
    """``index_select`` and the like: one index along ``dim``."""
    draft.below("index", _size(draft, "self", int(draft.other("dim", 0))))


def _along_once(draft: Draft) -> None:
    if not draft.different("index", _size(draft, "self", int(draft.other("dim", 0)))):
        draft.ties = True


def _gather(draft: Draft) -> None:
    draft.below("index", _size(draft, "self", int(draft.other("dim", 0))))


def _scatter(draft: Draft) -> None:
    """Every place is written once, unless the index is longer than the dimension, or values are combined."""
    dim, shape = int(draft.other("dim", 0)), draft.shape("index")
    size = _size(draft, "self", dim)
    combines = draft.bound.base in ("scatter_add", "scatter_reduce") or draft.other("reduce") is not None
    if not shape or not prod(shape) or combines:
        draft.below("index", size)
        return
    if shape[dim] > size:
        draft.ties = True
        draft.below("index", size)
        return
    draft.put("index", draft.permutations(shape, size, dim))


def _take(draft: Draft) -> None:
    draft.below("index", prod(draft.shape("self")))


def _put(draft: Draft) -> None:
    if draft.other("accumulate", False):
        return _take(draft)
    if not draft.different("index", prod(draft.shape("self"))):
        draft.ties = True


def _advanced(draft: Draft) -> None:
    """``x[i, :, j]``: a whole-number index counts one dimension, a boolean one as many as it has."""
    specs = draft.bound.tensors.get("indices", ())
    if isinstance(specs, TensorSpec):
        specs = (specs,)
    shape, at, sizes = draft.shape("self"), 0, []
    for spec in specs:
        is_mask = spec is not None and spec.dtype in ("bool", "uint8")
        sizes.append(shape[at] if not is_mask and at < len(shape) else 1)
        at += len(spec.shape) if spec is not None and is_mask else 1
    count = _selected(draft, specs)
    once = draft.has("values") and not draft.other("accumulate", False)
    chosen = _joint(draft, specs, sizes) if once else None
    if once and chosen is None and any(s is not None and s.dtype not in ("bool", "uint8") for s in specs):
        draft.ties = True
    drawn = [_one_index(draft, spec, size, count) for spec, size in zip(specs, sizes, strict=True)]
    draft.tensors["indices"] = chosen or drawn


def _selected(draft: Draft, specs: tuple[TensorSpec | None, ...]) -> int | None:
    """How many elements a mask must select, where another index or the values say so."""
    for spec in specs:
        if spec is not None and spec.dtype not in ("bool", "uint8") and prod(map(int, spec.shape)) != 1:
            return prod(map(int, spec.shape))
    if draft.has("values"):
        masked = sum(len(s.shape) for s in specs if s is not None)
        values, rest = draft.shape("values"), len(draft.shape("self")) - masked
        leading = values[: len(values) - rest]
        return leading[0] if leading and leading[0] != 1 else None
    return None


def _one_index(draft: Draft, spec: TensorSpec | None, size: int, count: int | None) -> Tensor | None:
    if spec is None:
        return None
    shape = [int(s) for s in spec.shape]
    if spec.dtype in ("bool", "uint8"):
        flat = torch.rand(prod(shape), generator=draft.generator)
        kept = prod(shape) // 2 if count is None else count
        if kept > prod(shape):
            raise Unsampled("a mask cannot select as many elements as are given")
        mask = torch.zeros(prod(shape), dtype=torch.bool)
        mask[flat.argsort()[:kept]] = True
        return mask.reshape(shape).to(dtype_of(spec))
    if size <= 0 and 0 not in shape:
        raise Unsampled("an index into a dimension of size zero")
    return torch.randint(0, max(size, 1), shape, generator=draft.generator).to(dtype_of(spec))


def _joint(draft: Draft, specs: tuple[TensorSpec | None, ...], sizes: list[int]) -> list[Tensor | None] | None:
    """Indices whose combinations differ, where all have one shape and there are places enough; else None."""
    given = [(spec, size) for spec, size in zip(specs, sizes, strict=True) if spec is not None]
    if not given or len({spec.shape for spec, _ in given}) != 1 or any(s.dtype in ("bool", "uint8") for s, _ in given):
        return None
    shape = [int(s) for s in given[0][0].shape]
    places, count = prod([size for _, size in given]), prod(shape)
    if count > places or places > 2**24:
        return None
    chosen = torch.randperm(places, generator=draft.generator)[:count].reshape(shape)
    parts: list[Tensor] = list(torch.unravel_index(chosen, [size for _, size in given]))
    remaining = iter(parts)
    return [None if spec is None else next(remaining).to(dtype_of(spec)) for spec in specs]


def _embedding(draft: Draft) -> None:
    rows = draft.shape("weight")[0] if draft.has("weight") else int(draft.other("num_weights", 1))
    draft.below("indices", rows)


def _embedding_renorm(draft: Draft) -> None:
    draft.below("indices", draft.shape("self")[0])


def embedding_bag(draft: Draft) -> None:
    """Offsets ascend from zero; every bag has elements where there are enough."""
    rows = draft.shape("weight")[0] if draft.has("weight") else int(draft.other("num_weights", 1))
    draft.below("indices", rows)
    if draft.has("offsets"):
        bags, count = draft.shape("offsets")[0], prod(draft.shape("indices"))
        steps = max(bags - 1, 1) if draft.other("include_last_offset", False) else max(bags, 1)
        draft.put("offsets", torch.arange(bags) * count // steps)


def _max_unpool(draft: Draft) -> None:
    """Each plane's indices name different places of its output."""
    places = prod(int(size) for size in draft.other("output_size", ()))
    shape = draft.shape("indices")
    planar = 3 if draft.bound.base == "max_unpool3d" else 2
    plane = prod(shape[-planar:])
    if plane > places:
        raise Unsampled("more values than places to put them")
    flat = draft.permutations((prod(shape[:-planar]), plane), places, 1)
    draft.put("indices", flat.reshape(shape))


def _value_selecting(draft: Draft) -> None:
    sizes = draft.other("sizes", ())
    draft.below("indices", int(sizes[int(draft.other("dim", 0))]) if sizes else 1)


def _unsafe_masked(draft: Draft) -> None:
    """Indices where the mask holds are in range; elsewhere they are not looked at."""
    specs = draft.bound.tensors.get("indices", ())
    assert not isinstance(specs, TensorSpec)
    shape = draft.shape("self")
    drawn: list[Any] = [_one_index(draft, spec, size, None) for spec, size in zip(specs, shape, strict=False)]
    draft.tensors["indices"] = drawn


INDICES: dict[str, Fill] = {
    **dict.fromkeys(("index_select", "index_add", "index_fill", "index_reduce"), _along),
    "index_copy": _along_once,
    "gather": _gather,
    **dict.fromkeys(("scatter", "scatter_add", "scatter_reduce"), _scatter),
    "take": _take,
    "put": _put,
    **dict.fromkeys(("index", "index_put", "_index_put_impl", "_unsafe_index", "_unsafe_index_put"), _advanced),
    **dict.fromkeys(("_unsafe_masked_index", "_unsafe_masked_index_put_accumulate"), _unsafe_masked),
    **dict.fromkeys(("embedding", "embedding_dense_backward"), _embedding),
    "embedding_renorm": _embedding_renorm,
    **dict.fromkeys(("_embedding_bag", "_embedding_bag_forward_only", "embedding_bag"), embedding_bag),
    **dict.fromkeys(("max_unpool2d", "max_unpool3d"), _max_unpool),
    "value_selecting_reduction_backward": _value_selecting,
}
