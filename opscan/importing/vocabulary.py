"""The only words of a log that come out of it: names of operators, kernels and units, codes, dtypes, sizes.

Everything that leaves a reader goes through these functions, and each lets one form of word through. What a log holds
besides, users, paths, hosts, addresses, tokens, has none of these forms or is never asked for.
"""

from __future__ import annotations

import re
from functools import lru_cache

_NAMESPACED = re.compile(r"[A-Za-z_]\w{0,31}(?:\.[a-z]{1,16}){0,3}::\w{1,80}(?:\.\w{1,40})?", re.ASCII)
_ONNX = re.compile(r"([A-Za-z_][\w.-]{0,63})::(\d{1,3})::([A-Za-z_]\w{0,79})", re.ASCII)
_TYPE = re.compile(r"[A-Z][A-Za-z0-9]{0,63}(?:_[A-Za-z0-9]{1,32}){0,3}", re.ASCII)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}", re.ASCII)
_KERNEL = re.compile(r"aclnn[A-Z][A-Za-z0-9]{1,79}", re.ASCII)
_UNIT = re.compile(r"[A-Z][A-Z0-9_]{0,31}", re.ASCII)

_DTYPES = {
    "FLOAT": "float32", "FLOAT32": "float32", "FP32": "float32", "FLOAT16": "float16", "FP16": "float16",
    "BF16": "bfloat16", "BFLOAT16": "bfloat16", "DOUBLE": "float64", "FLOAT64": "float64", "INT8": "int8",
    "INT16": "int16", "INT32": "int32", "INT64": "int64", "UINT8": "uint8", "UINT16": "uint16", "UINT32": "uint32",
    "UINT64": "uint64", "BOOL": "bool", "COMPLEX32": "complex32", "COMPLEX64": "complex64",
    "COMPLEX128": "complex128", "INT4": "int4", "HIFLOAT8": "hifloat8", "FLOAT8_E5M2": "float8_e5m2",
    "FLOAT8_E4M3FN": "float8_e4m3fn",
}  # fmt: skip

#: Tensors of one call, and dimensions of one tensor, beyond which a table is not a table of operators.
_MOST_TENSORS, _MOST_DIMENSIONS = 64, 16

#: A table repeats its words by the million.
_cached = lru_cache(maxsize=4096)


def operator(text: str) -> str:
    """``aten::add.out``; empty where the text is none."""
    return text if _NAMESPACED.fullmatch(text) else ""


def onnx_operator(text: str) -> str:
    """``ai.onnx::GridSample`` for ``ai.onnx::16::GridSample``, else a type of the graph engine."""
    match = _ONNX.fullmatch(text)
    return f"{match[1]}::{match[3]}" if match else engine_type(text)


def engine_type(text: str) -> str:
    """``TransData``: a type of the graph engine starts with a capital."""
    return text if _TYPE.fullmatch(text) else ""


@_cached
def task_type(text: str) -> str:
    """The same in a column of types, where those of custom kernels need no capital; empty for ``N/A``."""
    return text if _IDENTIFIER.fullmatch(text) else ""


@_cached
def kernel(text: str) -> str:
    """``aclnnSort``; of ``aclnnSort_SortAiCore_Sort``, as profilers name a task, the API in front."""
    match = _KERNEL.match(text)
    return match[0] if match and text[match.end() : match.end() + 1] in ("", "_") else ""


@_cached
def unit(text: str) -> str:
    """``AI_CORE``, ``AI_CPU``, ``MIX_AIV``; empty for ``N/A``."""
    return text if _UNIT.fullmatch(text) else ""


def dtype(text: str) -> str:
    """torch's name of a dtype of CANN: ``float16`` for ``DT_FLOAT16``, ``FLOAT16`` and ``FP16``."""
    return _DTYPES.get(text.strip().upper().removeprefix("DT_"), "")


@_cached
def dtypes(text: str) -> tuple[str, ...]:
    """Those of ``FLOAT16;INT64``."""
    return tuple(found for each in text.strip('" \t').split(";")[:_MOST_TENSORS] if (found := dtype(each)))


@_cached
def shapes(text: str) -> tuple[tuple[int, ...], ...]:
    """Those of ``1,3,224,224;64,3,7,7``; without numbers between semicolons it is a scalar. Empty where it is not a
    list of sizes."""
    text = text.replace("[", "").replace("]", "").strip('" \t')
    if not text or not re.fullmatch(r"[\d,; ]+", text, re.ASCII):
        return ()
    found = []
    for tensor in text.split(";")[:_MOST_TENSORS]:
        sizes = [size for size in tensor.replace(" ", "").split(",") if size]
        if len(sizes) > _MOST_DIMENSIONS or any(len(size) > 15 for size in sizes):
            return ()
        found.append(tuple(int(size) for size in sizes))
    return tuple(found)
