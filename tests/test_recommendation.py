"""Which route is recommended, rule by rule, for results made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from opscan.assessment import AssessedFinding, Blocker, PersonDays, RouteResult, Summary
from opscan.inventory import Location, Trace
from opscan.recommendation import Recommendation, breaks, recommend
from opscan.target import Route


def result(
    route: Route,
    *blockers: str,
    days: float = 1.0,
    ops: int = 10,
    unknown: int = 0,
    slow: int = 0,
    complete: bool = True,
    values: Any = "computed",
    note: str = "",
    findings: tuple[AssessedFinding, ...] = (),
    reason: str = "",
) -> RouteResult:
    good = ops - unknown - slow - len(blockers)
    summary = Summary(ops, ops, good, slow, 0, len(blockers), unknown)
    return RouteResult(
        route,
        reason,
        summary=summary,
        calls={"supported": good},
        blockers=tuple(Blocker(name, "OPS101", "refused") for name in blockers),
        findings=findings,
        person_days=PersonDays(days / 2, days, days * 2),
        trace=Trace("dispatch", "rehearse", "2.13.0", False, complete, values=values, values_note=note),
    )


def finding(rule: str, *lines: int, **facts: str) -> AssessedFinding:
    return AssessedFinding(rule, "warning", rule, tuple(Location("m.py", line) for line in lines), facts)


def said(found: Recommendation) -> str:
    return "\n".join(reason.en for reason in found.reasons)


def test_offline_where_all_is_known_fixed_and_equal() -> None:
    found = recommend([result("eager"), result("graph"), result("offline", ops=7)], train=False)
    assert found.route == "offline"
    assert found.reasons[0].en.startswith("offline: all 7 operators have a parser and a kernel, sizes are fixed")
    assert "made for the sizes" in said(found)
    assert "graph would do as well" in said(found)


def test_graph_where_the_exported_model_computes_something_else() -> None:
    differs = finding("OPS626", output="y", detail="by up to 2")
    found = recommend([result("eager"), result("graph"), result("offline", findings=(differs,))], train=False)
    assert found.route == "graph"
    assert "offline: the exported model computes something else (y: by up to 2)." in said(found)


def test_an_exported_model_that_was_not_compared_is_not_believed() -> None:
    offline = result("offline", values="none", note="exported without its weights")
    found = recommend([result("eager"), result("graph"), offline], train=False)
    assert found.route == "graph"
    assert "not compared with the module (exported without its weights)" in said(found)


def test_sizes_that_vary_speak_against_a_converted_model() -> None:
    for rule in ("OPS621", "OPS667"):
        offline = result("offline", findings=(finding(rule),))
        found = recommend([result("eager"), result("graph"), offline], train=False)
        assert found.route == "graph"
        assert "ATC needs gears" in said(found)


def test_a_graph_of_varying_sizes_is_compiled_again_and_again() -> None:
    found = recommend([result("eager"), result("graph", findings=(finding("OPS665"),))], train=False)
    assert found.route == "graph"
    assert "without gears the graph is compiled again" in said(found)


def test_eager_where_the_graph_breaks_and_nodes_are_unknown() -> None:
    graph = result("graph", findings=(finding("OPS607", 3, 9), finding("OPS603", 3)))
    found = recommend([result("eager", unknown=1), graph, result("offline", unknown=2)], train=False)
    assert found.route == "eager"
    assert breaks(graph) == 2
    assert (
        found.reasons[0].en
        == "eager: nothing is known to stop the model there: 9 of 10 operators are supported, none is refused."
    )
    assert found.reasons[1].en == "Risk: 1 of 10 operators could not be judged in eager."
    assert "graph: the model leaves the graph at 2 places." in said(found)
    assert "offline: 2 of 10 operators could not be judged." in said(found)


def test_paths_that_were_not_taken_are_counted() -> None:
    one_path = {"complete": False, "findings": (finding("OPS603", 3), finding("OPS603", 4, 5))}
    found = recommend([result("eager", **one_path), result("offline", **one_path)], train=False)  # type: ignore[arg-type]
    assert found.route == "eager"
    assert "Risk: in eager, one path of several was taken at 3 places." in said(found)
    assert "offline: one path of several was taken at 3 places." in said(found)


def test_a_graph_that_torchair_did_not_convert_is_a_risk() -> None:
    graph = result("graph")
    assert graph.trace is not None
    captured = replace(graph, trace=replace(graph.trace, engine="virtual"))
    assert "not converted by torchair itself" in said(recommend([result("eager"), captured], train=False))
    assert "not converted by torchair itself" not in said(recommend([result("eager"), graph], train=False))


def test_a_part_that_was_not_seen_speaks_against_a_graph() -> None:
    found = recommend([result("eager"), result("graph", complete=False)], train=False)
    assert found.route == "eager"
    assert "graph: not all of the model was seen." in said(found)


def test_a_route_that_is_slower_than_eager_is_not_taken_for_speed() -> None:
    found = recommend([result("eager", slow=1), result("graph", slow=1), result("offline", slow=2)], train=False)
    assert found.route == "graph"
    assert "offline: 2 operators lose speed, in eager mode 1." in said(found)


def test_a_route_with_blockers_gives_way_to_one_without() -> None:
    found = recommend([result("eager", "aten::a"), result("graph", unknown=3), result("offline", "x::B")], train=False)
    assert found.route == "graph"
    assert "eager: 1 blocker (aten::a)." in said(found)
    assert "Risk: 3 of 10 operators could not be judged in graph." in said(found)


def test_a_route_that_ends_is_stopped_without_a_blocker() -> None:
    found = recommend(
        [result("eager"), result("offline", reason="the model cannot be exported here. x: y.")], train=False
    )
    assert found.route == "eager"
    assert "offline: the model cannot be exported here. x: y." in said(found)


def test_where_every_route_is_blocked_the_least_work_decides() -> None:
    routes = [
        result("eager", "aten::a", "aten::b", "aten::c", "aten::d", days=3),
        result("graph", "aten::a", days=2),
        result("offline", days=0.5, reason="cannot be exported"),
    ]
    found = recommend(routes, train=False)
    assert found.route == "graph"
    assert found.reasons[0].en == (
        "Every route is blocked. graph is the least work: likely 2 person-days (eager 3); 1 blocker (aten::a)."
    )
    assert "eager: 4 blockers (aten::a, aten::b, aten::c and 1 more)." in said(found)


def test_what_was_not_judged_is_not_called_blocked() -> None:
    found = recommend([result("eager", "aten::a"), RouteResult("graph", "it fell"), RouteResult("offline", "x")], False)
    assert found.route == "eager"
    assert found.reasons[0].en.startswith("Every route that was judged is blocked.")


def test_training_stays_in_eager_mode() -> None:
    found = recommend([result("eager", unknown=1), result("graph"), result("offline")], train=True)
    assert found.route == "eager"
    assert "training usually is in eager mode" in found.reasons[0].en
    assert "offline: an offline model only runs forward" in said(found)


def test_a_model_that_generates_text_is_not_converted_for_one_size() -> None:
    found = recommend([result("eager"), result("graph"), result("offline")], train=False, generates=True)
    assert found.route == "graph"
    assert "offline: it generates text" in said(found)


def test_training_in_a_graph_where_eager_mode_is_blocked() -> None:
    found = recommend([result("eager", "aten::a"), result("graph"), result("offline")], train=True)
    assert found.route == "graph"


def test_training_is_not_offline_even_where_all_else_is_blocked() -> None:
    found = recommend([result("eager", "aten::a", days=2), result("graph", "aten::b", days=5), result("offline")], True)
    assert found.route == "eager"
    assert found.reasons[0].en.startswith("Every route that trains is blocked. eager is the least work")


def test_a_route_that_was_not_judged_is_named_with_the_reason() -> None:
    found = recommend([result("eager"), RouteResult("graph", "torch_npu is not here.", "Get it.")], train=False)
    assert found.route == "eager"
    assert found.reasons[-1].en == "graph was not judged: torch_npu is not here. Get it."


def test_nothing_is_recommended_where_nothing_was_judged() -> None:
    found = recommend([RouteResult("eager", "it fell"), RouteResult("graph", "it fell")], train=False)
    assert found.route is None
    assert [reason.en for reason in found.reasons] == ["eager was not judged: it fell", "graph was not judged: it fell"]


def test_every_reason_is_there_in_chinese() -> None:
    routes = [
        result("eager", "aten::a", unknown=1),
        result("graph", "aten::a", slow=3),
        result("offline", reason="it ends"),
    ]
    for train in (False, True):
        for reason in recommend(routes, train).reasons:
            assert reason.zh
            assert reason.zh != reason.en
