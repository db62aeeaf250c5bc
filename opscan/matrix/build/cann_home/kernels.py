"""Dtypes of the precompiled AI Core kernels, for operators whose list leaves them open.

Of the operators of CANN 8.1.RC1 on ascend910b that state their dtypes and have precompiled kernels, 1,920 of 1,987
inputs state exactly the dtypes of the kernels (54 more, 12 fewer): where nothing is stated, the kernels are as good as
a list. That does not hold for kernels that are taken by the width of an element: 2 of 13 are exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from opscan.matrix.build.cann_home.toolkit import AI_CORE, Toolkit, damaged, read_json

#: File name without ``.json`` (an operator's, in snake case) → its kernels.
Binaries = Mapping[str, tuple[dict[str, Any], ...]]

#: Bytes of one element. A kernel may be taken for every dtype of the same width (``dtype_match_mode`` DtypeByte).
_WIDTHS = {
    **dict.fromkeys(("bool", "int8", "uint8", "qint8", "quint8", "float8_e4m3fn", "float8_e5m2", "hifloat8"), 1),
    **dict.fromkeys(("bfloat16", "float16", "int16", "uint16", "qint16", "quint16"), 2),
    **dict.fromkeys(("complex32", "float32", "int32", "qint32", "uint32"), 4),
    **dict.fromkeys(("complex64", "float64", "int64", "uint64"), 8),
    "complex128": 16,
}
_SPELLINGS = {"float": "float32", "double": "float64"}


class Compiled(NamedTuple):
    """``bound``: kernels exist for these dtypes, but the engine need not take all of them."""

    dtypes: tuple[str, ...]
    bound: bool


_SIDES = {"in": "inputs", "out": "outputs"}


def read_binaries(toolkit: Toolkit, folder: str) -> Binaries:
    """The kernels of a SoC; empty where the package of kernels is not installed."""
    found = {}
    for path in toolkit.files(f"opp/built-in/{AI_CORE}/kernel/config/{folder}/**/*.json"):
        kernels = read_json(toolkit, path) if path.name != "binary_info_config.json" else {}
        if "binList" in kernels:
            found[path.stem] = _kernels(toolkit, path, kernels["binList"])
    return found


def dtypes_of(
    binaries: Binaries, op: str, entry: dict[str, Any], io: str, number: int, declared: tuple[str, ...]
) -> Compiled:
    """The dtypes for which an operator has kernels at one of its parameters; ``declared`` are its prototype's.

    A kernel that is taken by width stands for the declared dtypes of that width, of which the engine takes some: they
    are a bound. Without a prototype it tells nothing.
    """
    found: set[str] = set()
    bound = False
    for kernel in binaries.get(_file(op, entry), binaries.get(_snake(op), ())):
        for tensor in _tensors(kernel, io, number):
            dtype = _SPELLINGS.get(str(tensor["dtype"]), str(tensor["dtype"]))
            if tensor.get("dtype_match_mode") != "DtypeByte":
                found.add(dtype)
            elif not declared or dtype not in _WIDTHS:
                return Compiled((), False)
            else:
                bound = True
                found |= {d for d in declared if _WIDTHS.get(d) == _WIDTHS[dtype]}
    return Compiled(tuple(sorted(found)), bound)


def _file(op: str, entry: dict[str, Any]) -> str:
    """The name of the file that holds an operator's kernels: the one that implements it."""
    stated = entry.get("opFile")
    return str(stated["value"]) if isinstance(stated, dict) and stated.get("value") else _snake(op)


def _snake(op: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])", "_", op).lower()


def _tensors(kernel: dict[str, Any], io: str, number: int) -> Iterator[dict[str, Any]]:
    """A parameter's tensors in one kernel: several for a dynamic one, none for one that is left out."""
    side = kernel.get(_SIDES[io]) or []
    slot = side[number] if number < len(side) else None
    for tensor in slot if isinstance(slot, list) else [slot]:
        if isinstance(tensor, dict) and tensor.get("dtype"):
            yield tensor


def _kernels(toolkit: Toolkit, path: Path, listed: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(listed, list) or not all(isinstance(kernel, dict) for kernel in listed):
        raise damaged(toolkit, path, "expected a list of kernels", "binList")
    return tuple(listed)
