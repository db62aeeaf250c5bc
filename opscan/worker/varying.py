"""A model traced at several sizes of its inputs: which sizes are tried, and what it means that one is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from opscan.errors import OpscanError
from opscan.inventory import Finding, Inventory, Location
from opscan.text import Text
from opscan.tracing.sizes.overlay import Run, merged
from opscan.tracing.sizes.resizing import Symbol, candidates

#: So many other sizes of one dimension are run, and so many tried for that.
_WANTED = 2
_TRIED = 6

#: How :func:`opscan.tracing.user_error.model_error` begins, and what it ends with.
_PLACE = re.compile(r"(.+?):(\d+): ")

Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Refused:
    size: int
    error: str
    place: Location | None


@dataclass(slots=True)
class _Tried:
    """What is known of one symbol."""

    symbol: Symbol
    taken: list[int] = field(default_factory=list)
    refused: list[_Refused] = field(default_factory=list)


def varied(
    base: Inventory,
    symbols: Sequence[Symbol],
    trace: Callable[[Sizes], Inventory],
    progress: Callable[[str], None],
) -> Inventory:
    """``base`` with the sizes that vary named, from runs at other sizes; ``trace`` makes one, and raises OpscanError
    where the model refuses its inputs."""
    given = {symbol.name: symbol.size for symbol in symbols}
    runs = [Run(given, base)]
    tries = [_Tried(symbol) for symbol in symbols]

    def attempt(sizes: Sizes) -> _Refused | None:
        progress("tracing at " + ", ".join(f"{name} = {size}" for name, size in sizes.items() if size != given[name]))
        outcome = _run(trace, sizes)
        if isinstance(outcome, Inventory):
            runs.append(Run(sizes, outcome))
            return None
        return outcome

    for tried in tries:
        _alone(tried, given, attempt)
    stuck = [tried for tried in tries if not tried.taken]
    together = _together(stuck, given, attempt) if len(stuck) > 1 else []
    free = {tried.symbol.name: tried.taken[0] for tried in tries if tried.taken and tried not in stuck}
    if len(free) > 1:
        attempt({**given, **free})  # so that products and sums of sizes are told apart
    inventory = merged(runs)
    refusals = [f for tried in tries if (f := _refusal(tried, together if tried in stuck else ()))]
    trace_ = replace(inventory.trace, sizes=tuple(map(_line, tries)))
    return replace(inventory, trace=trace_, findings=(*inventory.findings, *refusals))


def _run(trace: Callable[[Sizes], Inventory], sizes: Sizes) -> Inventory | _Refused:
    try:
        inventory = trace(sizes)
    except OpscanError as error:
        place = _PLACE.match(error.message)
        where = Location(place[1], int(place[2])) if place else None
        return _Refused(0, _in_short(error.message), where)
    failed = next((attempt.reason for attempt in inventory.trace.attempts[-1:] if not attempt.ok), None)
    return inventory if failed is None else _Refused(0, failed, None)


def _in_short(message: str) -> str:
    """What was raised: the last line but those that only go on."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    raised = next((line for line in lines if re.match(r"\w*(Error|Exception|Interrupt)\b", line)), lines[-1])
    return raised[:200].rstrip(".")


def _alone(tried: _Tried, given: Sizes, attempt: Callable[[Sizes], _Refused | None]) -> None:
    for size in candidates(tried.symbol.size, tried.symbol.range)[:_TRIED]:
        if len(tried.taken) == _WANTED:
            break
        refused = attempt({**given, tried.symbol.name: size})
        if refused is None:
            tried.taken.append(size)
        else:
            tried.refused.append(replace(refused, size=size))


def _together(stuck: Sequence[_Tried], given: Sizes, attempt: Callable[[Sizes], _Refused | None]) -> list[Sizes]:
    """Sizes that dimensions which are refused one by one take at once: square images, equal lengths."""
    taken: list[Sizes] = []
    for sizes in zip(*(candidates(each.symbol.size, each.symbol.range) for each in stuck), strict=False):
        at_once = {each.symbol.name: size for each, size in zip(stuck, sizes, strict=True)}
        if attempt({**given, **at_once}) is None:
            taken.append(at_once)
            for each, size in zip(stuck, sizes, strict=True):
                each.taken.append(size)
        if len(taken) == _WANTED:
            break
    return taken


def _refusal(tried: _Tried, together: Sequence[Sizes]) -> Finding | None:
    """One finding for a symbol of which some sizes were refused."""
    if not tried.refused:
        return None
    name, sizes = tried.symbol.name, ", ".join(str(refused.size) for refused in tried.refused)
    outcome = _outcome(tried, together)
    facts = {
        "refused": f"{name} = {sizes}",
        "error": tried.refused[0].error,
        "outcome": outcome.en,
        "outcome_zh": outcome.zh,
    }
    place = tried.refused[0].place
    return Finding("OPS662", facts, (place,) if place else ())


def _outcome(tried: _Tried, together: Sequence[Sizes]) -> Text:
    size = tried.symbol.size
    if together:
        said = "; ".join(", ".join(f"{name} = {n}" for name, n in sizes.items()) for sizes in together)
        return Text(
            f"It varies together with others only: the model takes {said}.",
            f"该尺寸只能与其他尺寸一起变化：{said} 可以运行。",
        )
    if tried.taken:
        taken = ", ".join(map(str, sorted((size, *tried.taken))))
        return Text(f"It takes {taken}.", f"可接受 {taken}。")
    return Text(f"It is fixed at {size}.", f"该尺寸固定为 {size}。")


def _line(tried: _Tried) -> str:
    sizes = ", ".join(map(str, (tried.symbol.size, *tried.taken)))
    refused = ", ".join(str(refused.size) for refused in tried.refused)
    names = ", ".join((tried.symbol.name, *tried.symbol.also))
    return f"{names} = {sizes}" + (f" (refused: {refused})" if refused else "")
