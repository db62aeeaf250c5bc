"""One model in every route: what fails does not take the others along, and what one tells of another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from opscan import all_routes
from opscan.all_routes import scan_all
from opscan.assess import summarise
from opscan.assessment import (
    AssessedFinding,
    AssessedOp,
    Assessment,
    Cost,
    Gate,
    ModelInfo,
    PersonDays,
    ToolInfo,
    Verdict,
)
from opscan.errors import LoadError, ModelError, OpscanError, UsageError
from opscan.inventory import Attempt, Location, Phase, Trace
from opscan.loading.reference import PythonFileReference
from opscan.route_comparison import NotJudged, compare
from opscan.scan import ScanRequest
from opscan.target import Route, Target
from opscan.workload import Workload

TRACE = Trace("dispatch", "virtual", "2.13.0", False, True, attempts=(Attempt("dispatch", True),), values="computed")
UNKNOWN = {"eager": "supported", "graph": "unknown", "offline": "unknown"}


def op(
    name: str,
    verdict: Verdict = "supported",
    line: int = 1,
    dtype: str = "float32",
    phase: Phase = "forward",
    count: int = 1,
    **fields: Any,
) -> AssessedOp:
    fields.setdefault("routes", UNKNOWN)
    where = (Location("m.py", line),) if line else ()
    rule = "OPS101" if verdict == "unsupported" else None
    return AssessedOp(name, verdict, rule, rule, phase, count, (dtype,), (), (), locations=where, **fields)


def assessment(route: Route, *ops: AssessedOp, **fields: Any) -> Assessment:
    made = Assessment(
        schema=1,
        tool=ToolInfo("0"),
        model=ModelInfo("m.py", 0),
        target=Target("2.13.0", "9.1.0", "ascend910b", route),
        trace=TRACE,
        ops=ops,
        findings=(),
        summary=summarise(ops),
        cost=Cost(PersonDays(0.5, 1, 2)),
        gate=Gate(True, "unsupported"),
    )
    return replace(made, **fields)


def beside(
    eager: AssessedOp, graph: tuple[AssessedOp, ...] = (), offline: tuple[AssessedOp, ...] = ()
) -> dict[str, str]:
    found = compare(
        {
            "eager": assessment("eager", eager),
            "graph": assessment("graph", *graph),
            "offline": assessment("offline", *offline),
        },
        {},
    )
    return found.ops[0].routes


# --- what other inventories tell of an operator -----------------------------------------------------------------


def test_an_operator_is_found_by_its_name_and_dtype() -> None:
    graph = (op("aten::add.Tensor", "slow", dtype="int64"), op("aten::add.Tensor"))
    assert beside(op("aten::add.Tensor"), graph)["graph"] == "supported"
    assert beside(op("aten::add.Tensor", dtype="int64"), graph)["graph"] == "slow"


def test_at_the_same_line_rather_than_elsewhere() -> None:
    graph = (op("aten::add.Tensor", "unsupported", line=9), op("aten::add.Tensor", line=1))
    assert beside(op("aten::add.Tensor", line=1), graph)["graph"] == "supported"


def test_a_graph_does_not_write_in_place() -> None:
    assert beside(op("aten::index_put_"), (op("aten::index_put", "unsupported"),))["graph"] == "unsupported"


def test_onnx_nodes_are_found_by_the_operator_that_they_stand_for() -> None:
    nodes = (
        op("ai.onnx::Mul", origins=("aten::silu",)),
        op("ai.onnx::Sigmoid", "slow", origins=("aten::silu",)),
        op("ai.onnx::Add", "unsupported", origins=("aten::add.Tensor",)),
    )
    assert beside(op("aten::silu"), offline=nodes)["offline"] == "slow"


def test_by_the_line_where_all_that_stands_there_fares_alike() -> None:
    nodes = (op("ai.onnx::Gemm"), op("ai.onnx::Cast"), op("ai.onnx::Loop", "unsupported", line=2))
    assert beside(op("aten::addmm"), offline=nodes)["offline"] == "supported"


def test_one_of_several_operators_of_a_line_need_not_be_this_one() -> None:
    nodes = (op("ai.onnx::Gemm"), op("ai.onnx::Loop", "unsupported"))
    assert beside(op("aten::addmm"), offline=nodes)["offline"] == "unknown"


def test_what_tables_told_stays_where_inventories_tell_nothing() -> None:
    eager = op("aten::relu", routes=UNKNOWN | {"graph": "supported"})
    assert beside(eager, (op("aten::add.Tensor", line=7),))["graph"] == "supported"


def test_nothing_is_told_of_steps_that_a_route_does_not_have() -> None:
    backward = op("aten::add.Tensor", phase="backward")
    assert beside(backward, offline=(op("aten::add.Tensor"),))["offline"] == "unknown"
    assert beside(op("aten::add.Tensor", phase="optimizer"), (op("aten::add.Tensor"),))["graph"] == "unknown"


# --- results ------------------------------------------------------------------------------------------------------


def test_the_eager_assessment_is_the_result_with_all_routes_beside_it() -> None:
    ops = (op("aten::a", "unsupported", count=3), op("aten::a", "unsupported", dtype="int8", line=4), op("aten::b"))
    found = compare({"eager": assessment("eager", *ops), "offline": assessment("offline")}, {"graph": NotJudged("no.")})
    assert found.target.route == "eager"
    assert found.routes is not None
    eager, graph, offline = found.routes.results
    (blocker,) = eager.blockers
    assert (blocker.operator, blocker.calls, blocker.dtypes) == ("aten::a", 4, ("float32", "int8"))
    assert [place.line for place in blocker.locations] == [1, 4]
    assert eager.calls == {"unsupported": 4, "fallback": 0, "slow": 0, "unknown": 0, "supported": 1}
    assert (graph.summary, graph.reason) == (None, "no.")
    assert offline.person_days == PersonDays(0.5, 1, 2)


def test_errors_in_the_code_are_blockers_and_shared_findings_belong_to_no_route() -> None:
    shared = AssessedFinding("OPS610", "error", "a CUDA extension", (Location("m.py", 1),))
    own = AssessedFinding("OPS607", "warning", "a graph break", (Location("m.py", 2),))
    found = compare(
        {
            "eager": assessment("eager", op("aten::a"), findings=(shared,)),
            "graph": assessment("graph", op("aten::a"), findings=(shared, own)),
        },
        {"offline": NotJudged("no.")},
    )
    assert found.routes is not None
    eager, graph, _ = found.routes.results
    assert [b.rule for b in eager.blockers] == [b.rule for b in graph.blockers] == ["OPS610"]
    assert (eager.findings, graph.findings) == ((), (own,))


def test_an_export_that_fails_stops_its_route() -> None:
    attempts = (Attempt("dispatch", True), Attempt("onnx (dynamo)", False, "it needs onnxscript"))
    failed = replace(TRACE, complete=False, attempts=attempts)
    offline = assessment("offline", op("aten::a"), trace=failed)
    found = compare({"eager": assessment("eager", op("aten::a")), "offline": offline}, {"graph": NotJudged("no.")})
    assert found.routes is not None
    assert found.routes.results[2].reason == "the model cannot be exported here. onnx (dynamo): it needs onnxscript"
    assert found.routes.recommended == "eager"


@pytest.mark.parametrize(
    ("name", "module", "recommended"),
    [("aten::mm", "lm_head", "graph"), ("aten::gelu", "lm_head", "offline"), ("aten::mm", "lm_head.dense", "offline")],
)
def test_a_language_head_is_a_layer_by_itself(name: str, module: str, recommended: str) -> None:
    layer = replace(op(name), locations=(Location("m.py", 1, module),))
    routes: tuple[Route, ...] = ("eager", "graph", "offline")
    found = compare({route: assessment(route, layer) for route in routes}, {})
    assert found.routes is not None
    assert found.routes.recommended == recommended


# --- three scans --------------------------------------------------------------------------------------------------

REQUEST = ScanRequest(PythonFileReference("m.py"))


def scans(monkeypatch: pytest.MonkeyPatch, answers: dict[Route, Exception | None]) -> list[ScanRequest]:
    """Scans that answer with an assessment or raise; the requests that were made."""
    asked: list[ScanRequest] = []

    def scan(request: ScanRequest, progress: Callable[[str], None]) -> Assessment:
        asked.append(request)
        progress("tracing")
        if (error := answers[request.route]) is not None:
            raise error
        return assessment(request.route, op("aten::a"))

    monkeypatch.setattr(all_routes, "scan", scan)
    return asked


def test_a_route_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    scans(monkeypatch, {"eager": None, "graph": UsageError("It is\nnot here.", "Get it."), "offline": OpscanError("x")})
    stages: list[str] = []
    found = scan_all(REQUEST, stages.append)
    assert found.routes is not None
    assert [(r.route, r.reason, r.hint) for r in found.routes.results] == [
        ("eager", "", ""), ("graph", "It is not here.", "Get it."), ("offline", "x", ""),
    ]  # fmt: skip
    assert stages == ["eager: tracing", "graph: tracing", "offline: tracing"]


def test_the_first_route_with_a_result_is_the_main_one(monkeypatch: pytest.MonkeyPatch) -> None:
    scans(monkeypatch, {"eager": ModelError("it raises"), "graph": OpscanError("it fell"), "offline": None})
    found = scan_all(REQUEST, lambda stage: None)
    assert found.target.route == "offline"
    assert found.routes is not None
    assert found.routes.recommended == "offline"
    assert found.routes.results[0].reason == "it raises"


def test_a_model_that_cannot_be_loaded_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = scans(monkeypatch, {"eager": LoadError("no such file"), "graph": None, "offline": None})
    with pytest.raises(LoadError, match="no such file"):
        scan_all(REQUEST, lambda stage: None)
    assert len(asked) == 1


def test_where_no_route_has_a_result_the_first_error_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    scans(monkeypatch, {"eager": ModelError("a"), "graph": ModelError("b"), "offline": ModelError("c")})
    with pytest.raises(ModelError, match="a"):
        scan_all(REQUEST, lambda stage: None)


def test_what_was_asked_for_eager_mode_is_not_asked_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = scans(monkeypatch, {"eager": None, "graph": None, "offline": None})
    request = replace(REQUEST, engine="rehearse", probe="require", tracer="dispatch", workload=Workload(train=True))
    scan_all(replace(request, cross_check=True), lambda stage: None)
    assert [r.cross_check for r in asked] == [True, False, False]
    assert [(r.engine, r.probe, r.tracer, r.workload.train) for r in asked] == [
        ("rehearse", "require", "dispatch", True),
        ("rehearse", "off", "auto", True),
        ("auto", "off", "auto", False),
    ]
