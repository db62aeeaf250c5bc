"""What the device's results are like, where stock torch's shape functions would have it otherwise: strides, dtypes.

Observed with the real torch_npu 2.13.0 on a simulated runtime.
"""

from __future__ import annotations

from typing import Any

import torch

#: Operators whose results keep the strides of their input on the device; those of all others are contiguous. What
#: follows may need a copy or not, by that.
_KEEPS_STRIDES = frozenset(
    {
        "aten::clone", "aten::_to_copy", "aten::gelu", "aten::empty_like", "aten::zeros_like", "aten::ones_like",
        "aten::full_like", "aten::rand_like", "aten::randn_like", "aten::empty_strided", "aten::new_empty_strided",
        "aten::empty", "aten::lift_fresh", "aten::_unsafe_view",
    }
)  # fmt: skip

#: The second result, where the device has another dtype for it: a packed mask in place of indices or booleans.
_SECOND_DTYPE = {
    "aten::max_pool2d_with_indices": "int8",
    "aten::max_pool3d_with_indices": "int32",
    "aten::native_dropout": "uint8",
}

#: Windows that the device gives as integers where the call names no dtype: stock torch gives the default dtype.
_INTEGER_WINDOWS = frozenset({"aten::hann_window", "aten::hamming_window", "aten::bartlett_window"})

#: Operators that raise for an input whose strides are those of a channels-last format ("Only Contiguous is supported
#: for creating a npu tensor"), however it came by them: an NHWC tensor seen as NCHW. Others give a contiguous result.
_REFUSES_CHANNELS_LAST = frozenset({"aten::gelu", "aten::softplus_backward"})

_NAME = "_opscan_dtype"


def is_narrowed(func: Any, args: Any, kwargs: Any, device: str) -> bool:
    """Whether the adapter gives float32 where float64 is asked for: ``x.double()``, ``x.to(torch.float64)``.

    It warns once ("Device do not support double dtype now"), and so do torch_npu 2.1.0.post17 and 2.6.0.post5. A cast
    that names a device as well is not narrowed (``x.to(other)``, ``x.to("npu", torch.float64)``), nor are factories.
    """
    return (
        device != "cpu"
        and func is torch.ops.aten._to_copy.default
        and kwargs.get("dtype") is torch.float64
        and kwargs.get("device") is None
        and args[0].device.type == device
    )


def refused_format(func: Any, args: Any) -> str | None:
    """The memory format that the strides of all inputs amount to, where the device refuses it."""
    if func._schema.name not in _REFUSES_CHANNELS_LAST:
        return None
    formats = {torch._prims_common.suggest_memory_format(a) for a in args if isinstance(a, torch.Tensor)}
    return None if len(formats) != 1 or torch.contiguous_format in formats else repr(formats.pop())


def dtype_on_device(tensor: torch.Tensor) -> str | None:
    """The dtype that the device has for a tensor, where it is not the one that stock torch (and so the model) sees."""
    return getattr(tensor, _NAME, None)


def as_the_device_lays_out(func: Any, args: Any, kwargs: Any, out: Any, device: str) -> Any:
    """Results with the strides and dtypes that the device would give them."""
    if func._schema.name in _INTEGER_WINDOWS and kwargs.get("dtype") is None and out.device.type == device != "cpu":
        setattr(out, _NAME, "int64")
    if func.is_view and isinstance(out, torch.Tensor) and (dtype := dtype_on_device(args[0])) is not None:
        setattr(out, _NAME, dtype)
    if device == "cpu" or func.is_view or func._schema.is_mutable or func._schema.name in _KEEPS_STRIDES:
        return out
    if isinstance(out, torch.Tensor):
        return _contiguous(out, device)
    if type(out) not in (tuple, list):
        return out
    results = [_contiguous(t, device) for t in out]
    dtype = _SECOND_DTYPE.get(func._schema.name)
    if dtype is not None:
        setattr(results[1], _NAME, dtype)
    return type(out)(results)


def _contiguous(out: Any, device: str) -> Any:
    if not isinstance(out, torch.Tensor) or out.device.type != device or out.layout is not torch.strided:
        return out
    return out if out.is_contiguous() else out.new_empty(out.shape)
