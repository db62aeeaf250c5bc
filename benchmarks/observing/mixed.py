"""Arithmetic of two dtypes, with Python numbers, and in place; activations in place."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from observing.calls import sample
from observing.log import Attempt, Case

FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
DTYPES = (*FLOATS, torch.int64, torch.int32, torch.uint8, torch.bool)

BINARY = (
    "add", "sub", "mul", "div", "floor_divide", "remainder", "pow", "eq", "ne", "lt", "le", "gt", "ge", "maximum",
    "minimum", "fmod", "bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor", "atan2",
)  # fmt: skip

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": lambda x: F.relu(x, inplace=True),
    "relu6": lambda x: F.relu6(x, inplace=True),
    "silu": lambda x: F.silu(x, inplace=True),
    "mish": lambda x: F.mish(x, inplace=True),
    "hardswish": lambda x: F.hardswish(x, inplace=True),
    "hardsigmoid": lambda x: F.hardsigmoid(x, inplace=True),
    "hardtanh": lambda x: F.hardtanh(x, inplace=True),
    "leaky_relu": lambda x: F.leaky_relu(x, inplace=True),
    "elu": lambda x: F.elu(x, inplace=True),
    "celu": lambda x: F.celu(x, inplace=True),
    "selu": lambda x: F.selu(x, inplace=True),
    "threshold": lambda x: F.threshold(x, 0.1, 0.0, inplace=True),
    "dropout": lambda x: F.dropout(x, 0.5, True, inplace=True),
    "sigmoid": lambda x: x.sigmoid_(),
    "tanh": lambda x: x.tanh_(),
    "exp": lambda x: x.exp_(),
    "log": lambda x: x.log_(),
    "sqrt": lambda x: x.sqrt_(),
    "rsqrt": lambda x: x.rsqrt_(),
    "neg": lambda x: x.neg_(),
    "abs": lambda x: x.abs_(),
    "clamp": lambda x: x.clamp_(0, 1),
    "clamp_min": lambda x: x.clamp_min_(0),
    "clamp_max": lambda x: x.clamp_max_(1),
    "round": lambda x: x.round_(),
    "floor": lambda x: x.floor_(),
    "zero": lambda x: x.zero_(),
    "fill": lambda x: x.fill_(1),
    "cumsum": lambda x: x.cumsum(0),
    "cumsum in place": lambda x: x.cumsum_(0),
    "triu in place": lambda x: x.triu_(),
    "tril in place": lambda x: x.tril_(),
    "sum": lambda x: x.sum(1),
    "any": lambda x: x.any(1),
    "all": lambda x: x.all(1),
    "argmax": lambda x: x.argmax(1),
}


def cases() -> list[Case]:
    """Operators of two tensors by every pair of dtypes; with a number of either kind; in place."""
    found = [Case(f"mixed {name}", _pairs(name), related=False) for name in BINARY]
    found += [Case(f"number {name}", _numbers(name)) for name in BINARY]
    found += [Case(f"in place {name}", _each(function)) for name, function in ACTIVATIONS.items()]
    found += [Case("mixed where", _where), Case("mixed masked_fill", _masked_fill)]
    found += [Case("mixed norms", _norms), Case("mixed cat", _cat, related=False)]
    return found


def _pairs(name: str) -> Callable[[Attempt], None]:
    def run(attempt: Attempt) -> None:
        for left, right in itertools.product(DTYPES, DTYPES):
            x, y = sample((4, 4), left), sample((4, 4), right)
            attempt("forward", lambda x=x, y=y: getattr(torch, name)(x, y))
            attempt("inplace", lambda x=x, y=y: getattr(x.clone(), f"{name}_")(y))

    return run


def _numbers(name: str) -> Callable[[Attempt], None]:
    def run(attempt: Attempt) -> None:
        for dtype, number in itertools.product(DTYPES, (2, 0.5, True)):
            x = sample((4, 4), dtype)
            attempt("forward", lambda x=x, number=number: getattr(x, name)(number))
            attempt("inplace", lambda x=x, number=number: getattr(x.clone(), f"{name}_")(number))
            if name in ("sub", "pow", "floor_divide", "remainder"):
                attempt("forward", lambda x=x, number=number: _reflected(name, number, x))

    return run


def _reflected(name: str, number: float, x: Tensor) -> Tensor:
    if name == "sub":
        return number - x
    if name == "pow":
        return number**x
    return number // x if name == "floor_divide" else number % x


def _each(function: Callable[[Tensor], Tensor]) -> Callable[[Attempt], None]:
    def run(attempt: Attempt) -> None:
        for dtype in DTYPES:
            x = sample((4, 4), dtype)
            attempt("inplace", lambda x=x: function(x.clone()))

    return run


def _where(attempt: Attempt) -> None:
    for left, right in itertools.product(DTYPES, DTYPES):
        x, y = sample((4, 4), left), sample((4, 4), right)
        mask = sample((4, 4), torch.bool)
        attempt("forward", lambda mask=mask, x=x, y=y: torch.where(mask, x, y))
    for dtype, number in itertools.product(DTYPES, (0, 0.5, float("-inf"))):
        x, mask = sample((4, 4), dtype), sample((4, 4), torch.bool)
        attempt("forward", lambda mask=mask, x=x, number=number: torch.where(mask, x, number))


def _masked_fill(attempt: Attempt) -> None:
    for dtype in DTYPES:
        x, mask = sample((4, 4), dtype), sample((4, 4), torch.bool)
        attempt("forward", lambda x=x, mask=mask: x.masked_fill(mask, 1))
        attempt("inplace", lambda x=x, mask=mask: x.clone().masked_fill_(mask, 1))


def _norms(attempt: Attempt) -> None:
    """Normalisation under mixed precision: the input in half precision, statistics and weights in float32."""
    for dtype in FLOATS[1:3]:
        x = sample((2, 4, 4, 4), dtype)
        for affine in (True, False):
            norm = torch.nn.BatchNorm2d(4, affine=affine).npu()
            attempt("forward", lambda norm=norm, x=x: norm.eval()(x))
            attempt("forward", lambda norm=norm, x=x: norm.train()(x))
            attempt("backward", lambda norm=norm, x=x: norm.train()(x.clone().requires_grad_()).sum().backward())
        for norm in (torch.nn.LayerNorm(4), torch.nn.GroupNorm(2, 4), torch.nn.InstanceNorm2d(4, affine=True)):
            norm = norm.npu()
            attempt("forward", lambda norm=norm, x=x: norm(x))
            attempt("backward", lambda norm=norm, x=x: norm(x.clone().requires_grad_()).sum().backward())


def _cat(attempt: Attempt) -> None:
    for left, right in itertools.product(DTYPES, DTYPES):
        x, y = sample((4, 4), left), sample((4, 4), right)
        attempt("forward", lambda x=x, y=y: torch.cat([x, y]))
