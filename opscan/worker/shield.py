"""Keeps an installed torch_npu from the model: without CANN it dies on import (``libhccl.so``), and libraries import it
on sight.

An inert stand-in takes its place, so that libraries still take the branch they take on an NPU. Operators of torch_npu's
own that the tracer knows are called through it.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.metadata
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import DistributionFinder
from os import PathLike
from types import ModuleType
from typing import Any

_PACKAGE = "torch_npu"


def shield_from_torch_npu(release: str) -> None:
    """Let ``import torch_npu``, and any module below it, find the stand-in. Functions that the tracer does not know
    import, and say that they are missing when called.
    """
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder(release))


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds every module of the package, whether or not a release has it."""

    def __init__(self, release: str) -> None:
        self._release = release

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != _PACKAGE:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__version__ = self._release  # type: ignore[attr-defined]

    def find_distributions(self, context: DistributionFinder.Context | None = None) -> Iterator[_Metadata]:
        """Libraries look for the version of the installed package before they import it."""
        if context is not None and (context.name or "").replace("-", "_") == _PACKAGE:
            yield _Metadata(self._release)


class _Metadata(importlib.metadata.Distribution):
    def __init__(self, release: str) -> None:
        self._release = release

    def read_text(self, filename: str) -> str | None:
        return f"Name: {_PACKAGE}\nVersion: {self._release}\n" if filename == "METADATA" else None

    def locate_file(self, path: str | PathLike[str]) -> Any:
        raise FileNotFoundError(f"{_PACKAGE} is not installed for this process: {path}")


class _StandIn(ModuleType):
    """Every name can be imported from it, as libraries do on sight; a call of one says why it cannot be answered.

    ``torch_npu.npu`` answers as ``torch.npu`` does, which it is on a real one.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__.startswith(f"{_PACKAGE}.npu"):
            answer = _of_the_virtual_device(f"{self.__name__}.{name}")
            if answer is not None:
                return answer
        if self.__name__ == _PACKAGE and (operator := _known_operator(name)) is not None:
            return operator
        if name in ("npu", "contrib", "utils", "profiler", "distributed"):
            return importlib.import_module(f"{self.__name__}.{name}")
        return _missing(f"{self.__name__}.{name}")


def _of_the_virtual_device(name: str) -> Any:
    """``torch_npu.npu.amp.autocast`` is ``torch.npu.amp.autocast``; None where that is not there."""
    import torch

    found: Any = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def _known_operator(name: str) -> Any:
    """``torch_npu.npu_geglu`` is ``torch.ops.npu.npu_geglu``, where a tracer has set that up."""
    import torch

    return getattr(torch.ops.npu, name, None)


def _missing(name: str) -> Callable[..., None]:
    def missing(*args: object, **kwargs: object) -> None:
        raise NotImplementedError(
            f"{name} is not available to a scan: opscan runs the model without torch_npu. "
            "Guard the call, or scan the model as it was before the migration."
        )

    return missing
