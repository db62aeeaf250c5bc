"""One operator's answer in any route."""

from __future__ import annotations

from opscan.matrix.onnx_table import NEWEST_OPSET
from opscan.matrix.query import Matrix
from opscan.routes.answer import Answer
from opscan.routes.eager import eager
from opscan.routes.graph import graph
from opscan.routes.offline import has_offline_route, offline
from opscan.target import Route


def answer(matrix: Matrix, route: Route, operator: str, dtype: str, opset: int = NEWEST_OPSET) -> Answer:
    """What calls of ``operator`` (``aten::add.Tensor``) on tensors of ``dtype`` meet in ``route`` on the target.

    ``opset``: the ONNX opset of the offline route.
    """
    if route == "eager":
        return eager(matrix, operator, dtype)
    if route == "offline":
        return offline(matrix, operator, dtype, opset)
    return graph(matrix, operator, dtype)


def routes_of(matrix: Matrix, operator: str) -> tuple[Route, ...]:
    """The routes that an operator can be asked about; empty where no table knows its name."""
    converters = matrix.converters
    known = operator in matrix.registrations.ops or (converters is not None and operator in converters.ops)
    routes: tuple[Route, ...] = ("eager", "graph") if known else ()
    return (*routes, "offline") if has_offline_route(matrix, operator) else routes
