"""What a report says of sizes, for the target's route: gears where inputs vary, operators bound to a size, blocks that
are not filled."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from opscan.inventory import Dim, Finding, Inventory, Location, OpCall, VaryingInput
from opscan.sizes import atc, torchair
from opscan.sizes.alignment import ROWS, Unaligned, products, unaligned, up
from opscan.sizes.gears import Varying, padding, proposed
from opscan.target import Target

#: Operators whose result has as many elements as the data says, or whose value the host reads.
DATA_DEPENDENT = frozenset(
    (
        "aten::nonzero", "aten::argwhere", "aten::unique_dim", "aten::_unique", "aten::_unique2",
        "aten::unique_consecutive", "aten::unique_dim_consecutive", "aten::bincount", "aten::masked_select",
        "aten::_local_scalar_dense", "aten::item", "aten::is_nonzero", "aten::repeat_interleave.Tensor",
        "torchvision::nms", "ai.onnx::NonZero", "ai.onnx::Unique", "ai.onnx::Compress", "ai.onnx::NonMaxSuppression",
    )
)  # fmt: skip

#: Kernels of the graph engine's operators, which torch_npu launches one by one through its older path.
_LEGACY = "GE "

#: Less padding in all is no reason to change a model.
_WORTH_TELLING = 0.02

#: So many operators are named in a finding.
_NAMED = 6

#: Sizes are looked at up to here for those that fill the blocks.
_MOST_ALIGNED = 1024


def findings_on_sizes(inventory: Inventory, kernels: Mapping[str, Sequence[str]], target: Target) -> list[Finding]:
    """``kernels``: those that each operator is known to launch."""
    found = [*_data_dependent(inventory.calls, target), *_alignment(inventory.calls, target)]
    varying = any(isinstance(dim, str) for each in inventory.inputs for dim in each.shape)
    if varying:
        found += _aligned_sizes(inventory.calls)
        if target.route == "offline":
            found += _offline(inventory.inputs, target)
        elif target.route == "graph":
            found += _graph(inventory.inputs)
        else:
            found += _eager(inventory.calls, kernels)
    return found


def _counted(calls: Iterable[OpCall]) -> str:
    counts: Counter[str] = Counter()
    for call in calls:
        counts[call.name] += call.count
    told = [f"{name} ×{count}" if count > 1 else name for name, count in counts.most_common()]
    return ", ".join(told[:_NAMED]) + (f", … ({len(told) - _NAMED} more)" if len(told) > _NAMED else "")


def _places(calls: Iterable[OpCall]) -> tuple[Location, ...]:
    return tuple(dict.fromkeys(call.location for call in calls if call.location))


def _data_dependent(calls: Iterable[OpCall], target: Target) -> list[Finding]:
    met = [call for call in calls if call.name in DATA_DEPENDENT or _is_masked(call)]
    return [Finding("OPS664", {"operators": _counted(met)}, _places(met))] if met else []


def _is_masked(call: OpCall) -> bool:
    """``x[mask]``: as many elements as the mask has ones."""
    return call.name == "aten::index.Tensor" and any(spec.dtype == "bool" for spec in call.inputs[1:])


# --- routes -----------------------------------------------------------------------------------------------------


def _eager(calls: Iterable[OpCall], kernels: Mapping[str, Sequence[str]]) -> list[Finding]:
    """Operators with a size that varies, and a kernel of the older path."""
    met = [c for c in calls if c.symbolic and any(kernel.startswith(_LEGACY) for kernel in kernels.get(c.name, ()))]
    return [Finding("OPS663", {"operators": _counted(met)}, _places(met))] if met else []


def _graph(inputs: tuple[VaryingInput, ...]) -> list[Finding]:
    varying = proposed(inputs, torchair.SMALLEST)
    calls = torchair.gear_calls(inputs, varying)
    return [Finding("OPS665", {"calls": calls, "padding": _padding(varying)})] if calls else []


def _offline(inputs: tuple[VaryingInput, ...], target: Target) -> list[Finding]:
    varying = proposed(inputs)
    any_size = "—" if target.soc in atc.GEARS_ONLY else atc.range_option(inputs)
    facts = {"options": atc.gear_options(inputs, varying), "range": any_size, "padding": _padding(varying)}
    return [Finding("OPS667", facts)]


def _padding(varying: tuple[Varying, ...]) -> str:
    """``x.0 1–8: 14 % on average, 38 % at worst``."""
    told = []
    for each in varying:
        if each.gears:
            cost = padding(each.gears, min(each.low, each.gears[-1]))
            sizes = f"{each.low}–{each.gears[-1]}"
            told.append(f"{each.name} {sizes}: {cost.average:.0%} / {cost.worst:.0%}")
    return "; ".join(told) or "—"


# --- blocks -----------------------------------------------------------------------------------------------------


def _alignment(calls: tuple[OpCall, ...], target: Target) -> list[Finding]:
    met = unaligned((call for call in calls if call.phase == "forward"), narrows=target.route == "offline")
    if sum(each.share for each in met) < _WORTH_TELLING:
        return []
    told = "; ".join(_shape(each) for each in met[:_NAMED]) + (
        f"; … ({len(met) - _NAMED} more)" if met[_NAMED:] else ""
    )
    places = tuple(dict.fromkeys(place for each in met for place in each.locations))
    return [Finding("OPS666", {"operators": told, "share": f"{sum(each.share for each in met):.0%}"}, places)]


def _shape(each: Unaligned) -> str:
    """``aten::mm ×2 197×768×17 → 197×768×32 (47%)``: M×K×N, and the columns that are computed."""
    p = each.product
    count = f" ×{each.calls}" if each.calls > 1 else ""
    filled = f"{p.m}×{up(p.k, p.k_block)}×{up(p.n, ROWS)}"
    return f"{each.operator}{count} {p.m}×{p.k}×{p.n} → {filled} ({each.waste:.0%})"


def _aligned_sizes(calls: Iterable[OpCall]) -> list[Finding]:
    """Of which numbers the sizes that vary should be multiples, so that products of matrices fill their blocks."""
    expressions: dict[str, set[str]] = {}
    for call in calls:
        for each in products(call) if call.symbolic else ():
            for dim in each.symbolic:
                for name in _names(dim):
                    expressions.setdefault(name, set()).add(str(dim))
    told = []
    for name, own in expressions.items():
        step = _step([expression for expression in own if set(_names(expression)) == {name}], name)
        if step > 1:
            told.append(f"{name}: {step}")
    return [Finding("OPS668", {"sizes": "; ".join(told)})] if told else []


def _step(expressions: Sequence[str], name: str) -> int:
    """The smallest number all of whose multiples, up to the bound, fill the blocks; 0 where there is none."""
    trees = [_tree(expression) for expression in expressions]
    good = {n for n in range(1, _MOST_ALIGNED + 1) if all(_value(tree, name, n) % ROWS == 0 for tree in trees)}
    steps = (n for n in range(1, _MOST_ALIGNED // 2 + 1) if good.issuperset(range(n, _MOST_ALIGNED + 1, n)))
    return next(steps, 0) if expressions else 0


def _tree(expression: str) -> ast.expr:
    """Names of sizes have dots and brackets: they are one name."""
    return ast.parse(_plain(expression), mode="eval").body


def _plain(expression: str) -> str:
    for name in _names(expression):
        expression = expression.replace(name, "n")
    return expression


def _names(dim: Dim) -> list[str]:
    """Names in an expression, without its numbers and operators; none where it is no formula."""
    if isinstance(dim, int) or dim.startswith("f("):
        return []
    parts = dim.replace("//", "*").replace("(", "").replace(")", "").replace("+", "*").replace("-", "*").split("*")
    return list(dict.fromkeys(part for part in parts if part and not part.isdecimal()))


def _value(tree: ast.expr, name: str, size: int) -> int:
    if isinstance(tree, ast.BinOp):
        left, right = _value(tree.left, name, size), _value(tree.right, name, size)
        if isinstance(tree.op, ast.Mult):
            return left * right
        if isinstance(tree.op, ast.FloorDiv):
            return left // right
        return left - right if isinstance(tree.op, ast.Sub) else left + right
    return int(tree.value) if isinstance(tree, ast.Constant) and isinstance(tree.value, int) else size
