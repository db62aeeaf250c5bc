"""Whether one module of a model computes on the device what it should.

Each module that runs on the device is run again on the CPU, in double precision and in its own, on the very inputs
that the device gave it. So errors that came in from before are not blamed on it, and a module is right where its output
agrees within its own tolerance. Modules are judged when they end, inner ones before the ones around them:
where a module departs and all inside it agree, the code between them is at fault.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from opscan.probing.comparison.figures import Figures, figures
from opscan.probing.comparison.tolerance import tolerances
from opscan.probing.layers.copies import WIDE
from opscan.probing.protocol import Errors

#: A module may be as far off as the CPU in the same dtype, times this: one that holds others rounds many times.
OWN_SHARE = 4.0

Given = tuple[tuple[Any, ...], dict[str, Any]]


def compare_module(
    references: tuple[nn.Module, nn.Module | None], given: Given, buffers: dict[str, Tensor], actual: list[Tensor]
) -> tuple[Errors | None, str]:
    """Figures, and what departs; no figures, and why not, where it cannot be compared."""
    own, wide = references
    near, why = _replay(own, given, buffers, {})
    far, failed = (None, "") if wide is None else _replay(wide, given, buffers, WIDE)
    expected = far if far is not None and (near is None or _alike(far, near)) else near
    if expected is None:
        return None, f"not compared: {why or failed}"
    if len(expected) != len(actual):
        return None, f"not compared: {len(actual)} results on the device, {len(expected)} on the CPU"
    terms = _terms(own, given)
    found, message = _judge(expected, near or expected, actual, terms)
    if (message or _differ(expected, near or expected, terms)) and _is_random(own, given, buffers):
        return None, "not compared: it draws random numbers"
    return found, message


def _differ(expected: list[Tensor], near: list[Tensor], terms: int) -> bool:
    """Whether the two runs on the CPU are further apart than their dtypes explain."""
    pairs = zip(expected, near, strict=True)
    return any(_distance(own, right) > _slack(own.dtype, right, terms) for right, own in pairs)


def _slack(dtype: torch.dtype, right: Tensor, terms: int) -> float:
    rtol, atol = tolerances(dtype, terms)
    return atol + rtol * _size(right)


def _alike(some: list[Tensor], others: list[Tensor]) -> bool:
    return [t.shape for t in some] == [t.shape for t in others]


def _replay(
    module: nn.Module, given: Given, buffers: dict[str, Tensor], dtypes: dict[torch.dtype, torch.dtype]
) -> tuple[list[Tensor] | None, str]:
    """The module's results on the inputs given, with its buffers as they were; they stay as they are."""

    def put(value: Any) -> Any:
        return value.clone().to(dtypes.get(value.dtype, value.dtype)) if isinstance(value, Tensor) else value

    args, kwargs = tree_map(put, given)
    kept = {n: b.detach().clone() for n, b in module.named_buffers()} if buffers else {}
    try:
        with torch.no_grad():
            _set_buffers(module, buffers)
            result = module(*args, **kwargs)
        return [t.detach() for t in tree_leaves(result) if isinstance(t, Tensor)], ""
    except Exception as error:  # inputs of a kind that cannot be copied, or dtypes that the code fixes
        return None, (str(error).strip().partition("\n")[0] or type(error).__name__)[:200]
    finally:
        with torch.no_grad():
            _set_buffers(module, kept)


def _set_buffers(module: nn.Module, values: dict[str, Tensor]) -> None:
    for name, buffer in module.named_buffers():
        if name in values and buffer.shape == values[name].shape:
            buffer.copy_(values[name])


def _terms(module: nn.Module, given: Given) -> int:
    """Terms behind one element of the result: of the largest weight inside, or along the longest input."""
    weights = [p.numel() // max(p.shape[0], 1) for p in module.parameters() if p.dim() > 1]
    lines = [size for t in tree_leaves(given) if isinstance(t, Tensor) for size in t.shape]
    return max([1, *weights, *lines])


def _judge(expected: list[Tensor], near: list[Tensor], actual: list[Tensor], terms: int) -> tuple[Errors | None, str]:
    parts: list[Figures] = []
    limits: list[tuple[float, float]] = []
    for right, own, got in zip(expected, near, actual, strict=True):
        if right.shape != got.shape:
            return Errors(), f"its result has shape {list(got.shape)}, where {list(right.shape)} is expected"
        rtol, atol = tolerances(got.dtype, terms)
        # Sums cancel: what is small beside the largest element has the largest one's error.
        allowed = max(OWN_SHARE * _distance(own, right), rtol * _size(right) / sqrt(max(terms, 1)))
        parts.append(figures(right, got, rtol, atol, allowed))
        limits.append((rtol, atol))
    if not parts:
        return None, "not compared: it returns no tensors"
    errors = Errors(
        max(p.max_abs for p in parts), max(p.max_rel for p in parts), max(p.max_ulp for p in parts),
        sum(p.nonfinite for p in parts), sum(p.unequal for p in parts),
        max(rtol for rtol, _ in limits), max(atol for _, atol in limits),
    )  # fmt: skip
    worst = next((p for p in parts if p.outside), None)
    if worst is None:
        return errors, ""
    return errors, f"{worst.outside} of {worst.elements} elements depart: absolute error {worst.max_abs:.3g}"


def _distance(one: Tensor, other: Tensor) -> float:
    """The largest finite difference of two floating-point tensors."""
    if one is other or not (one.is_floating_point() or one.is_complex()):
        return 0.0
    wide = torch.complex128 if one.is_complex() or other.is_complex() else torch.float64
    return _size(one.to(wide) - other.to(wide))


def _size(tensor: Tensor) -> float:
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return 0.0
    sizes = tensor.abs()
    sizes = sizes[sizes.isfinite()]
    return float(sizes.max()) if sizes.numel() else 0.0


def _is_random(module: nn.Module, given: Given, buffers: dict[str, Tensor]) -> bool:
    """Whether the CPU itself comes to other results with another seed."""
    runs = []
    for seed in (1, 2):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            runs.append(_replay(module, given, buffers, {})[0])
    if runs[0] is None or runs[1] is None:
        return False
    return any(not torch.equal(a, b) and not (a.isnan() & b.isnan()).any() for a, b in zip(*runs, strict=False))
