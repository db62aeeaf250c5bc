"""Real values beside fake tensors, where they are known and small.

A fake tensor has a dtype and a shape and no content, so ``.item()``, ``nonzero`` or ``if tensor:`` cannot be answered
from it. Yet most such values in real models come from shapes and constants (position tables, stochastic-depth rates,
padding sizes). Where all inputs of an operator are known and small, the operator also runs on the CPU and its result
stays beside the fake one.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_map

#: Elements. Larger tensors are never carried: position tables and masks of usual lengths fit. Masks may be larger:
#: those that say which elements of a text's embeddings an image takes are as large as the embeddings.
LIMIT = 1 << 16
_MASK_LIMIT = 1 << 25

_NAME = "_opscan_known"


class Storage:
    """Shared by all known tensors that alias. ``valid`` turns false when something unknown was written to one of them.
    ``constant``: the values follow from shapes and constants alone, not from the sample inputs."""

    __slots__ = ("constant", "valid")

    def __init__(self, constant: bool) -> None:
        self.valid = True
        self.constant = constant


class Known:
    __slots__ = ("storage", "value")

    def __init__(self, value: torch.Tensor, storage: Storage) -> None:
        self.value = value
        self.storage = storage


def attach(fake: torch.Tensor, value: torch.Tensor, constant: bool) -> None:
    """Say what a fake tensor holds."""
    if _is_small(value) and value.layout is torch.strided and value.device.type == "cpu":
        setattr(fake, _NAME, Known(value, Storage(constant)))


def _is_small(tensor: torch.Tensor) -> bool:
    return tensor.numel() <= (_MASK_LIMIT if tensor.dtype is torch.bool else LIMIT)


def computing() -> Any:
    """A context in which real tensors compute, below all modes."""
    return torch._C._DisableTorchDispatch()


def detached(real: torch.Tensor, copy: bool = False) -> torch.Tensor:
    """A real tensor without its history, below all modes: a mode would make it fake."""
    with torch._C._DisableTorchDispatch():
        return real.detach().clone() if copy else real.detach()


def known(fake: object) -> Known | None:
    found: Known | None = getattr(fake, _NAME, None)
    return found if found is not None and found.storage.valid else None


def carry(source: torch.Tensor, copy: torch.Tensor) -> None:
    """Say that a copy holds what its source is known to hold."""
    if (held := known(source)) is not None:
        attach(copy, held.value, held.storage.constant)


def forget(fake: torch.Tensor) -> None:
    """Something unknown was written to this tensor: it and all that alias it are unknown from now on."""
    found: Known | None = getattr(fake, _NAME, None)
    if found is not None:
        found.storage.valid = False


def propagate(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], inputs: list[torch.Tensor], out: Any) -> None:
    """Carry known values through one operator that has just run on fake tensors (``inputs``: its tensor arguments)."""
    if func._schema.name in _OF_SHAPES:  # they take a shape, and no value
        args, kwargs = tree_map(_as_zeros, (args, kwargs))
        inputs = []
    held = [known(t) for t in inputs]
    written = _written(func, args, kwargs) if func._schema.is_mutable else []
    outputs = [t for t in _flat(out) if isinstance(t, torch.Tensor)]
    if any(h is None for h in held) or not _computable(func, outputs):
        for t in written:
            forget(t)
        return
    try:
        with torch._C._DisableTorchDispatch(), torch.no_grad():
            real = func(*_real(args), **_real(kwargs))
    except Exception:  # a kernel that the CPU lacks, or an argument that has no CPU meaning: the value stays unknown
        for t in written:
            forget(t)
        return
    constant = all(h.storage.constant for h in held if h is not None)
    for t in written:
        known(t).storage.constant &= constant  # type: ignore[union-attr]
    _attach_results(outputs, [t for t in _flat(real) if isinstance(t, torch.Tensor)], held, constant)


def _attach_results(
    outputs: list[torch.Tensor], results: list[torch.Tensor], held: list[Known | None], constant: bool
) -> None:
    if len(outputs) != len(results):
        return
    storages = {h.value.untyped_storage()._cdata: h.storage for h in held if h is not None}
    for fake, value in zip(outputs, results, strict=True):
        if value.layout is not torch.strided or fake.shape != value.shape or fake.dtype != value.dtype:
            continue
        storage = storages.get(value.untyped_storage()._cdata) or Storage(constant)
        setattr(fake, _NAME, Known(value, storage))


#: Factories of tensors without contents; the last makes one without memory, on which most kernels crash.
_UNINITIALISED = frozenset(
    {
        "empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted",
        "_efficientzerotensor",
    }
)  # fmt: skip

#: Factories of tensors with contents that take from a tensor no more than its shape.
_OF_SHAPES = frozenset(
    f"aten::{name}" for name in ("zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full")
)


def _as_zeros(leaf: Any) -> Any:
    return zeros_for(leaf) if isinstance(leaf, torch.Tensor) else leaf


def _computable(func: Any, outputs: list[torch.Tensor]) -> bool:
    if torch.Tag.nondeterministic_seeded in func.tags or func._schema.name.partition("::")[2] in _UNINITIALISED:
        return False
    if func.namespace != "aten" or not (outputs or func._schema.is_mutable):
        return False
    return all(_is_small(t) for t in outputs)


def _written(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for index, parameter in enumerate(func._schema.arguments):
        if parameter.alias_info is None or not parameter.alias_info.is_write:
            continue
        value = args[index] if index < len(args) else kwargs.get(parameter.name)
        found.extend(t for t in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(t, torch.Tensor))
    return found


def _real(tree: Any) -> Any:
    def one(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            held = known(leaf)
            return leaf if held is None else held.value
        return torch.device("cpu") if isinstance(leaf, torch.device) else leaf

    return tree_map(one, tree)


def _flat(out: Any) -> list[Any]:
    return list(out) if isinstance(out, (tuple, list)) else [out]


def zeros_for(fake: torch.Tensor) -> torch.Tensor:
    """A real tensor of zeros like a fake one; a large one shares a single element, so that it costs no memory."""
    with torch._C._DisableTorchDispatch():
        zeros = torch.zeros((), dtype=fake.dtype).expand(tuple(fake.shape))
        return zeros.clone() if fake.numel() <= LIMIT else zeros
