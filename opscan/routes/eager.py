"""The eager route: torch_npu's dispatcher, then the kernels it was seen to launch."""

from __future__ import annotations

from opscan.inventory import OpCall, TensorSpec
from opscan.matrix.query import Matrix
from opscan.routes.answer import Answer, Case, sum_up
from opscan.verdict import Judge, Ruling

#: Dtypes of tensors that accompany the data: indices; then masks and small integers, which few operators take.
_INDICES = frozenset({"int64"})
_COMPANIONS = frozenset({"int64", "int32", "bool", "uint8"})

#: Libraries of operators that a process with torch_npu has for sure.
_OWN = ("aten::", "prims::", "prim::", "npu::", "quantized::")

Dtypes = tuple[str, ...]


def eager(matrix: Matrix, operator: str, dtype: str) -> Answer:
    """What calls of ``operator`` on ``dtype`` meet, each judged as a call of a scanned model would be.

    Which dtypes its other tensors have is taken from the calls that were observed.
    """
    facts = {"operator": operator, "dtypes": dtype}
    if matrix.registration(operator) is None and not operator.startswith(_OWN):
        detail = "its library is no part of torch_npu, so the process that loads it decides: scan the model"
        return Answer("eager", dtype, Ruling("unknown", "OPS308", facts | {"detail": detail}))
    judge = Judge(matrix, {}, matrix.torch_release)
    seen = _seen_with(matrix, operator, dtype) or [((dtype,), ())]
    cases = tuple(
        Case(_label(inputs, results), judge.call(_call(operator, inputs, results))) for inputs, results in seen
    )
    return Answer("eager", dtype, sum_up(_natural(cases, seen, dtype), facts), cases)


def observed_dtypes(matrix: Matrix, operator: str) -> tuple[str, ...]:
    """The dtypes in which an operator was observed on the target's SoC, in the order of their first appearance."""
    rows = matrix.observed_rows(operator)
    return tuple(dict.fromkeys(d for row in rows for d in (row.dtypes or row.results).split()))


def _seen_with(matrix: Matrix, operator: str, dtype: str) -> list[tuple[Dtypes, Dtypes]]:
    """(dtypes of tensors, of results) of the observed calls that tell of ``dtype``.

    All of it; else with indices beside it; else with masks too; else with anything.
    """
    rows = matrix.observed_rows(operator)
    calls = list(dict.fromkeys((tuple(row.dtypes.split()), tuple(row.results.split())) for row in rows))
    named = [(inputs, results) for inputs, results in calls if dtype in (inputs or results)]
    for tier in (frozenset({dtype}), _INDICES | {dtype}, _COMPANIONS | {dtype}):
        found = [(inputs, results) for inputs, results in named if set(inputs or results) <= tier]
        if found:
            return found
    # An index or mask beside the data is not what is asked about.
    return [call for call in named if dtype not in _COMPANIONS or (call[0] or call[1])[0] == dtype]


def _natural(cases: tuple[Case, ...], seen: list[tuple[Dtypes, Dtypes]], dtype: str) -> tuple[Case, ...]:
    """The cases with results of the same dtype, where there are such: others convert on the way."""
    same = [c for c, (_, results) in zip(cases, seen, strict=True) if set(results) <= {dtype} | _COMPANIONS]
    return tuple(same) or cases


def _call(operator: str, inputs: Dtypes, results: Dtypes) -> OpCall:
    return OpCall(operator, "forward", tuple(map(_tensor, inputs)), tuple(map(_tensor, results or inputs[:1])))


def _tensor(dtype: str) -> TensorSpec:
    return TensorSpec(dtype, ())


def _label(inputs: Dtypes, results: Dtypes) -> str:
    return f"{' '.join(inputs) or 'no tensor'}{' → ' + ' '.join(results) if results else ''}"
