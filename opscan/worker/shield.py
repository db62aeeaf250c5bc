"""Keeps an installed torch_npu from the model: without CANN it dies on import (``libhccl.so``), and libraries import
it on sight.

An inert stand-in takes its place, so that libraries still take the branch they take on an NPU.
"""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Callable
from types import ModuleType


def shield_from_torch_npu(release: str) -> None:
    """Put the stand-in where ``import torch_npu`` finds it. Its functions import, and say that they are missing
    when called.
    """
    if isinstance(sys.modules.get("torch_npu"), _StandIn):
        return
    names = ("torch_npu", "torch_npu.npu", "torch_npu.contrib", "torch_npu.contrib.transfer_to_npu", "torch_npu.utils")
    for name in names:
        module = _StandIn(name)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
        module.__path__ = []
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, module)
    sys.modules["torch_npu"].__version__ = release  # type: ignore[attr-defined]


class _StandIn(ModuleType):
    """Every name can be imported from it, as libraries do on sight; a call of one says why it cannot be answered."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return _missing(f"{self.__name__}.{name}")


def _missing(name: str) -> Callable[..., None]:
    def missing(*args: object, **kwargs: object) -> None:
        raise NotImplementedError(
            f"{name} is not available to a scan: opscan runs the model without torch_npu. "
            "Guard the call, or scan the model as it was before the migration."
        )

    return missing
