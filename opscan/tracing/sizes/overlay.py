"""Inventories of one model at several sizes of its inputs, laid on top of each other.

Calls are matched by operator, phase and line. Where they agree, sizes that change get a name; where they do not, the
model takes another path at other sizes, and operators of that path are listed too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from opscan.inventory import Dim, Finding, Inventory, Location, OpCall
from opscan.tracing.sizes.symbolic import expression

#: So many operators of another path are named in its finding.
_NAMED = 6

_Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """``sizes``: of every dimension that varies, by its symbol."""

    sizes: Mapping[str, int]
    inventory: Inventory


def merged(runs: Sequence[Run]) -> Inventory:
    """The first run's inventory, with what the others show. Calls keep the first run's sizes; ``symbolic`` says on what
    they depend."""
    first = runs[0]
    groups = [_grouped(run.inventory.calls) for run in runs]
    untold = 0
    symbolic: dict[int, OpCall] = {}
    for key, own in groups[0].items():
        found = [(run, calls) for run, group in zip(runs, groups, strict=True) if (calls := group.get(key))]
        alike = [(run, calls) for run, calls in found if _alike(own, calls)]
        if len(alike) > 1:
            columns = zip(*(calls for _, calls in alike), strict=True)
            sizes = [run.sizes for run, _ in alike]
            symbolic.update((id(column[0]), _with_symbols(column, sizes)) for column in columns)
        if any(_total(calls) == _total(own) and not _alike(own, calls) for _, calls in found):
            untold += _total(own)
    calls = [symbolic.get(id(call), call) for call in first.inventory.calls]
    seen = set(groups[0])
    for group in groups[1:]:
        calls += [call for key, found in group.items() if key not in seen for call in found]
        seen.update(group)
    findings = _distinct(finding for run in runs for finding in run.inventory.findings)
    trace = first.inventory.trace
    if untold:
        told = f"Sizes of {untold} calls are shown as in the first run: at other sizes they could not be told apart."
        trace = replace(trace, unseen=(*trace.unseen, told))
    return replace(
        first.inventory,
        trace=trace,
        calls=tuple(calls),
        findings=(*findings, *_other_paths(runs, groups)),
        host_kernels={name: keys for run in reversed(runs) for name, keys in run.inventory.host_kernels.items()},
    )


def _distinct(findings: Iterable[Finding]) -> list[Finding]:
    return list({(f.rule, *f.facts.items(), *f.locations): f for f in findings}.values())


def _grouped(calls: Sequence[OpCall]) -> dict[_Key, list[OpCall]]:
    """By what does not depend on sizes."""
    groups: dict[_Key, list[OpCall]] = defaultdict(list)
    for call in calls:
        ranks = tuple((spec.dtype, len(spec.shape)) for spec in (*call.inputs, *call.outputs))
        names = tuple(name for name, _ in call.attributes)
        groups[call.name, call.phase, call.location, ranks, names, call.parameters].append(call)
    return groups


def _total(calls: Sequence[OpCall]) -> int:
    return sum(call.count for call in calls)


def _alike(own: Sequence[OpCall], other: Sequence[OpCall]) -> bool:
    """Whether another run has the same calls in the same order, so that each has a partner. A single one may run more
    or less often."""
    return len(own) == len(other) == 1 or [call.count for call in own] == [call.count for call in other]


def _with_symbols(column: Sequence[OpCall], sizes: Sequence[Mapping[str, int]]) -> OpCall:
    shapes = [[spec.shape for spec in (*call.inputs, *call.outputs)] for call in column]
    symbolic = tuple(
        tuple(_dim(values, sizes) for values in zip(*same, strict=True)) for same in zip(*shapes, strict=True)
    )
    changed = any(isinstance(dim, str) for shape in symbolic for dim in shape)
    return replace(column[0], symbolic=symbolic) if changed else column[0]


def _dim(values: Sequence[Dim], sizes: Sequence[Mapping[str, int]]) -> Dim:
    numbers = [value for value in values if isinstance(value, int)]
    return expression(numbers, sizes) if len(numbers) == len(values) else values[0]


# --- other paths ------------------------------------------------------------------------------------------------


def _other_paths(runs: Sequence[Run], groups: Sequence[Mapping[_Key, list[OpCall]]]) -> list[Finding]:
    """One finding for a set of symbols: the first run that differs shows it."""
    found: dict[frozenset[str], Finding] = {}
    for run, group in zip(runs[1:], groups[1:], strict=True):
        varied = frozenset(name for name, size in run.sizes.items() if size != runs[0].sizes[name])
        if any(before <= varied for before in found):
            continue
        differing = [key for key in dict.fromkeys((*groups[0], *group)) if _differ(groups[0], group, key)]
        if differing:
            facts = {
                "sizes": _said(run.sizes, varied),
                "given": _said(runs[0].sizes, varied),
                "operators": _operators(differing, groups[0], group),
            }
            places = dict.fromkeys(key[2] for key in differing if isinstance(key[2], Location))
            found[varied] = Finding("OPS661", facts, tuple(places))
    return list(found.values())


def _differ(own: Mapping[_Key, list[OpCall]], other: Mapping[_Key, list[OpCall]], key: _Key) -> bool:
    """Views do not count: a slice of everything is none."""
    ours, theirs = own.get(key, []), other.get(key, [])
    if all(call.is_view for call in (*ours, *theirs)):
        return False
    return _total(ours) != _total(theirs) or _kernels(ours) != _kernels(theirs)


def _kernels(calls: Sequence[OpCall]) -> list[str]:
    """Kernels that were seen to be launched; empty where nothing was observed."""
    launched = {launch.api for call in calls if call.observed for launch in call.observed.launches}
    return sorted(launched)


def _operators(differing: Sequence[_Key], own: Mapping[_Key, list[OpCall]], other: Mapping[_Key, list[OpCall]]) -> str:
    """``aten::add.Tensor 4 → 6``; where only kernels differ, those."""
    counts: dict[str, tuple[int, int]] = {}
    kernels: dict[str, str] = {}
    for key in differing:
        ours, theirs = own.get(key, []), other.get(key, [])
        before = counts.get(key[0], (0, 0))
        counts[key[0]] = before[0] + _total(ours), before[1] + _total(theirs)
        if _total(ours) == _total(theirs):
            kernels[key[0]] = f"{'+'.join(_kernels(ours)) or '—'} → {'+'.join(_kernels(theirs)) or '—'}"
    told = [
        f"{name} {a} → {b}" if a != b else f"{name} {kernels.get(name, f'{a} at other lines')}"
        for name, (a, b) in counts.items()
    ]
    return ", ".join(told[:_NAMED]) + (f", … ({len(told) - _NAMED} more)" if len(told) > _NAMED else "")


def _said(sizes: Mapping[str, int], names: frozenset[str]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items() if name in names)
