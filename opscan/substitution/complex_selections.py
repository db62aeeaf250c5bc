"""Operators that pick or move whole elements: on pairs of reals they pick the same pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opscan.inventory import OpCall, TensorSpec
from opscan.substitution.arguments import attributes, operands
from opscan.substitution.complex_rewrite import NOT_COMPLEX, PARTS, Rewrite
from opscan.substitution.interface import Run, Text

REAL = "torch.view_as_real(x)"


class Selection:
    """``expression`` and ``select`` are the operator on ``x`` itself or, with ``pairs``, on its real view."""

    #: A lookup, as from a rotary table: the report then shows how to keep cosines and sines apart.
    is_lookup = False

    def miss(self, call: OpCall) -> Text | None:
        if not call.inputs or call.inputs[0].dtype not in PARTS:
            return NOT_COMPLEX
        return None if call.inputs[0].shape else Text("a single number has nothing to select", "单个数没有可选择的元素")

    def names(self, call: OpCall) -> tuple[str, ...]:
        return ("x", "index")[: len(call.inputs)]

    def expression(self, call: OpCall, x: str, pairs: bool) -> str:
        raise NotImplementedError

    def select(self, call: OpCall, pairs: bool) -> Run:
        raise NotImplementedError

    def before(self, call: OpCall) -> str:
        return f"out = {self.expression(call, 'x', pairs=False)}"

    def after(self, call: OpCall) -> str:
        pairs = self.expression(call, REAL, pairs=True)
        hint = f"\n# in a rotary table the pairs can stay: cos, sin = {pairs}.unbind(-1)" if self.is_lookup else ""
        return f"out = torch.view_as_complex({pairs}){hint}"

    def original(self, call: OpCall) -> Run:
        return self.select(call, pairs=False)

    def replacement(self, call: OpCall) -> Run:
        import torch

        select = self.select(call, pairs=True)

        def run(x: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
            return torch.view_as_complex(select(torch.view_as_real(x), *rest))

        return run

    def limits(self, call: OpCall, specs: Sequence[TensorSpec]) -> list[tuple[int, int]]:
        return [(0, int(specs[0].shape[self.dimension(call)]))] * len(specs)

    def dimension(self, call: OpCall) -> int:
        """The dimension that is selected from, counted from the front: the real view has one more at the end."""
        dim = attributes(call).get("dim", 0)
        return dim % len(call.inputs[0].shape) if isinstance(dim, int) else 0


class Index(Selection):
    """``aten::index.Tensor``: ``x[i]``, ``x[:, i]``, ``x[i, j]``, ``x[mask]``."""

    is_lookup = True

    def miss(self, call: OpCall) -> Text | None:
        if self.positions(call) is None:
            return Text("the trace does not say which dimensions are indexed", "跟踪结果未说明索引了哪些维度")
        return super().miss(call)

    def names(self, call: OpCall) -> tuple[str, ...]:
        count = len(call.inputs) - 1
        return ("x", "index") if count == 1 else ("x", *(f"index{number}" for number in range(count)))

    def expression(self, call: OpCall, x: str, pairs: bool) -> str:
        positions = self.positions(call) or ()
        items = [":"] * (max(positions) + 1)
        for position, name in zip(positions, self.names(call)[1:], strict=True):
            items[position] = name
        return f"{x}[{', '.join(items)}]"

    def select(self, call: OpCall, pairs: bool) -> Run:
        positions = self.positions(call) or ()

        def run(x: Any, *indices: Any) -> Any:
            items: list[Any] = [slice(None)] * (max(positions) + 1)
            for position, index in zip(positions, indices, strict=True):
                items[position] = index
            return x[tuple(items)]

        return run

    def limits(self, call: OpCall, specs: Sequence[TensorSpec]) -> list[tuple[int, int]]:
        """From -size to size: a negative index counts from the end."""
        positions = self.positions(call) or ()
        ranges = [(0, 1)]
        for number, position in enumerate(positions):
            masks = [spec for spec in specs[1 : 1 + number] if spec.dtype == "bool"]
            dimension = position + sum(len(mask.shape) - 1 for mask in masks)
            size = int(specs[0].shape[dimension])
            ranges.append((-size, size))
        return ranges

    def positions(self, call: OpCall) -> tuple[int, ...] | None:
        """The places of the indices in the brackets: as recorded, else the leading ones if shapes leave no doubt."""
        named = operands(call)
        if named is not None:
            places = tuple(operand.position for operand in named[1:])
            return tuple(place for place in places if place is not None) if None not in places and places else None
        return _leading(call)


def _leading(call: OpCall) -> tuple[int, ...] | None:
    """Places 0 … n-1 where the recorded result has the shape that they give and no other run of places gives it."""
    x, *indices = call.inputs
    if not indices or not call.outputs or any(index.dtype == "bool" for index in indices):
        return None
    if any(index.shape != indices[0].shape for index in indices):
        return None
    count = len(indices)
    shapes = [
        x.shape[:start] + indices[0].shape + x.shape[start + count :] for start in range(len(x.shape) - count + 1)
    ]
    fitting = [start for start, shape in enumerate(shapes) if shape == call.outputs[0].shape]
    return tuple(range(count)) if fitting == [0] else None


class IndexSelect(Selection):
    """``aten::index_select``."""

    is_lookup = True

    def expression(self, call: OpCall, x: str, pairs: bool) -> str:
        return f"torch.index_select({x}, {self.dimension(call)}, index)"

    def select(self, call: OpCall, pairs: bool) -> Run:
        dimension = self.dimension(call)
        return lambda x, index: x.index_select(dimension, index)


class Gather(Selection):
    """``aten::gather``: the index gets a last dimension too, so that both parts of a number come along."""

    def expression(self, call: OpCall, x: str, pairs: bool) -> str:
        index = "index.unsqueeze(-1).expand(*index.shape, 2)" if pairs else "index"
        return f"torch.gather({x}, {self.dimension(call)}, {index})"

    def select(self, call: OpCall, pairs: bool) -> Run:
        dimension = self.dimension(call)

        def run(x: Any, index: Any) -> Any:
            return x.gather(dimension, index.unsqueeze(-1).expand(*index.shape, 2) if pairs else index)

        return run


class Embedding(Selection):
    """``aten::embedding``: a row for each index."""

    is_lookup = True

    def expression(self, call: OpCall, x: str, pairs: bool) -> str:
        return f"{x}[index]" if pairs else f"torch.nn.functional.embedding(index, {x})"

    def select(self, call: OpCall, pairs: bool) -> Run:
        import torch

        if pairs:
            return lambda x, index: x[index]
        return lambda x, index: torch.nn.functional.embedding(index, x)


class MaskedSelect(Selection):
    """``aten::masked_select`` with a mask of the tensor's own shape; a mask that broadcasts has no such short form."""

    def miss(self, call: OpCall) -> Text | None:
        if len(call.inputs) == 2 and call.inputs[0].shape != call.inputs[1].shape:
            return Text("the mask has another shape than the tensor", "掩码与张量的形状不同")
        return super().miss(call)

    def names(self, call: OpCall) -> tuple[str, ...]:
        return ("x", "mask")

    def expression(self, call: OpCall, x: str, pairs: bool) -> str:
        return f"{x}[mask]" if pairs else f"torch.masked_select({x}, mask)"

    def select(self, call: OpCall, pairs: bool) -> Run:
        return lambda x, mask: x[mask] if pairs else x.masked_select(mask)


