"""Each operator also on the CPU, its result written to the simulated device, whose memory is the host's."""

from __future__ import annotations

import ctypes
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map, tree_map_only

#: The adapter's own operators, by one of stock torch that computes the same first result.
_SAME: dict[str, Any] = {
    "npu::_npu_dtype_cast": lambda x, dtype, *rest: x.to(dtype),
    "npu::npu_fusion_attention_v3": lambda *args, **kwargs: _attention(*args, **kwargs),
    "npu::npu_fusion_attention": lambda *args, **kwargs: _attention(*args, **kwargs),
}

#: Operators whose results have shapes that depend on data, beside those that are tagged so.
_DEPENDING = frozenset({"aten::index", "torchvision::nms"})

#: Operators whose second argument holds indices or masks.
_INDEXING = frozenset({"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"})


def shadowed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call ``func`` on the device; what it returns and what it writes hold what the CPU computes, as far as it can."""
    if func.is_view or torch.Tag.inplace_view in func.tags:
        return func(*args, **kwargs)
    written = _written_arguments(func, args, kwargs)
    copies: list[tuple[torch.Tensor, torch.Tensor]] = []
    computed = _compute(func, args, kwargs, {id(t) for t in written}, copies)
    if func._schema.name in _INDEXING:
        args = (args[0], _positions(args[1]), *args[2:])
    out = func(*args, **kwargs)
    for theirs, ours in copies:
        _alias(theirs).copy_(ours)
    return out if computed is None or written else _filled(func, out, computed)


def shadow_composites() -> None:
    """What the adapter computes inside operators that a dispatch mode does not see.

    Of all that the models call it is this one: no other kernel was launched between two operators that a mode sees.
    """
    one_hot = torch.nn.functional.one_hot

    def shadowed_one_hot(tensor: torch.Tensor, num_classes: int = -1) -> torch.Tensor:
        out = one_hot(tensor, num_classes)
        if out.device.type == "npu":
            with torch._C._DisableTorchDispatch():
                _alias(out).copy_(one_hot(_alias(tensor), num_classes))
        return out

    torch.nn.functional.one_hot = shadowed_one_hot


def _positions(indices: list[torch.Tensor | None]) -> list[torch.Tensor | None]:
    """Masks as the positions of what they select: the adapter counts them inside the operator, where nothing is
    computed.
    """
    found: list[torch.Tensor | None] = []
    for index in indices:
        if index is None or index.dtype not in (torch.bool, torch.uint8):
            found.append(index)
        else:
            found.extend(p.to(index.device) for p in _alias(index).nonzero(as_tuple=True))
    return found


def _written_arguments(func: Any, args: Any, kwargs: Any) -> list[torch.Tensor]:
    if not func._schema.is_mutable:
        return []
    given = {p.name: v for p, v in zip(func._schema.arguments, args, strict=False)} | kwargs
    writes = [p.name for p in func._schema.arguments if p.alias_info is not None and p.alias_info.is_write]
    return [t for name in writes for t in tree_leaves(given.get(name)) if isinstance(t, torch.Tensor)]


def _compute(
    func: Any, args: Any, kwargs: Any, written: set[int], copies: list[tuple[torch.Tensor, torch.Tensor]]
) -> Any:
    """The result on the CPU, or None. Arguments in ``written`` are copied first; ``copies`` pairs them up."""

    def host(leaf: Any) -> Any:
        if isinstance(leaf, torch.device):
            return torch.device("cpu")
        if not isinstance(leaf, torch.Tensor):
            return leaf
        alias = _alias(leaf)
        if id(leaf) in written:
            alias = alias.clone()
            copies.append((leaf, alias))
        return alias

    kernel = _SAME.get(func._schema.name, func)
    try:
        with torch.no_grad():
            return kernel(*tree_map(host, args), **tree_map(host, kwargs))
    except Exception:  # no kernel of the CPU's, or arguments as only the adapter has them: the result stays zero
        copies.clear()
        return None


def _filled(func: Any, out: Any, computed: Any) -> Any:
    """``out`` with the contents of ``computed``; results whose shape depends on data are made anew."""
    depends = torch.Tag.dynamic_output_shape in func.tags or func._schema.name in _DEPENDING
    replaced: dict[int, torch.Tensor] = {}
    for theirs, ours in zip(tree_leaves(out), tree_leaves(computed), strict=False):
        if not isinstance(theirs, torch.Tensor) or not isinstance(ours, torch.Tensor):
            continue
        if theirs.shape == ours.shape and theirs.dtype == ours.dtype:
            _alias(theirs).copy_(ours)
        elif depends:
            replaced[id(theirs)] = ours.to(theirs.device)
    return tree_map_only(torch.Tensor, lambda t: replaced.get(id(t), t), out) if replaced else out


def _attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    head_num: int,
    input_layout: str,
    *,
    atten_mask: torch.Tensor | None = None,
    scale: float = 1.0,
    **rest: Any,
) -> torch.Tensor:
    mask = None if atten_mask is None else ~atten_mask.bool()
    grouped = query.shape[1] != key.shape[1]
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, mask, scale=scale, enable_gqa=grouped)


def _alias(tensor: torch.Tensor) -> torch.Tensor:
    """A CPU tensor over the same memory."""
    if tensor.device.type != "npu" or tensor.layout is not torch.strided:
        return tensor
    storage = tensor.untyped_storage()
    if storage.nbytes() == 0:
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
    memory = (ctypes.c_char * storage.nbytes()).from_address(storage.data_ptr())
    return torch.empty(0, dtype=tensor.dtype).set_(
        torch.frombuffer(memory, dtype=torch.uint8).untyped_storage(),
        tensor.storage_offset(),
        tensor.shape,
        tensor.stride(),
    )
