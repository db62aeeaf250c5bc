"""What this process itself registers for an operator: evidence for operators that no torch_npu release knows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from opscan.inventory import OpCall
from opscan.tracing.signature import qualified

_KEYS = (
    "CPU",
    "CUDA",
    "Meta",
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)


def kernels_in_process(name: str) -> tuple[str, ...]:
    """Dispatch keys with an explicit kernel. PrivateUse1 counts outside ``aten`` only: there it is the user's own."""
    keys = _KEYS if name.startswith("aten::") else ("PrivateUse1", *_KEYS)
    try:
        return tuple(k for k in keys if torch._C._dispatch_has_kernel_for_dispatch_key(name, k))
    except RuntimeError:  # an operator of the adapter, without a schema in this process
        return ()


def kernels_of_calls(calls: Iterable[OpCall]) -> dict[str, tuple[str, ...]]:
    """The same for every operator of an inventory, the parts of composite kernels included; sorted by name."""
    names = {part.name for call in calls for part in (call, *call.parts)}
    return {name: kernels_in_process(name) for name in sorted(names)}


def composite_key(func: Any, registered: frozenset[str]) -> Any:
    """The dispatch key of a composite kernel that calls other operators below the Python key, or None.

    Views move no data and have no parts worth a judgement; those that change their own tensor (``transpose_``) would
    change it twice if they were run once more. Registered operators are kernels of the adapter. A structured operator
    has a composite kernel too, which only calls its own ``.out``.
    """
    name = qualified(func)
    if name in registered or is_a_view(func):
        return None
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    if has(name, "CompositeImplicitAutograd"):
        return None
    if has(name, "CompositeExplicitAutograd"):
        return torch._C.DispatchKey.CompositeExplicitAutograd
    if has(name, "CompositeExplicitAutogradNonFunctional") and (not has(name, "CPU") or not _is_structured(name)):
        return torch._C.DispatchKey.CompositeExplicitAutogradNonFunctional
    return None


def _is_structured(name: str) -> bool:
    """Whether the CPU kernel is that of a structured operator, whose ``.out`` has one too. ``pixel_shuffle`` has one
    for speed beside its composition, from which its ``.out`` is made.
    """
    out = kernels_in_process(f"{name}.out")
    return "CompositeExplicitAutograd" not in out or "CPU" in out


def is_a_view(func: Any) -> bool:
    """Whether an operator only changes how memory is looked at, of a new tensor (``transpose``) or its own
    (``transpose_``).
    """
    return bool(func.is_view) or torch.Tag.inplace_view in func.tags


def has_own_dispatch(kind: type) -> bool:
    """Whether tensors of a class decide themselves what an operator does with them: those made of other tensors."""
    return getattr(kind, "__torch_dispatch__", None) is not torch._C._disabled_torch_dispatch_impl
