"""Tensors that accompany the data: a counter, a mask, a target. Which dtypes they had in an observed call says nothing
of the dtype that is asked about.
"""

from __future__ import annotations

from opscan.matrix.query import Matrix
from opscan.verdict import Ruling

_FLOATING = frozenset({"float32", "float16", "bfloat16", "float64", "complex64", "complex128"})


def refuses_a_companion(matrix: Matrix, ruling: Ruling, dtype: str) -> bool:
    """Whether what a kernel refuses is not the data of ``dtype`` but something beside it.

    That is another dtype; or a parameter for integers or for float32 only (statistics), where another input of the same
    API takes ``dtype``. A call made with fitting companions may well be accepted.
    """
    if ruling.rule != "OPS104" or not matrix.cann:
        return False
    if ruling.facts.get("dtype") != dtype:
        return True
    api = matrix.cann[0].apis.get(ruling.facts.get("api", ""))
    if api is None or dtype not in _FLOATING:
        return False
    inputs = {name: p for name, p in api.params.items() if p.io != "out"}
    refusing = inputs.get(ruling.facts.get("parameter", ""))
    others = [p for p in inputs.values() if p is not refusing]
    accompanies = refusing is not None and set(refusing.dtypes) & _FLOATING <= {"float32"}
    return accompanies and any(dtype in p.dtypes for p in others)
