"""Which route is recommended, by rules that can be read: docs/routes.md has them in words.

A route is *ready* where nothing speaks against it. Offline, then graph are taken where they are ready; eager otherwise,
where operators that cannot be judged may yet be replaced one by one. A model that is trained stays in eager mode. Where
something stops it in every route, the least work decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from opscan.assessment import RouteResult
from opscan.target import Route
from opscan.text import Text

#: Findings of the graph route about what is not in the graph.
BREAKS = frozenset({"OPS607", "OPS609"})

#: Findings of the offline route that sizes vary, and the one that an exported model computes something else.
_VARYING_SIZES = ("OPS621", "OPS667")
_DIFFERS = "OPS626"

#: The finding of the graph route that sizes vary.
_GRAPH_GEARS = "OPS665"

#: The finding that one path of many was traced.
_ONE_PATH = "OPS603"

#: Operators named in one sentence.
_NAMED = 3

#: From the one with the fastest result to the one that takes most models, for inference.
_PREFERRED: tuple[Route, ...] = ("offline", "graph", "eager")


_GROWING = Text(
    "it generates text, and its sizes grow with every token, while a converted model has those of one pass",
    "该模型逐词生成文本，尺寸随之增长，而转换后的模型只适用于一次前向的尺寸",
)


@dataclass(frozen=True, slots=True)
class Recommendation:
    """``route`` is None where none was judged."""

    route: Route | None
    reasons: tuple[Text, ...]


def recommend(results: Sequence[RouteResult], train: bool, generates: bool = False) -> Recommendation:
    """The route to take, why, what remains uncertain there, and why not the others, in this order.

    ``generates``: the model makes text, token by token.
    """
    judged = {result.route: result for result in results if result.summary is not None}
    allowed = {route: result for route, result in judged.items() if not (train and route == "offline")}
    if not allowed:
        return Recommendation(None, tuple(_why_not_judged(results)))
    against = {route: tuple(_against(result, judged.get("eager"))) for route, result in allowed.items()}
    if generates and "offline" in against:
        against["offline"] += (_GROWING,)
    free = [route for route in _PREFERRED if route in allowed and not is_stopped(allowed[route])]
    chosen = _choose(free, against, train) if free else _least_work(allowed)
    first = (
        _for(allowed[chosen], against[chosen], train) if free else _all_stopped(allowed, chosen, _these(results, train))
    )
    others = [_why_not(route, texts) for route, texts in against.items() if route != chosen]
    if train and "offline" in judged:
        others.append(
            Text(
                "offline: an offline model only runs forward: it is not trained; its figures are of inference.",
                "offline：离线模型只做前向，不能训练；其数据为推理时的情况。",
            )
        )
    return Recommendation(chosen, (first, *_risks(allowed[chosen]), *others, *_why_not_judged(results)))


def is_stopped(result: RouteResult) -> bool:
    """Whether the model does not run in the route as it stands."""
    return bool(result.reason or result.blockers)


def breaks(result: RouteResult) -> int:
    """Places where the model leaves the graph."""
    return _places(result, BREAKS)


def _places(result: RouteResult, rules: AbstractSet[str]) -> int:
    """Lines of findings of these rules; one without a line counts as one."""
    return sum(max(1, len(f.locations)) for f in result.findings if f.rule in rules)


def _choose(free: list[Route], against: dict[Route, tuple[Text, ...]], train: bool) -> Route:
    """Of routes that nothing stops."""
    if train and "eager" in free:
        return "eager"
    ready = [route for route in free if not against[route]]
    if ready:
        return ready[0]
    return "eager" if "eager" in free else min(free, key=lambda route: len(against[route]))


def _least_work(results: dict[Route, RouteResult]) -> Route:
    """By the likely effort; that of a route whose end was not seen is not known."""
    seen = {route: result for route, result in results.items() if not result.reason} or results
    order = ("eager", "graph", "offline")
    return min(seen, key=lambda route: (_likely(seen[route]), len(seen[route].blockers), order.index(route)))


def _likely(result: RouteResult) -> float:
    return result.person_days.likely if result.person_days else 0.0


def _for(result: RouteResult, against: tuple[Text, ...], train: bool) -> Text:
    """Why a route that nothing stops is taken."""
    summary, route = result.summary, result.route
    assert summary is not None
    n = summary.ops
    if route == "eager" and train:
        return Text(
            f"eager: nothing stops the training step ({_count(n, 'operator')}), and training usually is in eager mode.",
            f"eager：训练步骤的 {n} 个算子均不构成阻塞；训练通常使用 eager 模式。",
        )
    if route == "eager" or against:
        return Text(
            f"{route}: nothing is known to stop the model there: {summary.supported} of {_count(n, 'operator')} are "
            "supported, none is refused.",
            f"{route}：未发现阻塞项：{n} 个算子中支持 {summary.supported} 个，没有被拒绝的算子。",
        )
    if route == "offline":
        return Text(
            f"offline: all {_count(n, 'operator')} have a parser and a kernel, sizes are fixed, and the exported model "
            "computes what the module does.",
            f"offline：{n} 个算子均有解析器和内核，尺寸固定，且导出的模型与原模型计算结果一致。",
        )
    return Text(
        f"graph: all {_count(n, 'operator')} have a converter and a kernel, without a graph break.",
        f"graph：{n} 个算子均有转换器和内核，且没有图中断。",
    )


def _all_stopped(results: dict[Route, RouteResult], chosen: Route, these: Text) -> Text:
    others = [f"{route} {_days(result)}" for route, result in results.items() if route != chosen and not result.reason]
    than, than_zh = (f" ({', '.join(others)})", f"（{'，'.join(others)}）") if others else ("", "")
    result = results[chosen]
    named = _blockers(result)
    return Text(
        f"{these.en} is blocked. {chosen} is the least work: likely {_days(result)} person-days{than}; {named.en}.",
        f"{these.zh}均有阻塞。{chosen} 的工作量最小：可能为 {_days(result)} 人天{than_zh}；{named.zh}。",
    )


def _these(results: Sequence[RouteResult], train: bool) -> Text:
    """The routes that were looked at, as the subject of a sentence."""
    if train:
        return Text("Every route that trains", "可训练的路线")
    if any(result.summary is None for result in results):
        return Text("Every route that was judged", "所评估的路线")
    return Text("Every route", "各路线")


def _days(result: RouteResult) -> str:
    return f"{_likely(result):.2f}".rstrip("0").rstrip(".")


def _why_not(route: Route, against: Sequence[Text]) -> Text:
    """All that speaks against a route in one sentence."""
    if not against:
        return Text(f"{route} would do as well: nothing speaks against it.", f"{route} 同样可行：没有不利因素。")
    return Text(
        f"{route}: {'; '.join(clause.en for clause in against)}.",
        f"{route}：{'；'.join(clause.zh for clause in against)}。",
    )


def _against(result: RouteResult, eager: RouteResult | None) -> Iterator[Text]:
    """What speaks against a route, a clause each; nothing where it is ready."""
    summary, trace = result.summary, result.trace
    assert summary is not None
    if result.reason:
        yield _end(result)
        return
    if result.blockers:
        yield _blockers(result)
    if places := breaks(result):
        yield Text(f"the model leaves the graph at {_count(places, 'place')}", f"有 {places} 处离开计算图")
    elif trace is not None and not trace.complete:
        yield _not_all_seen(result)
    if summary.unknown:
        yield Text(
            f"{summary.unknown} of {_count(summary.ops, 'operator')} could not be judged",
            f"{summary.ops} 个算子中有 {summary.unknown} 个无法判定",
        )
    yield from _slower(result, eager)
    if result.route == "offline":
        yield from _of_the_export(result)


def _not_all_seen(result: RouteResult) -> Text:
    if places := _places(result, {_ONE_PATH}):
        return Text(f"one path of several was taken at {_count(places, 'place')}", f"有 {places} 处只走了多条路径之一")
    return Text("not all of the model was seen", "未能看到模型的全部")


def _slower(result: RouteResult, eager: RouteResult | None) -> Iterator[Text]:
    """Operators that lose speed, where eager mode has fewer."""
    if result.summary is None or eager is None or eager.summary is None or result.route == "eager":
        return
    here, there = (each.summary.slow + each.summary.fallback for each in (result, eager) if each.summary)
    if here > there:
        lose = "loses" if here == 1 else "lose"
        yield Text(
            f"{_count(here, 'operator')} {lose} speed, in eager mode {there}",
            f"{here} 个算子会损失性能（eager 为 {there} 个）",
        )


def _of_the_export(result: RouteResult) -> Iterator[Text]:
    rules = {finding.rule: finding for finding in result.findings}
    if any(rule in rules for rule in _VARYING_SIZES):
        yield Text("sizes vary, for which ATC needs gears", "尺寸会变化，ATC 需要设置档位")
    if _DIFFERS in rules:
        facts = rules[_DIFFERS].facts
        what = f"{facts.get('output', '')}: {facts.get('detail', '')}"
        yield Text(f"the exported model computes something else ({what})", f"导出的模型计算结果不同（{what}）")
    elif result.trace is not None and result.trace.values != "computed":
        note = f" ({result.trace.values_note})" if result.trace.values_note else ""
        yield Text(
            f"the exported model was not compared with the module{note}", f"导出的模型未与原模型作数值比较{note}"
        )


def _risks(result: RouteResult) -> Iterator[Text]:
    """What may still go wrong in the route that is taken."""
    summary, trace, route = result.summary, result.trace, result.route
    assert summary is not None
    if summary.unknown:
        yield Text(
            f"Risk: {summary.unknown} of {_count(summary.ops, 'operator')} could not be judged in {route}.",
            f"风险：{route} 的 {summary.ops} 个算子中有 {summary.unknown} 个无法判定。",
        )
    if trace is not None and not trace.complete:
        seen = _not_all_seen(result)
        yield Text(f"Risk: in {route}, {seen.en}.", f"风险：{route} {seen.zh}。")
    if route == "graph" and trace is not None and trace.engine != "rehearse":
        yield Text(
            "Risk: the graph was not converted by torchair itself; its converters were looked up in tables.",
            "风险：图并非由 torchair 实际转换，而是查表得出其转换器。",
        )
    if route == "graph" and any(finding.rule == _GRAPH_GEARS for finding in result.findings):
        yield Text(
            "Sizes vary: without gears the graph is compiled again for each new one.",
            "尺寸会变化：若不设置档位，每种新尺寸都会重新编译图。",
        )
    if route == "offline":
        yield Text(
            "An offline model is made for the sizes that it is converted with: others need gears, or a model each.",
            "离线模型按转换时的尺寸生成：其他尺寸需要设置档位，或各自转换一个模型。",
        )


def _why_not_judged(results: Sequence[RouteResult]) -> Iterator[Text]:
    for result in results:
        if result.summary is None:
            why = f"{result.reason} {result.hint}".rstrip()
            yield Text(f"{result.route} was not judged: {why}", f"{result.route} 未评估：{why}")


def _blockers(result: RouteResult) -> Text:
    """How many blockers, and the first of them by name, as a clause."""
    if not result.blockers:
        return _end(result)
    names = list(dict.fromkeys(blocker.operator or blocker.rule or "" for blocker in result.blockers))
    more, n = len(names) - _NAMED, len(names)
    shown = ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    shown_zh = "、".join(names[:_NAMED]) + (" 等" if more > 0 else "")
    return Text(f"{_count(n, 'blocker')} ({shown})", f"{n} 个阻塞项（{shown_zh}）")


def _end(result: RouteResult) -> Text:
    """Why a route cannot be walked to its end, as a clause."""
    reason = result.reason.rstrip(". ")
    return Text(reason, f"中途终止（{reason}）")


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
