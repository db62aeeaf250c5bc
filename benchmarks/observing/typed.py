"""Calls that name the dtype of their result, or leave it to a factory: like another tensor, windows, reductions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from observing.calls import sample
from observing.log import Attempt, Case

FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
DTYPES = (*FLOATS, torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool)
NPU: dict[str, Any] = {"device": "npu"}

#: What models sum numbers of other dtypes into.
SUMS = (*FLOATS, torch.int64, torch.int32)

Typed = Callable[[Tensor, torch.dtype], Tensor]

LIKE: dict[str, Typed] = {
    "empty_like": lambda x, onto: torch.empty_like(x, dtype=onto),
    "zeros_like": lambda x, onto: torch.zeros_like(x, dtype=onto),
    "ones_like": lambda x, onto: torch.ones_like(x, dtype=onto),
    "full_like": lambda x, onto: torch.full_like(x, 2, dtype=onto),
    "randint_like": lambda x, onto: torch.randint_like(x, 4, dtype=onto),
    "randint_like low": lambda x, onto: torch.randint_like(x, 1, 4, dtype=onto),
    "new_empty": lambda x, onto: x.new_empty((3,), dtype=onto),
    "new_empty_strided": lambda x, onto: x.new_empty_strided((2, 2), (2, 1), dtype=onto),
    "new_zeros": lambda x, onto: x.new_zeros((3,), dtype=onto),
    "new_ones": lambda x, onto: x.new_ones((3,), dtype=onto),
    "new_full": lambda x, onto: x.new_full((3,), 2, dtype=onto),
}

SUMMED: dict[str, Typed] = {
    "sum": lambda x, onto: x.sum(dtype=onto),
    "sum dim": lambda x, onto: x.sum(-1, dtype=onto),
    "prod": lambda x, onto: x.prod(dtype=onto),
    "prod dim": lambda x, onto: x.prod(-1, dtype=onto),
    "nansum": lambda x, onto: x.nansum(-1, dtype=onto),
    "cumsum": lambda x, onto: x.cumsum(-1, dtype=onto),
    "cumprod": lambda x, onto: x.cumprod(-1, dtype=onto),
}

#: Only floating dtypes are asked for; stock torch refuses others.
FLOATING: dict[str, Typed] = {
    "rand_like": lambda x, onto: torch.rand_like(x, dtype=onto),
    "randn_like": lambda x, onto: torch.randn_like(x, dtype=onto),
    "mean": lambda x, onto: x.mean(dtype=onto),
    "mean dim": lambda x, onto: x.mean(-1, dtype=onto),
    "softmax": lambda x, onto: x.softmax(-1, dtype=onto),
    "log_softmax": lambda x, onto: x.log_softmax(-1, dtype=onto),
    "norm": lambda x, onto: torch.norm(x, 2, dtype=onto),
    "norm dim": lambda x, onto: torch.norm(x, 2, -1, dtype=onto),
    "vector norm": lambda x, onto: torch.linalg.vector_norm(x, dim=-1, dtype=onto),
}

WINDOWS: dict[str, Callable[..., Tensor]] = {
    "hann": torch.hann_window,
    "hamming": torch.hamming_window,
    "blackman": torch.blackman_window,
    "bartlett": torch.bartlett_window,
    "kaiser": torch.kaiser_window,
}

#: Arguments after the length: none, (not) periodic, and what is particular to a window.
SHAPED: dict[str, tuple[tuple[Any, ...], ...]] = {
    "hamming": ((), (True,), (False,), (True, 0.5), (True, 0.5, 0.5)),
    "kaiser": ((), (True,), (False,), (True, 8.0)),
}

#: Called without a dtype, so that the dtype of the result follows from the arguments.
UNTYPED: dict[str, Callable[[], Tensor]] = {
    "arange": lambda: torch.arange(8, **NPU),
    "arange float": lambda: torch.arange(8.0, **NPU),
    "arange from": lambda: torch.arange(1, 8, **NPU),
    "arange from float": lambda: torch.arange(1.0, 8.0, **NPU),
    "arange step": lambda: torch.arange(0, 8, 2, **NPU),
    "arange step float": lambda: torch.arange(0, 1, 0.25, **NPU),
    "linspace": lambda: torch.linspace(0, 1, 8, **NPU),
    "logspace": lambda: torch.logspace(0, 1, 8, **NPU),
    "full": lambda: torch.full((3,), 2, **NPU),
    "full half": lambda: torch.full((3,), 0.5, **NPU),
    "full true": lambda: torch.full((3,), True, **NPU),
    "zeros": lambda: torch.zeros(3, **NPU),
    "ones": lambda: torch.ones(3, **NPU),
    "empty": lambda: torch.empty(3, **NPU),
    "eye": lambda: torch.eye(3, **NPU),
    "eye wide": lambda: torch.eye(3, 4, **NPU),
    "rand": lambda: torch.rand(3, **NPU),
    "randn": lambda: torch.randn(3, **NPU),
    "randint": lambda: torch.randint(4, (3,), **NPU),
    "randint low": lambda: torch.randint(1, 4, (3,), **NPU),
    "randperm": lambda: torch.randperm(8, **NPU),
    "normal": lambda: torch.normal(0.0, 1.0, (3,), **NPU),
    "scalar_tensor": lambda: torch.scalar_tensor(2, **NPU),
    "tril_indices": lambda: torch.tril_indices(3, 3, **NPU),
    "triu_indices": lambda: torch.triu_indices(3, 3, **NPU),
}

#: Numbers of another kind than the dtype that is asked for.
FILLED: dict[str, Callable[[torch.dtype], Tensor]] = {
    "full half": lambda onto: torch.full((3,), 0.5, dtype=onto, **NPU),
    "full true": lambda onto: torch.full((3,), True, dtype=onto, **NPU),
    "arange float": lambda onto: torch.arange(8.0, dtype=onto, **NPU),
    "arange from float": lambda onto: torch.arange(1.0, 8.0, dtype=onto, **NPU),
    "arange step float": lambda onto: torch.arange(0.0, 8.0, 2.0, dtype=onto, **NPU),
    "linspace": lambda onto: torch.linspace(0, 7, 8, dtype=onto, **NPU),
    "eye wide": lambda onto: torch.eye(3, 4, dtype=onto, **NPU),
}


def cases() -> list[Case]:
    lists = ((LIKE, DTYPES), (SUMMED, SUMS), (FLOATING, FLOATS))
    found = [Case(f"typed {name}", _pairs(function, results), related=False) for functions, results in lists
             for name, function in functions.items()]  # fmt: skip
    found += [Case(f"window {name}", _windows(name), related=False) for name in WINDOWS]
    found += [Case("untyped factories", _untyped, related=False)]
    return [*found, *(Case(f"filled {name}", _each(function), related=False) for name, function in FILLED.items())]


def _pairs(function: Typed, results: tuple[torch.dtype, ...]) -> Callable[[Attempt], None]:
    """Every dtype of the argument with every other one of the result; backward where both are floating."""

    def run(attempt: Attempt) -> None:
        for dtype, onto in itertools.product(DTYPES, results):
            if dtype == onto:
                continue
            x = sample((4, 4), dtype)
            x.requires_grad_(dtype.is_floating_point)
            out = attempt("forward", lambda x=x, onto=onto: function(x, onto))
            if out is not None and out.requires_grad:
                grad = torch.ones_like(out)
                attempt("backward", lambda x=x, out=out, grad=grad: torch.autograd.grad(out, x, grad))

    return run


def _windows(name: str) -> Callable[[Attempt], None]:
    def run(attempt: Attempt) -> None:
        for given in SHAPED.get(name, ((), (True,), (False,))):
            attempt("forward", lambda given=given: WINDOWS[name](16, *given, **NPU))
            for dtype in FLOATS:
                attempt("forward", lambda given=given, dtype=dtype: WINDOWS[name](16, *given, dtype=dtype, **NPU))

    return run


def _untyped(attempt: Attempt) -> None:
    for call in UNTYPED.values():
        attempt("forward", call)


def _each(function: Callable[[torch.dtype], Tensor]) -> Callable[[Attempt], None]:
    def run(attempt: Attempt) -> None:
        for dtype in DTYPES:
            attempt("forward", lambda dtype=dtype: function(dtype))

    return run