class Roll(Selection):
    """``aten::roll`` along named dimensions; without any it flattens, which would tear the pairs apart."""

    def miss(self, call: OpCall) -> Text | None:
        if not _integers(attributes(call).get("dims")):
            return Text("without dims it flattens the tensor first", "未指定 dims 时会先展平张量")
        return super().miss(call)

    def expression(self, call: OpCall, x: str, pairs: bool) -> str:
        shifts, dims = self._arguments(call)
        return f"torch.roll({x}, shifts={shifts}, dims={dims})"

    def select(self, call: OpCall, pairs: bool) -> Run:
        shifts, dims = self._arguments(call)
        return lambda x: x.roll(shifts, dims)

    def _arguments(self, call: OpCall) -> tuple[list[int], list[int]]:
        values = attributes(call)
        shifts, dims = (_integers(values.get(name)) for name in ("shifts", "dims"))
        return shifts, [dim % len(call.inputs[0].shape) for dim in dims]


class RepeatInterleave(Selection):
    """``aten::repeat_interleave.self_int`` along a dimension."""

    def miss(self, call: OpCall) -> Text | None:
        if not isinstance(attributes(call).get("dim"), int):
            return Text("without dim it flattens the tensor first", "未指定 dim 时会先展平张量")
        return super().miss(call)

    def expression(self, call: OpCall, x: str, pairs: bool) -> str:
        return f"torch.repeat_interleave({x}, {attributes(call)['repeats']}, dim={self.dimension(call)})"

    def select(self, call: OpCall, pairs: bool) -> Run:
        repeats, dimension = attributes(call)["repeats"], self.dimension(call)
        return lambda x: x.repeat_interleave(repeats, dim=dimension)


def _integers(value: object) -> list[int]:
    if isinstance(value, int):
        return [value]
    return [item for item in value if isinstance(item, int)] if isinstance(value, (list, tuple)) else []


REWRITES: dict[str, Rewrite] = {
    "aten::index.Tensor": Index(),
    "aten::index_select": IndexSelect(),
    "aten::gather": Gather(),
    "aten::embedding": Embedding(),
    "aten::masked_select": MaskedSelect(),
    "aten::roll": Roll(),
    "aten::repeat_interleave.self_int": RepeatInterleave(),
}
