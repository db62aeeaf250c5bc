"""Puts off the import of ``torch._dynamo``, which takes nearly as long as torch's own and is of no use here.

Fake tensors want three things of it: its configuration, ``disable``, which marks functions that it must not compile,
and names for where a tensor came from, which matter to symbolic shapes only. Nothing is compiled in a scan
(``TORCHDYNAMO_DISABLE``) and no shape is symbolic, so these are given without the rest. Whatever else is asked of the
package, by torch or by a model, loads it then.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

_PACKAGE = "torch._dynamo"

#: Older releases ask their package for more than the three things above, in other ways.
_SINCE = "2.13"

_SOURCE = "torch._dynamo.source"


def defer_compiler() -> None:
    """Put a stand-in where ``import torch._dynamo`` finds it. Nothing happens where the package is loaded already."""
    if _PACKAGE in sys.modules or torch.__version__ < _SINCE:
        return
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.loader is None:
        return
    package = _Package(_PACKAGE)
    package.__spec__, package.__loader__, package.__file__, package.__package__ = (
        spec,
        spec.loader,
        spec.origin,
        _PACKAGE,
    )
    sys.modules[_PACKAGE] = package
    package.__path__ = spec.submodule_search_locations or []
    try:
        importlib.import_module(f"{_PACKAGE}.config")
    except ImportError:  # a torch whose configuration needs the package: it loads when it is asked for
        del sys.modules[_PACKAGE]
        return
    # Every other submodule expects the package to be complete: its import looks for this path, which loads the package.
    del package.__path__
    torch._dynamo = package
    sys.modules[_SOURCE] = _Source(_SOURCE)


def _load() -> None:
    """Import the package, as what stood in for it. The import may make tensors, which no mode of a trace may see."""
    from torch.utils._python_dispatch import _disable_current_modes

    package = sys.modules[_PACKAGE]
    spec = package.__spec__
    assert spec is not None
    assert spec.loader is not None
    sys.modules.pop(_SOURCE)
    package.__class__ = ModuleType
    package.__path__ = spec.submodule_search_locations or []
    with _disable_current_modes(), torch._C.DisableTorchFunction():
        spec.loader.exec_module(package)


class _Package(ModuleType):
    """``torch._dynamo`` until something else than ``config`` and ``disable`` is asked of it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.disable = _as_it_is

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        _load()
        return getattr(self, name)


class _Source(ModuleType):
    """``torch._dynamo.source`` until something else than the two names below is asked of it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.ConstantSource, self.RandomValueSource = _Named, _Random

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _load()
        return getattr(sys.modules[_SOURCE], name)


@dataclass(frozen=True)
class _Named:
    """A tensor that came from nowhere in particular."""

    name: str


class _Random:
    """What a random number came from: nothing is an instance."""


def _as_it_is(function: Callable[..., Any] | None = None, *args: Any, **kwargs: Any) -> Any:
    """``disable``: as a call, or as a decorator with arguments."""
    return function if function is not None else lambda decorated: decorated
