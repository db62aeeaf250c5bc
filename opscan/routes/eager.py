"""The eager route: torch_npu's dispatcher, then the kernels it was seen to launch."""

from __future__ import annotations

from opscan.inventory import OpCall, TensorSpec
from opscan.matrix.query import Matrix
from opscan.routes.answer import Answer, Case, sum_up
from opscan.routes.companions import refuses_a_companion
from opscan.routes.dtypes import unknown_soc
from opscan.verdict import Judge, Ruling

#: Dtypes of tensors that accompany the data: indices; masks; then these and small integers, which few operators take.
_INDICES = frozenset({"int64"})
_MASKS = frozenset({"bool"})
_COMPANIONS = frozenset({"int64", "int32", "bool", "uint8"})

#: Libraries of operators that a process with torch_npu has for sure.
_OWN = ("aten::", "prims::", "prim::", "npu::", "quantized::")

Dtypes = tuple[str, ...]


def eager(matrix: Matrix, operator: str, dtype: str) -> Answer:
    """What calls of ``operator`` on ``dtype`` meet, each judged as a call of a scanned model would be.

    Which dtypes its other tensors have is taken from the calls that were observed.
    """
    facts = {"operator": operator, "dtypes": dtype}
    if (refused := unknown_soc(matrix, facts)) is not None:
        return Answer("eager", dtype, refused)
    if matrix.registration(operator) is None and not operator.startswith(_OWN):
        detail = "its library is no part of torch_npu, so the process that loads it decides: scan the model"
        return Answer("eager", dtype, Ruling("unknown", "OPS308", facts | {"detail": detail}))
    judge = Judge(matrix, {}, matrix.torch_release)
    shown: tuple[Case, ...] = ()
    for seen in _seen_with(matrix, operator, dtype) or [[((dtype,), ())]]:
        cases = tuple(Case(_label(*call), judge.call(_call(operator, *call))) for call in seen)
        natural = _natural(cases, seen, dtype)
        telling = tuple(case for case in natural if not refuses_a_companion(matrix, case.ruling, dtype))
        if telling:
            return Answer("eager", dtype, sum_up(telling, facts), cases)
        shown += cases
    said = "; ".join(f"{case.name}: {case.ruling.reason}" for case in shown[:3])
    first = shown[0].ruling
    ruling = Ruling("unknown", "OPS304", facts | {"detail": said}, first.kernels, first.evidence)
    return Answer("eager", dtype, ruling, shown)


def observed_dtypes(matrix: Matrix, operator: str) -> tuple[str, ...]:
    """The dtypes in which an operator was observed on the target's SoC, in the order of their first appearance."""
    rows = matrix.observed_rows(operator)
    return tuple(dict.fromkeys(d for row in rows for d in (row.dtypes or row.results).split()))


def _seen_with(matrix: Matrix, operator: str, dtype: str) -> list[list[tuple[Dtypes, Dtypes]]]:
    """(dtypes of tensors, of results) of the observed calls that tell of ``dtype``, from the most telling on.

    All of it; then with indices beside it; with masks; with both; with anything.
    """
    rows = matrix.observed_rows(operator)
    calls = list(dict.fromkeys((tuple(row.dtypes.split()), tuple(row.results.split())) for row in rows))
    # An index or mask beside the data is not what is asked about.
    named = [c for c in calls if dtype in (c[0] or c[1]) and (dtype not in _COMPANIONS or (c[0] or c[1])[0] == dtype)]
    tiers = []
    for allowed in (frozenset({dtype}), _INDICES | {dtype}, _MASKS | {dtype}, _COMPANIONS | {dtype}):
        tiers.append([call for call in named if set(call[0] or call[1]) <= allowed])
        named = [call for call in named if call not in tiers[-1]]
    return [tier for tier in (*tiers, named) if tier]


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
