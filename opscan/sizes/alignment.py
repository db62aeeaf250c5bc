"""Sizes that do not fill the blocks of the cube unit.

The cube multiplies blocks: 16 × 16 by 16 × 16 in float16, 16 × 32 by 32 × 16 in int8, so 32 bytes along the inner
dimension; what does not fill a block is padded and computed all the same. Source: hiascend.com, CANN commercial 8.0.0,
TBE operator development, AI Core (atlasopdev_10_0008).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod

from opscan.inventory import Dim, Location, OpCall, TensorSpec

#: Rows of a block, and bytes of one of its rows.
ROWS = 16
ROW_BYTES = 32

#: A group of calls is told where so much of its own work is padding, and that is so much of the model's.
_OF_ITS_OWN = 0.10
_OF_THE_MODEL = 0.01

#: Convolutions of pictures: for so few channels there are formats of their own (NC1HWC0_C04).
_FEW_CHANNELS = 4

_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "int8": 1, "uint8": 1}


@dataclass(frozen=True, slots=True)
class Product:
    """``batch`` products of M × K by K × N. ``symbolic``: M, K and N with the names of sizes that vary."""

    m: int
    k: int
    n: int
    batch: int
    k_block: int
    symbolic: tuple[Dim, Dim, Dim]

    @property
    def work(self) -> int:
        return self.batch * self.m * self.k * self.n

    @property
    def padded(self) -> int:
        """M stays: rows are a matter of the inputs' sizes, and not of the model."""
        return self.batch * self.m * up(self.k, self.k_block) * up(self.n, ROWS)


@dataclass(frozen=True, slots=True)
class Unaligned:
    """Calls of one operator with one shape of product. ``waste`` is the padding among its multiply-adds, ``share`` that
    among the model's."""

    operator: str
    calls: int
    product: Product
    waste: float
    share: float
    locations: tuple[Location, ...]


