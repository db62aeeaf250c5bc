"""The overloads for which the running torch_npu registers an NPU kernel."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch


@cache
def registered_overloads() -> tuple[str, ...]:
    """Qualified names, sorted; an overload without a name of its own has no suffix."""
    return tuple(sorted(torch._C._dispatch_get_registrations_for_dispatch_key("PrivateUse1")))


@cache
def find_overload(name: str) -> Any:
    """The overload by its qualified name; None where Python does not reach it."""
    namespace, _, rest = name.partition("::")
    base, _, variant = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), base, None)
    return getattr(packet, variant or "default", None)
