"""ONNX's types as the inventory writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import onnx

from opscan.inventory import Dim, TensorSpec

#: A type that the file does not tell.
UNKNOWN = "unknown"

#: The shape of a tensor of unknown rank.
ANY_SHAPE: tuple[Dim, ...] = ("?",)

#: Where torch spells a dtype otherwise than ONNX in lower case.
_SPELLINGS = {
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "FLOAT8E4M3FN": "float8_e4m3fn",
    "FLOAT8E4M3FNUZ": "float8_e4m3fnuz",
    "FLOAT8E5M2": "float8_e5m2",
    "FLOAT8E5M2FNUZ": "float8_e5m2fnuz",
    "FLOAT8E8M0": "float8_e8m0fnu",
    "FLOAT4E2M1": "float4_e2m1",
    "UNDEFINED": UNKNOWN,
}

#: Names that shape inference makes up.
_MADE_UP = re.compile(r"unk__\d+")


@cache
def dtype_of(element: int) -> str:
    """The dtype of a number of ``TensorProto.DataType``."""
    try:
        name: str = onnx.TensorProto.DataType.Name(element)
    except ValueError:
        return UNKNOWN
    return _SPELLINGS.get(name, name.lower())


def spec_of_type(kind: onnx.TypeProto) -> TensorSpec:
    """A tensor's spec; of a sequence or an optional one, that of what it holds."""
    which = kind.WhichOneof("value")
    if which in ("tensor_type", "sparse_tensor_type"):
        tensor = getattr(kind, which)
        shape = tuple(map(_dim, tensor.shape.dim)) if tensor.HasField("shape") else ANY_SHAPE
        return TensorSpec(dtype_of(tensor.elem_type), shape)
    if which in ("sequence_type", "optional_type"):
        return TensorSpec(spec_of_type(getattr(kind, which).elem_type).dtype, ANY_SHAPE)
    return TensorSpec(UNKNOWN, ANY_SHAPE)


def spec_of_tensor(tensor: onnx.TensorProto) -> TensorSpec:
    return TensorSpec(dtype_of(tensor.data_type), tuple(size if size >= 0 else "?" for size in tensor.dims))


def _dim(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    if dim.HasField("dim_value"):
        return dim.dim_value if dim.dim_value >= 0 else "?"
    return "?" if not dim.dim_param or _MADE_UP.fullmatch(dim.dim_param) else dim.dim_param


def open_dims(values: Iterable[tuple[str, TensorSpec]]) -> list[str]:
    """Inputs with a dimension that has no fixed size, written as ``x[batch, 3, ?]``."""
    return [
        f"{name}[{', '.join(map(str, spec.shape))}]"
        for name, spec in values
        if any(isinstance(dim, str) for dim in spec.shape)
    ]