def up(size: int, block: int) -> int:
    return -(-size // block) * block


def unaligned(calls: Iterable[OpCall], narrows: bool = False) -> tuple[Unaligned, ...]:
    """What is worth telling, worst first. ``narrows``: float32 is computed in float16, as ATC does by default."""
    groups: dict[tuple[str, Product], list[OpCall]] = {}
    for call in calls:
        for found in products(call, narrows):
            groups.setdefault((call.name, found), []).append(call)
    counts = {key: sum(call.count for call in own) for key, own in groups.items()}
    total = sum(found.padded * counts[name, found] for name, found in groups)
    told = []
    for (name, found), own in groups.items():
        waste = 1 - found.work / found.padded
        share = (found.padded - found.work) * counts[name, found] / total
        if waste >= _OF_ITS_OWN and share >= _OF_THE_MODEL:
            places = tuple(dict.fromkeys(call.location for call in own if call.location))
            told.append(Unaligned(name, counts[name, found], found, waste, share, places))
    return tuple(sorted(told, key=lambda each: -each.share))


def products(call: OpCall, narrows: bool = False) -> Iterator[Product]:
    """The products of matrices that a call computes on the cube; none for other operators and unknown sizes."""
    name = call.name.rpartition("::")[2].partition(".")[0]
    read = _READERS.get(name)
    if read is None or not all(isinstance(dim, int) for spec in (*call.inputs, *call.outputs) for dim in spec.shape):
        return
    inputs = call.symbolic[: len(call.inputs)] or tuple(spec.shape for spec in call.inputs)
    outputs = call.symbolic[len(call.inputs) :] or tuple(spec.shape for spec in call.outputs)
    for m, k, n, batch in read(call, inputs, outputs):
        dtype = call.inputs[0].dtype
        size = 2 if narrows and dtype == "float32" else _BYTES.get(dtype, 0)
        numbers = [number for _, number in (m, k, n, *batch)]
        if size and min(numbers) > 0:
            yield Product(m[1], k[1], n[1], prod(numbers[3:]), ROW_BYTES // size, (m[0], k[0], n[0]))


#: A size as it is written, and where its number stands: (inputs or outputs, tensor, dimension), or a number.
_Size = tuple[Dim, int]
_Read = tuple[_Size, _Size, _Size, tuple[_Size, ...]]
_Shapes = tuple[tuple[Dim, ...], ...]


def _sized(spec: TensorSpec, shape: tuple[Dim, ...]) -> list[_Size]:
    return [(dim, int(number)) for dim, number in zip(shape, spec.shape, strict=True)]


def _matmul(call: OpCall, inputs: _Shapes, outputs: _Shapes) -> Iterator[_Read]:
    """The last two tensors among the inputs, the second one laid out as K × N."""
    first = 1 if call.name.rpartition("::")[2].partition(".")[0] in ("addmm", "baddbmm", "addbmm") else 0
    if len(call.inputs) < first + 2:
        return
    a, b = (_sized(call.inputs[i], inputs[i]) for i in (first, first + 1))
    if len(a) < 2 or len(b) < 2:
        return
    if len(b) == 2:  # all rows of the first at once
        yield _all(a[:-1]), a[-1], b[-1], ()
    else:
        yield a[-2], a[-1], b[-1], tuple(_sized(call.outputs[0], outputs[0])[:-2])


def _linear(call: OpCall, inputs: _Shapes, outputs: _Shapes) -> Iterator[_Read]:
    if len(call.inputs) >= 2 and call.inputs[0].shape and len(call.inputs[1].shape) == 2:
        a, w = (_sized(call.inputs[i], inputs[i]) for i in (0, 1))
        yield _all(a[:-1]), a[-1], w[0], ()


def _gemm(call: OpCall, inputs: _Shapes, outputs: _Shapes) -> Iterator[_Read]:
    """ONNX: both matrices may be given transposed."""
    if len(call.inputs) < 2 or any(len(spec.shape) != 2 for spec in call.inputs[:2]) or not call.outputs:
        return
    a = _sized(call.inputs[0], inputs[0])
    out = _sized(call.outputs[0], outputs[0])
    transposed = dict(call.attributes).get("transA") == "1"
    if len(out) == 2:
        yield out[0], a[0 if transposed else 1], out[1], ()


def _convolution(call: OpCall, inputs: _Shapes, outputs: _Shapes) -> Iterator[_Read]:
    """Channels of a group are padded to a block before the window multiplies them. Depthwise ones are no products."""
    if (
        len(call.inputs) < 2
        or len(call.inputs[1].shape) < 3
        or not call.outputs
        or dict(call.attributes).get("transposed") == "True"
    ):
        return
    x, w, out = (
        _sized(call.inputs[0], inputs[0]),
        _sized(call.inputs[1], inputs[1]),
        _sized(call.outputs[0], outputs[0]),
    )
    if len(x) != len(w) or len(out) != len(w):
        return
    channels = w[1][1]
    groups = x[1][1] // channels if channels else 0
    if groups < 1 or channels == 1 or channels <= _FEW_CHANNELS:
        return
    per_group = w[0] if groups == 1 else (w[0][1] // groups, w[0][1] // groups)
    window = prod(size for _, size in w[2:])
    yield _all([out[0], *out[2:]]), w[1], per_group, ((window, window), (groups, groups))


def _attention(call: OpCall, inputs: _Shapes, outputs: _Shapes) -> Iterator[_Read]:
    """Queries times keys, and weights times values: batch, heads, length, width of a head, in one of two orders."""
    if len(call.inputs) < 3 or any(len(spec.shape) != 4 for spec in call.inputs[:3]):
        return
    q, k, v = (_sized(call.inputs[i], inputs[i]) for i in range(3))
    layout = dict(call.attributes).get("input_layout", "'BNSD'").strip("'\"")
    if layout == "BSND":
        q, k, v = ([t[0], t[2], t[1], t[3]] for t in (q, k, v))
    elif layout != "BNSD":
        return
    yield q[2], q[3], k[2], (q[0], q[1])
    yield q[2], k[2], v[3], (q[0], q[1])


def _all(sizes: list[_Size]) -> _Size:
    """Several dimensions as the rows of one matrix."""
    names = [str(dim) for dim, _ in sizes if dim != 1]
    number = prod(size for _, size in sizes)
    return (number if all(isinstance(dim, int) for dim, _ in sizes) else "*".join(names)), number


_READERS = {
    **dict.fromkeys(("mm", "bmm", "matmul", "addmm", "baddbmm", "MatMul"), _matmul),
    "linear": _linear,
    "Gemm": _gemm,
    **dict.fromkeys(("convolution", "_convolution", "conv1d", "conv2d", "conv3d", "npu_conv2d", "Conv"), _convolution),
    **dict.fromkeys(
        (
            "npu_fusion_attention", "npu_fusion_attention_v2", "npu_fusion_attention_v3",
            "scaled_dot_product_attention",
            "_scaled_dot_product_flash_attention", "_scaled_dot_product_efficient_attention",
            "_scaled_dot_product_fused_attention_overrideable", "_scaled_dot_product_attention_math",
        ),
        _attention,
    ),
}  # fmt: skip
