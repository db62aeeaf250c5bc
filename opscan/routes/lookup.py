"""One operator's answers in every route for one target, and its history over releases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from opscan.assessment import Verdict
from opscan.errors import UsageError
from opscan.matrix.names import nearest
from opscan.matrix.onnx_table import NEWEST_OPSET
from opscan.matrix.query import NPU_KEYS, Matrix
from opscan.matrix.releases import load_releases, torch_npu_releases
from opscan.matrix.tables import RegistrationTable
from opscan.matrix.torchair_table import TorchairTable
from opscan.routes.answer import Answer
from opscan.routes.eager import observed_dtypes
from opscan.routes.routes import answer, routes_of
from opscan.target import Target
from opscan.text import Text

#: What people compute in, in the order of a report.
DTYPES = ("float32", "float16", "bfloat16", "float64", "int64", "int32", "int8", "uint8", "bool", "complex64")


@dataclass(frozen=True, slots=True)
class Span:
    """Consecutive releases of which the same holds."""

    first: str
    last: str
    state: Text


@dataclass(frozen=True, slots=True)
class History:
    """``eager``: how each torch_npu release registers the operator; ``graph``: what its torchair does with it.

    ``cann``: the verdict of the eager route on ``soc`` for ``dtype`` with the newest torch_npu, per CANN release.
    """

    operator: str
    soc: str
    dtype: str
    eager: tuple[Span, ...]
    graph: tuple[Span, ...]
    cann: tuple[tuple[str, Verdict], ...]


def look_up(matrix: Matrix, operator: str, dtypes: Sequence[str] = (), opset: int = NEWEST_OPSET) -> tuple[Answer, ...]:
    """The answers of every route that knows operators of this kind, per dtype.

    Without ``dtypes``: those in which the operator was observed, else the ones that people compute in. Raises
    UsageError for an operator that no table of the target knows.
    """
    routes = routes_of(matrix, operator)
    if not routes:
        raise unknown_operator(operator, matrix.registrations.ops)
    asked = tuple(dtypes) or _dtypes(matrix, operator)
    return tuple(answer(matrix, route, operator, dtype, opset) for route in routes for dtype in asked)


def unknown_operator(operator: str, known: Iterable[str] = ()) -> UsageError:
    """What to say of a name that no table has; the nearest of ``known`` may have been meant."""
    near = nearest(operator, tuple(known))
    hint = f"Did you mean {', '.join(near)}?" if near else "Names look like aten::add.Tensor or ai.onnx::Add."
    return UsageError(f"no table of the target knows an operator {operator!r}", hint)


def _dtypes(matrix: Matrix, operator: str) -> tuple[str, ...]:
    seen = set(observed_dtypes(matrix, operator))
    return tuple(d for d in DTYPES if d in seen) or DTYPES[:4]


def history(matrix: Matrix, operator: str, dtype: str = "float32") -> History:
    """How the operator fared over all releases of the matrix; opens every table."""
    names = torch_npu_releases(matrix.roots)
    tables = {r: matrix.registrations_of(r) for r in names}
    converters = {r: TorchairTable.load(r, matrix.roots) for r in names}
    if not any(operator in table.ops for table in tables.values()):
        look_up(matrix, operator)  # raises with the nearest names
    releases = load_releases(matrix.roots)
    cann = []
    for release in releases.cann_order:
        if matrix.target.soc in releases.cann[release].socs:
            there = matrix.at(Target(matrix.target.torch_npu, release, matrix.target.soc))
            cann.append((release, answer(there, "eager", operator, dtype).ruling.verdict))
    return History(
        operator,
        matrix.target.soc,
        dtype,
        _spans(names, lambda r: _registered(tables[r], operator)),
        _spans(names, lambda r: _converted(converters[r], tables[r], operator)),
        tuple(cann),
    )


def _spans(releases: Sequence[str], state: Callable[[str], Text]) -> tuple[Span, ...]:
    grouped = ((key, list(group)) for key, group in groupby(releases, key=state))
    return tuple(Span(group[0], group[-1], key) for key, group in grouped)


def _registered(table: RegistrationTable, operator: str) -> Text:
    entry = table.ops.get(operator)
    if entry is None:
        return Text("not in its torch", "其 torch 中没有")
    if NPU_KEYS & set(entry.keys):
        how = f" ({', '.join(entry.impl)})" if entry.impl else ""
        if entry.hidden_cpu:
            return Text(f"registered{how}, computes on the CPU", f"已注册{how}，但在 CPU 上计算")
        return Text(f"registered{how}", f"已注册{how}")
    if any(key.startswith("Composite") for key in entry.keys):
        return Text("composite: its parts decide", "组合算子：取决于其组成部分")
    if "CPU" in entry.keys:
        return Text("CPU fallback", "回退到 CPU")
    return Text("no kernel", "没有内核")


def _converted(table: TorchairTable | None, registrations: RegistrationTable, operator: str) -> Text:
    if table is None:
        return Text("no table", "没有数据表")
    converter, registered = table.ops.get(operator), registrations.ops.get(operator)
    if converter is not None:
        return _CONVERTERS[converter.status]
    composed = registered is not None and "CompositeImplicitAutograd" in registered.keys
    return _CONVERTERS["composed" if composed else "absent"]


_CONVERTERS = {
    "absent": Text("no converter", "没有转换器"),
    "composed": Text("composite: its parts decide", "组合算子：取决于其组成部分"),
    "implemented": Text("converter implemented", "转换器已实现"),
    "raises": Text("converter raises", "转换器只会报错"),
    "decomposed": Text("taken apart before conversion", "转换前被分解"),
}
