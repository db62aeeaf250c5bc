"""Operators and their arguments in the words of an inventory."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from opscan.inventory import Dim, TensorSpec
from opscan.tracing.layout import dtype_on_device, refused_format

#: Longer ``repr`` texts of arguments are cut.
_REPR_LIMIT = 200


def qualified(func: Any) -> str:
    """``aten::add.Tensor``; ``.default`` is dropped."""
    name: str = func._schema.name
    overload = func._schema.overload_name
    return f"{name}.{overload}" if overload else name


def by_name(func: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """The values of an operator's parameters, defaults among them, by name."""
    parameters = func._schema.arguments
    defaults = {p.name: p.default_value for p in parameters if p.has_default_value()}
    return {**defaults, **dict(zip((p.name for p in parameters), args, strict=False)), **kwargs}


_NAMES: dict[torch.dtype, str] = {}


def dtype_name(dtype: torch.dtype) -> str:
    name = _NAMES.get(dtype)
    if name is None:
        name = _NAMES[dtype] = str(dtype).removeprefix("torch.")
    return name


def specs(tensors: list[Any]) -> tuple[TensorSpec, ...]:
    return tuple(TensorSpec(dtype_on_device(t) or dtype_name(t.dtype), _shape(t)) for t in tensors)


def _shape(tensor: torch.Tensor) -> tuple[Dim, ...]:
    """Of a nested tensor only the first size is a number. Parameters of lazy modules have no ``shape``, and a size."""
    if tensor.is_nested:
        return (tensor.size(0), *["ragged"] * (tensor.dim() - 1))
    return tuple(int(size) for size in tensor.size())


def arguments(func: Any, args: Any, kwargs: Any) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Names of the parameters that the tensors fill, in order, and the other arguments as (name, repr).

    ``layout`` is told where a tensor among the arguments is sparse: such a call goes to other kernels. So is
    ``memory_format`` where the strides of an input have one that the operator refuses on the device.
    """
    given = [*zip((p.name for p in func._schema.arguments), args, strict=False), *kwargs.items()]
    parameters: list[str] = []
    attributes: list[tuple[str, str]] = []
    for name, value in given:
        if isinstance(value, torch.Tensor):
            parameters.append(name)
        elif isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) for v in value):
            parameters.extend(f"{name}[{i}]" for i, v in enumerate(value) if isinstance(v, torch.Tensor))
        elif value is not None:
            attributes.append((name, repr(value)[:_REPR_LIMIT]))
    sparse = next((t.layout for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor) and t.is_sparse), None)
    if sparse is not None and "layout" not in dict(attributes):
        attributes.append(("layout", repr(sparse)))
    if (refused := refused_format(func, args)) is not None:
        attributes.append(("memory_format", refused))
    return tuple(parameters), tuple(attributes)
