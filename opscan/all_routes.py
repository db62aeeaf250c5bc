"""One model in every route: a scan each, in processes of their own, and the three side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from opscan.assessment import Assessment
from opscan.errors import LoadError, MatrixError, OpscanError, UsageError
from opscan.route_comparison import ROUTES, NotJudged, compare, one_line
from opscan.scan import ScanRequest, scan
from opscan.target import Route

#: What is wrong with the model or the request as a whole, and not with one route.
_OF_ALL = (LoadError, MatrixError, UsageError)


def scan_all(request: ScanRequest, progress: Callable[[str], None]) -> Assessment:
    """Scan in every route, eager first: its assessment is the result, with all routes beside it.

    A route that fails is one that was not judged. Raises OpscanError where the model cannot be loaded, where the
    request makes no sense for eager mode, and where no route has a result: then the first route's own.
    """
    assessments: dict[Route, Assessment] = {}
    failures: dict[Route, OpscanError] = {}
    for route in ROUTES:
        try:
            assessments[route] = scan(_for(request, route), _named(route, progress))
        except OpscanError as error:
            if route == ROUTES[0] and isinstance(error, _OF_ALL):
                raise
            failures[route] = error
    if not assessments:
        raise failures[ROUTES[0]]
    told = {route: NotJudged(one_line(error.message), one_line(error.hint)) for route, error in failures.items()}
    return compare(assessments, told, request.workload.train)


def _for(request: ScanRequest, route: Route) -> ScanRequest:
    """The engine and the tracer that were asked for are meant for routes that have a choice; what is exported of a
    model that is trained is what it infers with."""
    if route == "eager":
        return replace(request, route=route)
    if route == "graph":
        return replace(request, route=route, tracer="auto", probe="off", cross_check=False)
    inference = replace(request.workload, train=False)
    return replace(
        request, route=route, engine="auto", tracer="auto", probe="off", cross_check=False, workload=inference
    )


def _named(route: Route, progress: Callable[[str], None]) -> Callable[[str], None]:
    return lambda stage: progress(f"{route}: {stage}")
