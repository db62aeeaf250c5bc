"""What changes between two targets, operator by operator and dtype by dtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from opscan.assessment import Verdict
from opscan.matrix.exports_table import ExportsTable
from opscan.matrix.onnx_table import OnnxTable
from opscan.matrix.query import NPU_KEYS, Matrix
from opscan.routes.answer import Answer
from opscan.routes.routes import answer
from opscan.target import Route

#: ``gained`` and ``lost`` support; ``decided``: what was unknown is known; ``undecided``: the reverse.
Kind = Literal["gained", "lost", "decided", "undecided"]

#: From what works best to what does not.
_RANKS: tuple[Verdict, ...] = ("supported", "slow", "fallback", "unsupported")


@dataclass(frozen=True, slots=True)
class Change:
    """One operator's other verdict for ``dtypes``, with the reason why it is not supported on one side."""

    kind: Kind
    operator: str
    dtypes: tuple[str, ...]
    before: Verdict
    after: Verdict
    reason: str | None


def diff(
    before: Matrix,
    after: Matrix,
    route: Route,
    dtypes: Sequence[str],
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[Change, ...]:
    """Changes of verdict in ``route`` from one target to the other, by kind and operator.

    Operators that either side has a kernel, a converter or a parser for, in each of ``dtypes``.
    """
    changes: dict[tuple[Kind, str, Verdict, Verdict, str | None], list[str]] = {}
    for place, operator in enumerate(names := sorted({*_known(before, route), *_known(after, route)})):
        if place % 200 == 0:
            progress(f"{place} of {len(names)} operators")
        for dtype in dtypes:
            old, new = (answer(side, route, operator, dtype) for side in (before, after))
            kind = _kind(old.ruling.verdict, new.ruling.verdict)
            if kind is not None:
                key = (kind, operator, old.ruling.verdict, new.ruling.verdict, _reason(kind, old, new))
                changes.setdefault(key, []).append(dtype)
    found = [Change(k, op, tuple(d), old, new, why) for (k, op, old, new, why), d in changes.items()]
    return tuple(sorted(found, key=lambda c: (_KINDS.index(c.kind), c.operator, c.dtypes)))


_KINDS: tuple[Kind, ...] = ("gained", "lost", "decided", "undecided")


def _kind(before: Verdict, after: Verdict) -> Kind | None:
    if before == after:
        return None
    if before == "unknown":
        return "decided"
    if after == "unknown":
        return "undecided"
    return "gained" if _RANKS.index(after) < _RANKS.index(before) else "lost"


def _reason(kind: Kind, before: Answer, after: Answer) -> str | None:
    """Why it did not run before, or does not any more."""
    return (before if kind == "gained" else after).ruling.reason


def _known(matrix: Matrix, route: Route) -> frozenset[str]:
    if route == "graph":
        return frozenset(matrix.converters.ops) if matrix.converters else frozenset()
    if route == "offline":
        parsers, exports = OnnxTable.load(matrix.target.cann, matrix.roots), ExportsTable.load(roots=matrix.roots)
        return frozenset((*(parsers.ops if parsers else ()), *(exports.ops if exports else ())))
    return frozenset().union(*(matrix.registered(key) for key in NPU_KEYS))
