"""What tables say of a call in the routes that its model was not traced for."""

from __future__ import annotations

from typing import get_args

from opscan.assessment import Verdict
from opscan.inventory import OpCall
from opscan.matrix.exports_table import NO_TENSOR
from opscan.matrix.query import Matrix
from opscan.routes.routes import answer
from opscan.target import Route

#: Dtypes of indices, masks and counters that accompany the data.
_COMPANIONS = frozenset({"int64", "int32", "bool", "uint8"})

#: Refusals of an operator as it stands: no converter, a converter that raises, no translation to ONNX. A compiler or an
#: exporter may never meet it: batch normalisation, say, has another name there.
_OF_THE_NAME = frozenset({"OPS111", "OPS112", "OPS123"})

#: From worst to best; the worst of several dtypes decides.
_RANKS: tuple[Verdict, ...] = ("unsupported", "unknown", "fallback", "slow", "supported")


def by_route(matrix: Matrix, call: OpCall, verdict: Verdict) -> dict[str, str]:
    """A verdict for each route: the target's own is given, the others are what tables tell, often ``unknown``."""
    own = matrix.target.route
    return {route: verdict if route == own else _elsewhere(matrix, call, verdict, route) for route in get_args(Route)}


def _elsewhere(matrix: Matrix, call: OpCall, verdict: Verdict, route: Route) -> Verdict:
    if "opset" in dict(call.attributes) or (call.phase != "forward" and route == "offline"):
        return "unknown"  # a node of an ONNX model is no call of torch; an offline model only runs forward
    if call.phase == "optimizer":
        return verdict  # the step is no part of a graph: it runs operator by operator in either route
    told = [_told(matrix, call.name, dtype, route) for dtype in _data(call) or (_without_tensors(route),)]
    return min(told, key=_RANKS.index)


def _told(matrix: Matrix, name: str, dtype: str, route: Route) -> Verdict:
    ruling = answer(matrix, route, name, dtype).ruling
    return "unknown" if ruling.rule in _OF_THE_NAME else ruling.verdict


def _data(call: OpCall) -> tuple[str, ...]:
    """The dtypes of what is computed: not those of indices and masks beside it."""
    distinct = tuple(dict.fromkeys(call.dtypes))
    return tuple(dtype for dtype in distinct if dtype not in _COMPANIONS) or distinct[:1]


def _without_tensors(route: Route) -> str:
    return NO_TENSOR if route == "offline" else ""
