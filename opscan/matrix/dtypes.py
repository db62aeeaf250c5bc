"""The dtypes that tables name, in torch's spelling without the prefix."""

from __future__ import annotations

DTYPES = (
    "float32", "float16", "bfloat16", "float64", "int64", "int32", "int16", "int8", "uint8", "bool",
    "complex64", "complex128", "complex32", "uint16", "uint32", "uint64",
    "float8_e4m3fn", "float8_e5m2", "float8_e8m0", "float4_e2m1", "float4_e1m2", "hifloat8", "int4",
    "qint8", "quint8", "qint32",
)  # fmt: skip
