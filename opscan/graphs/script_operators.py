"""Operators of TorchScript on values of Python: containers change in place, tensors become numbers, as in Python."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch


def _unless_tensor(function: Callable[..., Any]) -> Callable[..., Any]:
    """Left to torch's own operator where the first argument is a tensor."""

    def call(*args: Any) -> Any:
        return NotImplemented if isinstance(args[0], torch.Tensor) else function(*args)

    return call


def _of_tensor(function: Callable[..., Any]) -> Callable[..., Any]:
    """For a tensor; other values are left to torch's own operator."""

    def call(*args: Any) -> Any:
        return function(*args) if isinstance(args[0], torch.Tensor) else NotImplemented

    return call


def _append(items: list[Any], item: Any) -> list[Any]:
    items.append(item)
    return items


def _set_item(items: Any, key: Any, item: Any) -> Any:
    items[key] = item
    return items


def _slice(items: Any, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return items[start:end:step]


def _joined(left: Any, right: Any, *alpha: Any) -> Any:
    return left + right if isinstance(left, list) and isinstance(right, list) else NotImplemented


def _extended(left: Any, right: Any, *alpha: Any) -> Any:
    if not isinstance(left, list):
        return NotImplemented
    left += right
    return left


def _pop(items: Any, *key: Any) -> Any:
    return items.pop(*key)


def _sorted(items: list[Any], reverse: bool = False) -> None:
    items.sort(reverse=reverse)


def _unwrapped(value: Any) -> Any:
    if value is None:
        raise RuntimeError("unwrapping None")
    return value


def _tensor(data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    return torch.tensor(data, dtype=_dtype(dtype), device=device, requires_grad=requires_grad)


def _dtype(number: Any) -> Any:
    """TorchScript numbers dtypes."""
    return _DTYPES[number] if isinstance(number, int) else number


#: c10::ScalarType, in its order.
_DTYPES = (
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64,
    torch.complex32, torch.complex64, torch.complex128, torch.bool, torch.qint8, torch.quint8, torch.qint32,
    torch.bfloat16,
)  # fmt: skip


def _convolution(*args: Any) -> Any:
    """A trace holds what ``convolution`` calls, with three or four settings of cuDNN's behind its arguments; torch_npu
    has one kernel for both: it launches ``aclnnConvolution`` for either, seen on 2.13.0 over a simulated runtime."""
    return torch.ops.aten.convolution(*args[:9])


def _nothing(*args: Any) -> None:
    return None


#: By kind of node. ``NotImplemented`` leaves a call to torch's own operator.
IN_PYTHON: dict[str, Callable[..., Any]] = {
    "aten::append": _append,
    "aten::_set_item": _unless_tensor(_set_item),
    "aten::__getitem__": _unless_tensor(operator.getitem),
    "aten::__contains__": _unless_tensor(operator.contains),
    "aten::len": _unless_tensor(len),
    "aten::slice": _unless_tensor(_slice),
    "aten::add": _joined,
    "aten::add_": _extended,
    "aten::extend": lambda items, more: items.extend(more),
    "aten::insert": lambda items, index, item: items.insert(index, item),
    "aten::pop": _pop,
    "aten::popitem": lambda items: items.popitem(),
    "aten::Delete": lambda items, key: operator.delitem(items, key),
    "aten::clear": lambda items: items.clear(),
    "aten::reverse": lambda items: items.reverse(),
    "aten::sort": _unless_tensor(_sorted),
    "aten::sorted": _unless_tensor(sorted),
    "aten::copy": _unless_tensor(lambda items: items.copy()),
    "aten::list": _unless_tensor(list),
    "aten::dict": lambda *items: dict(*items),
    "aten::keys": lambda items: list(items.keys()),
    "aten::values": _unless_tensor(lambda items: list(items.values())),
    "aten::items": lambda items: list(items.items()),
    "aten::get": lambda items, key, default=None: items.get(key, default),
    "aten::update": lambda items, more: items.update(more),
    "aten::format": lambda text, *args: text.format(*args),
    "aten::str": str,
    "aten::__is__": operator.is_,
    "aten::__isnot__": operator.is_not,
    "aten::__not__": operator.not_,
    "aten::Bool": _of_tensor(bool),
    "aten::Int": _of_tensor(int),
    "aten::Float": _of_tensor(float),
    "aten::IntImplicit": _of_tensor(int),
    "aten::FloatImplicit": _of_tensor(float),
    "aten::ScalarImplicit": _of_tensor(lambda tensor: tensor.item()),
    "aten::tensor": _unless_tensor(_tensor),
    "aten::as_tensor": _unless_tensor(_tensor),
    "aten::_convolution": _convolution,
    "aten::_unwrap_optional": _unwrapped,
    "aten::warn": _nothing,
    "prim::Print": _nothing,
    "prim::Uninitialized": _nothing,
    "prim::unchecked_cast": lambda value: value,
    "prim::unchecked_unwrap_optional": _unwrapped,
    "prim::data": lambda tensor: tensor.detach(),
    "prim::device": lambda tensor: tensor.device,
    "prim::shape": lambda tensor: list(tensor.shape),
    "prim::TupleIndex": lambda items, index: items[index],
}
