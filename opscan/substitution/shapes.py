"""Concrete sizes for a check: symbolic dimensions get numbers, large tensors shrink together."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from opscan.inventory import Dim, TensorSpec

#: Inputs and outputs of a check together, in bytes: 64 MB keeps it within a second on a laptop.
LIMIT = 64 * 2**20

#: What a symbolic dimension becomes.
SYMBOLIC = 8

#: Bytes of one element; dtypes not listed take one.
ITEMSIZE = {
    "complex128": 16,
    "complex64": 8,
    "float64": 8,
    "int64": 8,
    "uint64": 8,
    "complex32": 4,
    "float32": 4,
    "int32": 4,
    "uint32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int16": 2,
    "uint16": 2,
}


def concrete(specs: Sequence[TensorSpec]) -> tuple[TensorSpec, ...]:
    """``specs`` with a number for each symbolic dimension, equal names getting equal numbers.

    Raises ``ValueError`` for an expression beyond sums, differences, products and whole quotients of names.
    """
    return tuple(TensorSpec(spec.dtype, tuple(_size(dim) for dim in spec.shape)) for spec in specs)


def _size(dim: Dim) -> int:
    if isinstance(dim, int):
        return dim
    try:
        return _evaluate(ast.parse(dim, mode="eval").body)
    except SyntaxError as error:
        raise ValueError(f"not a size: {dim}") from error


def _evaluate(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name():
            return SYMBOLIC
        case ast.BinOp(left, ast.Add(), right):
            return _evaluate(left) + _evaluate(right)
        case ast.BinOp(left, ast.Sub(), right):
            return _evaluate(left) - _evaluate(right)
        case ast.BinOp(left, ast.Mult(), right):
            return _evaluate(left) * _evaluate(right)
        case ast.BinOp(left, ast.FloorDiv(), right):
            return _evaluate(left) // _evaluate(right)
        case _:
            raise ValueError(f"not a size: {ast.unparse(node)}")


def size_in_bytes(specs: Sequence[TensorSpec]) -> int:
    total = 0
    for spec in specs:
        count = 1
        for dim in spec.shape:
            count *= int(dim)
        total += count * ITEMSIZE.get(spec.dtype, 1)
    return total


def within_limit(
    inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec], limit: int = LIMIT
) -> tuple[tuple[TensorSpec, ...], bool]:
    """Input shapes whose tensors and results fit into ``limit`` bytes, and whether that took scaling down.

    Sizes are capped, from the largest down. A cap keeps equal sizes equal, ones ones and smaller sizes not larger, so
    shapes that broadcast or index each other still do.
    """
    cap = max((int(dim) for spec in (*inputs, *outputs) for dim in spec.shape), default=1)
    scaled = False
    while cap > 1 and size_in_bytes(_capped(inputs, cap)) + size_in_bytes(_capped(outputs, cap)) > limit:
        cap //= 2
        scaled = True
    return _capped(inputs, cap), scaled


def _capped(specs: Sequence[TensorSpec], cap: int) -> tuple[TensorSpec, ...]:
    return tuple(TensorSpec(spec.dtype, tuple(min(int(dim), cap) for dim in spec.shape)) for spec in specs)
