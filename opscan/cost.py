"""A first range of person-days for a migration, and the arithmetic behind it.

Every figure is quantity × weight with a weight from ``cost_weights.toml``, where each says why; ``docs/cost.md``
explains the method. Sums are exact: they are formed in decimal arithmetic and nothing is rounded.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from opscan.assessment import AssessedFinding, AssessedOp, Cost, CostItem, PersonDays
from opscan.errors import OpscanError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

WEIGHTS_FILE = Path(__file__).with_name("cost_weights.toml")

#: Kinds of work on one operator, from the dearest to the cheapest.
KINDS = ("unsupported", "counterpart", "substituted", "fallback", "slow", "unknown")


@dataclass(frozen=True, slots=True)
class Weight:
    """Person-days for one piece of work. ``name`` is its table in the weights file."""

    name: str
    low: Decimal
    likely: Decimal
    high: Decimal
    title: str
    title_zh: str

    def times(self, factor: Decimal | int) -> PersonDays:
        return PersonDays(float(self.low * factor), float(self.likely * factor), float(self.high * factor))


@dataclass(frozen=True, slots=True)
class Weights:
    """``operators`` by kind, ``findings`` by severity, ``rules`` by rule id.

    After ``full`` pieces of work each costs ``share`` of its weight.
    """

    base: Weight
    incomplete: Weight
    operators: dict[str, Weight]
    findings: dict[str, Weight]
    rules: dict[str, Weight] = field(default_factory=dict)
    full: int = 10
    share: Decimal = Decimal("0.5")


@lru_cache(maxsize=1)
def load_weights(path: Path = WEIGHTS_FILE) -> Weights:
    """Read a weights file. A file that does not parse or lacks a table raises ``OpscanError`` with its path."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
        return Weights(
            base=_weight("base", tables["base"]),
            incomplete=_weight("incomplete", tables["incomplete"]),
            operators={kind: _weight(f"operator.{kind}", tables["operator"][kind]) for kind in KINDS},
            findings={name: _weight(f"finding.{name}", table) for name, table in tables["finding"].items()},
            rules={name: _weight(f"rule.{name}", table) for name, table in tables["rule"].items()},
            full=int(tables["diminishing"]["full"]),
            share=Decimal(tables["diminishing"]["share"]),
        )
    except (OSError, ValueError, KeyError) as error:
        raise OpscanError(
            f"{path}: cannot read the cost weights: {error}", "Restore the file, or reinstall."
        ) from error


def _weight(name: str, table: dict[str, Any]) -> Weight:
    low, likely, high = (Decimal(table[key]) for key in ("low", "likely", "high"))
    return Weight(name, low, likely, high, table["title"], table["title_zh"])


def estimate(
    ops: Sequence[AssessedOp],
    findings: Sequence[AssessedFinding],
    complete: bool = True,
    weights: Weights | None = None,
) -> Cost:
    """The range for a model with these operators and findings; ``complete`` is that of its trace.

    The days of the items sum exactly to ``person_days``. A model without findings costs the base alone.
    """
    weights = weights or load_weights()
    items = [_item(weights.base, 1)]
    items += _diminishing([weights.operators[kind] for kind in _pieces(ops)], weights)
    for rule, lines in _lines(findings).items():
        severity, quantity = lines
        weight = weights.rules.get(rule) or weights.findings.get(severity)
        if weight is not None:
            items += _diminishing([weight] * quantity, weights, f" ({rule})")
    if not complete:
        items.append(_item(weights.incomplete, 1))
    return Cost(_total(item.days for item in items), tuple(items))


def _pieces(ops: Sequence[AssessedOp]) -> list[str]:
    """One kind of work for each operator name that needs any, the dearest first."""
    dearest: dict[str, int] = {}
    for op in ops:
        kind = _kind(op)
        if kind is not None:
            dearest[op.name] = min(KINDS.index(kind), dearest.get(op.name, len(KINDS)))
    return [KINDS[index] for index in sorted(dearest.values())]


def _kind(op: AssessedOp) -> str | None:
    if op.verdict == "supported":
        return None
    if op.verdict == "unsupported" and any(s.supported and s.check and s.check.passed for s in op.substitutions):
        return "substituted"
    if op.verdict == "unsupported" and op.facts.get("counterpart"):
        return "counterpart"
    return op.verdict


def _lines(findings: Sequence[AssessedFinding]) -> dict[str, tuple[str, int]]:
    """Severity and number of distinct lines by rule; a finding without a line counts as one."""
    severities: dict[str, str] = {}
    lines: dict[str, set[object]] = {}
    for number, finding in enumerate(findings):
        severities.setdefault(finding.rule, finding.severity)
        places: set[object] = {(place.file, place.line) for place in finding.locations} or {number}
        lines.setdefault(finding.rule, set()).update(places)
    return {rule: (severity, len(lines[rule])) for rule, severity in severities.items()}


def _diminishing(pieces: list[Weight], weights: Weights, suffix: str = "") -> list[CostItem]:
    """The first ``full`` pieces at their weight, the others at a share of it; equal pieces are one item."""
    items = [_item(weight, count, suffix=suffix) for weight, count in _count(pieces[: weights.full])]
    for weight, count in _count(pieces[weights.full :]):
        items.append(_item(weight, count, weights.share, f"{suffix} × {weights.share}"))
    return items


def _count(pieces: list[Weight]) -> list[tuple[Weight, int]]:
    counts = Counter(weight.name for weight in pieces)
    by_name = {weight.name: weight for weight in pieces}
    return [(by_name[name], count) for name, count in counts.items()]


def _item(weight: Weight, quantity: int, share: Decimal = Decimal(1), suffix: str = "") -> CostItem:
    return CostItem(
        weight=weight.name,
        title=weight.title + suffix,
        quantity=quantity,
        unit=weight.times(share),
        days=weight.times(share * quantity),
        title_zh=weight.title_zh + suffix,
    )


def _total(days: Iterable[PersonDays]) -> PersonDays:
    """Floats here print as the exact decimals they came from, so their sum is exact through their text."""
    rows = list(days)
    return PersonDays(
        low=float(sum(Decimal(str(row.low)) for row in rows)),
        likely=float(sum(Decimal(str(row.likely)) for row in rows)),
        high=float(sum(Decimal(str(row.high)) for row in rows)),
    )
