"""Gradients of a model's parameters on a device, against those on the CPU."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from opscan.probing.comparison.tolerance import tolerances
from opscan.probing.layers.copies import WIDE, Copies
from opscan.probing.layers.judging import OWN_SHARE
from opscan.probing.layers.report import Layer, NoLayers
from opscan.probing.layers.without_chance import WithoutChance
from opscan.probing.protocol import Errors


def departing_gradients(copies: Copies, out: Any) -> tuple[Layer, ...]:
    """Parameters whose gradients depart, last layers first: the backward pass reaches them first.

    Errors of later layers come in here, on both sides: a gradient departs where it is further from the one in double
    precision, in relation to its norm, than the dtype allows and than the CPU in the same dtype is, several times over.
    """
    _scalar(out).backward()
    with WithoutChance():
        for model, dtypes in ((copies.own, {}), (copies.wide, WIDE)):
            if model is not None:
                _backward(model, copies, dtypes)
    own, wide = (dict(m.named_parameters()) if m is not None else {} for m in (copies.own, copies.wide))
    found: list[Layer] = []
    for name, parameter in reversed(list(copies.device_model.named_parameters())):
        right = wide[name].grad if name in wide and wide[name].grad is not None else own[name].grad
        if parameter.grad is None or right is None:
            continue
        error = _relative(parameter.grad.cpu(), right)
        rtol = tolerances(parameter.dtype, parameter.numel())[0]
        near = own[name].grad
        allowed = max(rtol, OWN_SHARE * (_relative(near, right) if near is not None else 0.0))
        if not error <= allowed:
            message = f"the relative error of its gradient is {error:.3g}, where {allowed:.3g} is allowed"
            found.append(
                Layer(
                    len(found) + 1, name, "gradient", "departs", errors=Errors(None, error, rtol=rtol), message=message
                )
            )
    return tuple(found)


def _backward(model: nn.Module, copies: Copies, dtypes: dict[torch.dtype, torch.dtype]) -> None:
    def put(value: Any) -> Any:
        return value.clone().to(dtypes.get(value.dtype, value.dtype)) if isinstance(value, Tensor) else value

    with suppress(RuntimeError, TypeError):  # dtypes that the code fixes: then the other reference has to do
        _scalar(model(*tree_map(put, copies.args), **tree_map(put, copies.kwargs))).backward()


def _scalar(out: Any) -> Tensor:
    """Something to differentiate: every floating-point result counts, none dominates."""
    results = [t for t in tree_leaves(out) if isinstance(t, Tensor) and t.is_floating_point() and t.requires_grad]
    if not results:
        raise NoLayers(
            "No result of the model has a gradient, so its backward pass cannot be compared.", "Leave out --train."
        )
    # Devices have no double precision.
    means = [(t if t.dtype == torch.float64 else t.float()).square().mean() for t in results]
    return torch.stack([mean.cpu().double() for mean in means]).sum()


def _relative(got: Tensor, right: Tensor) -> float:
    difference, size = float((got.double() - right.double()).norm()), float(right.double().norm())
    return difference / size if size else difference
