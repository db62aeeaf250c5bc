"""How the device lays out results in memory, where stock torch's shape functions would have it otherwise."""

from __future__ import annotations

from typing import Any

import torch

#: Operators whose results keep the strides of their input on the device; those of all others are contiguous. Observed
#: with the real torch_npu 2.13.0 on a simulated runtime. What follows may need a copy or not, by that.
_KEEPS_STRIDES = frozenset(
    {
        "aten::clone", "aten::_to_copy", "aten::gelu", "aten::empty_like", "aten::zeros_like", "aten::ones_like",
        "aten::full_like", "aten::rand_like", "aten::randn_like", "aten::empty_strided", "aten::new_empty_strided",
        "aten::empty", "aten::lift_fresh", "aten::_unsafe_view",
    }
)  # fmt: skip


def as_the_device_lays_out(func: Any, out: Any, device: str) -> Any:
    """Contiguous results, where the device would have them and stock torch's shape functions keep an input's
    strides.
    """
    if device == "cpu" or func.is_view or func._schema.is_mutable or func._schema.name in _KEEPS_STRIDES:
        return out
    if isinstance(out, torch.Tensor):
        return _contiguous(out, device)
    return type(out)(_contiguous(t, device) for t in out) if type(out) in (tuple, list) else out


def _contiguous(out: Any, device: str) -> Any:
    if not isinstance(out, torch.Tensor) or out.device.type != device or out.layout is not torch.strided:
        return out
    return out if out.is_contiguous() else out.new_empty(out.shape)
