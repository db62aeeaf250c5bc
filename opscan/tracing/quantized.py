"""Quantized tensors on the virtual device, and the operators of ``quantized::``: fake tensors know neither.

A quantized tensor is a real one of the CPU behind a tensor that says it is on the device. Operators that make or take
one, and those whose weights are packed for a CPU library, run for real on it, so that shapes, dtypes and scales are
right; where a value is not known, zeros stand for it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_map, tree_map_only

from opscan.tracing import values

#: Operators outside of ``quantized::`` that make a quantized tensor of others.
_MAKERS = frozenset(
    {
        "aten::quantize_per_tensor", "aten::quantize_per_channel", "aten::quantize_per_tensor_dynamic",
        "aten::_empty_affine_quantized", "aten::_empty_per_channel_affine_quantized",
        "aten::_make_per_tensor_quantized_tensor", "aten::_make_per_channel_quantized_tensor",
    }
)  # fmt: skip


class Quantized(torch.Tensor):
    """A quantized tensor of ``device`` whose elements are those of ``held``, on the CPU."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, real: torch.Tensor, device: torch.device) -> Quantized:
        made: Quantized = torch.Tensor._make_wrapper_subclass(
            cls, real.size(), strides=real.stride(), dtype=real.dtype, device=device
        )
        made.held = real
        return made

    def __repr__(self, **options: Any) -> str:  # type: ignore[override]
        return f"Quantized({str(self.dtype)[6:]}{list(self.shape)})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        return func(*tree_map_only(Quantized, lambda t: t.held, args), **(kwargs or {}))


def is_quantizing(func: Any, inputs: list[torch.Tensor]) -> bool:
    """Whether an operator makes or takes a quantized tensor, or packed weights."""
    if func.namespace == "quantized" or func._schema.name in _MAKERS:
        return True
    return any(isinstance(t, Quantized) or t.is_quantized for t in inputs)


def run_for_real(func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor], traced: torch.device) -> Any:
    """The result of the CPU's kernel, on the device that it would be on: quantized as it is, else an empty fake."""
    device = kwargs.get("device") or next((t.device for t in inputs if t.device.type == traced.type), None)
    wrappers: dict[int, torch.Tensor] = {}

    def behind(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            real = _real(leaf)
            wrappers[id(real)] = leaf
            return real
        return torch.device("cpu") if isinstance(leaf, torch.device) else leaf

    def before(real: torch.Tensor) -> torch.Tensor:
        found = wrappers.get(id(real))
        return _wrapped(real, torch.device(device or "cpu")) if found is None else found

    real_args, real_kwargs = tree_map(behind, (args, kwargs))
    with values.computing(), torch.no_grad():
        out = func(*real_args, **real_kwargs)
    return tree_map_only(torch.Tensor, before, out)


def _real(tensor: torch.Tensor) -> torch.Tensor:
    if isinstance(tensor, Quantized):
        return tensor.held
    if (held := values.known(tensor)) is not None:
        return held.value
    return tensor if type(tensor) is torch.Tensor and tensor.device.type == "cpu" else values.zeros_for(tensor)


def _wrapped(real: torch.Tensor, device: torch.device) -> torch.Tensor:
    if real.is_quantized:
        return Quantized(real, device)
    return torch.empty(tuple(real.shape), dtype=real.dtype, device=device)
