"""What this process itself registers for an operator: evidence for operators that no torch_npu release knows."""

from __future__ import annotations

from typing import Any

import torch

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


def hides_parts(func: Any, registered: frozenset[str]) -> bool:
    """Whether an operator is a composite-explicit kernel that calls others below the Python key.

    Views move no data and have no parts worth a judgement; registered operators are kernels of the adapter.
    """
    name = func._schema.name + (f".{func._schema.overload_name}" if func._schema.overload_name else "")
    if name in registered or func.is_view:
        return False
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return has(name, "CompositeExplicitAutograd") and not has(name, "CompositeImplicitAutograd")
