"""Triton: kernels that the model's own code defines. A launch changes its arguments in place, and is one operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from opscan.tracing.cuda.extensions.calls import Calls
from opscan.tracing.cuda.extensions.interface import StandIns
from opscan.tracing.patches import Patches


class Kernel:
    """A function under ``triton.jit``. ``kernel[grid](…)`` launches it."""

    def __init__(self, function: Any, calls: Calls) -> None:
        self.fn = function
        self.__name__ = getattr(function, "__name__", "kernel")
        self._calls = calls

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        return self.run

    def run(self, *args: Any, **kwargs: Any) -> None:
        name = f"triton.{self.__name__}"
        self._calls.launched(name, args, kwargs)


class Config:
    """``Config(kwargs, num_warps=4, num_stages=3, …)``."""

    def __init__(self, kwargs: dict[str, Any], num_warps: int = 4, num_stages: int = 3, **others: Any) -> None:
        self.kwargs, self.num_warps, self.num_stages = kwargs, num_warps, num_stages


def patch_wrapping(patches: Patches) -> None:
    """``torch.library.wrap_triton(kernel)``, which asks Triton what a kernel is."""
    original = getattr(torch.library, "wrap_triton", None)  # since torch 2.6
    if original is not None:
        patches.set(torch.library, "wrap_triton", lambda k: k if isinstance(k, Kernel) else original(k))


def _jit(calls: Calls) -> Callable[..., Any]:
    def jit(fn: Any = None, **options: Any) -> Any:
        return Kernel(fn, calls) if fn is not None else lambda fn: Kernel(fn, calls)

    return jit


def _unchanged(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """Decorators that choose launch parameters."""
    return lambda kernel: kernel


def cdiv(x: int, y: int) -> int:
    return -(-x // y)


def next_power_of_2(n: int) -> int:
    return 1 << max(n - 1, 0).bit_length() if n else 0


STAND_INS = StandIns(
    package="triton",
    source="https://triton-lang.org/main/python-api/triton.html",
    plain={
        "autotune": _unchanged,
        "heuristics": _unchanged,
        "Config": Config,
        "cdiv": cdiv,
        "next_power_of_2": next_power_of_2,
    },
    factories={"jit": _jit},
)
