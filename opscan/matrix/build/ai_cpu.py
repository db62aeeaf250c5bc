"""Which dtypes an aclnn API computes on the AI CPU: on the device, but slowly.

CANN's operator sources hold, for each graph-engine operator, the dtypes that its AI Core kernel takes on a SoC; other
dtypes go to the AI CPU kernel of the same name. An API is mapped to an operator only where the names leave no
doubt, and a dtype counts only where the AI CPU op-info of that operator lists it. Integers are left out but for few
operators: many APIs cast them to a floating dtype first, which no table tells.
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from opscan.matrix.build.tables import read_table

#: APIs that convert between dtypes.
CONVERTERS = ("aclnnCast", "aclnnInplaceCopy")

#: Dtypes that no API casts away before it chooses a kernel.
_TELLING = frozenset({"float64", "complex64", "complex128"})
_INTEGERS = frozenset({"int8", "int16", "int32", "int64", "uint8"})

#: Operators whose API passes integers on as they are (``aclnn_sort.cpp``, ``aclnn_argsort.cpp``, ``aclnn_cumsum.cpp``,
#: ``aclnn_index.cpp`` of CANN 9.1.0: the only casts are to the dtype of the result).
_INTEGERS_AS_THEY_ARE = frozenset({"Cumsum", "Index", "Sort"})

#: API names (without ``aclnn`` and ``Inplace``) whose operator has another name.
_OPERATORS = {
    "Adds": "Add",
    "Amax": "ReduceMax",
    "Amin": "ReduceMin",
    "Argsort": "Sort",
    "Clamp": "ClipByValue",
    "Div": "RealDiv",
    "Divs": "RealDiv",
    "EqScalar": "Equal",
    "EqTensor": "Equal",
    "Flip": "ReverseV2",
    "Gather": "GatherElements",
    "GeScalar": "GreaterEqual",
    "GeTensor": "GreaterEqual",
    "GtScalar": "Greater",
    "GtTensor": "Greater",
    "LeScalar": "LessEqual",
    "LeTensor": "LessEqual",
    "LogSoftmax": "LogSoftmaxV2",
    "LtScalar": "Less",
    "LtTensor": "Less",
    "MaskedFillScalar": "MaskedFill",
    "MaskedFillTensor": "MaskedFill",
    "Mean": "ReduceMean",
    "Muls": "Mul",
    "NeScalar": "NotEqual",
    "NeTensor": "NotEqual",
    "PowTensorScalar": "Pow",
    "PowTensorTensor": "Pow",
    "Prod": "ReduceProd",
    "Softmax": "SoftmaxV2",
    "Stack": "Pack",
    "Subs": "Sub",
}


def ai_cpu_dtypes(root: Path, release: str, soc: str) -> dict[str, frozenset[str]]:
    """Operator → dtypes that only its AI CPU kernel takes at a CANN release on a SoC; empty where no list is known."""
    lists = _own(read_table(root, "aicore_dtypes"), release, soc)
    cpu = _ai_cpu_kernels(read_table(root, "ge_ops_by_soc"))
    found = {}
    for row in lists.to_dict("records"):
        core = set(filter(None, row["ai_core_dtypes"].split("|")))
        telling = _TELLING | _INTEGERS if row["ge_op"] in _INTEGERS_AS_THEY_ARE else _TELLING
        listed = cpu.get(row["ge_op"]) or telling
        found[row["ge_op"]] = (listed & telling) - core if core else listed
    return found


def ai_core_casts(root: Path, release: str, soc: str) -> tuple[tuple[str, str], ...]:
    """(from, to) pairs that the AI Core converts at a CANN release on a SoC; empty where no list is known."""
    own = _own(read_table(root, "aicore_casts"), release, soc)
    return tuple(sorted(zip(own["from"], own["to"], strict=True)))


def _own(table: pd.DataFrame, release: str, soc: str) -> pd.DataFrame:
    """The rows of a release and SoC; the sources do not tell the two Ascend 950 chips apart."""
    chip = "ascend950" if soc.startswith("ascend950") else soc
    return table[(table["cann_release"] == release) & (table["soc"] == chip)]


def operator_of(api: str) -> str:
    """The graph-engine operator of an aclnn API: its own name where no other is known."""
    name = api.removeprefix("aclnn").removeprefix("Inplace")
    return _OPERATORS.get(name, name)


def _ai_cpu_kernels(table: pd.DataFrame) -> dict[str, frozenset[str]]:
    """Operator → dtypes of the inputs of its AI CPU kernels, any release."""
    found: dict[str, frozenset[str]] = {}
    for row in table[table["soc"] == "any(aicpu)"].to_dict("records"):
        inputs = re.findall(r"(?:^|;)in \w+=([^;:?]+)", row["dtypes"])
        dtypes = {"float64" if name == "double" else name for part in inputs for name in part.split("|")}
        found[row["ge_op"]] = found.get(row["ge_op"], frozenset()) | dtypes
    return found
