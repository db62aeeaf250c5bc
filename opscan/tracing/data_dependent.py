"""Runs one operator on fake tensors, whatever its result depends on.

Operators whose result's size or value depends on data are answered from known values, else from an assumption;
operators without a shape function from one run of their CPU kernel on made-up values.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)

from opscan.tracing import values
from opscan.tracing.assumptions import Assumptions, Witness
from opscan.tracing.signature import by_name
from opscan.tracing.stand_in import run_on_cpu

#: What an operator raises on fake tensors where only a real run could tell its result.
LIMITS = (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
    NotImplementedError,
)

#: Inputs larger than this in all are not made up for a run on the CPU.
_STAND_IN_BYTES = 64 << 20


def run(
    assumptions: Assumptions,
    witness: Witness,
    func: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    inputs: list[torch.Tensor],
) -> Any:
    """The operator's result as fake tensors (or a Python value). Raises one of ``LIMITS`` where nothing can answer."""
    special = _SPECIAL.get(func._schema.name)
    if special is not None and all(t.device.type != "meta" for t in inputs):
        answer = special(assumptions, witness, func, args, kwargs, inputs)
        if answer is not NotImplemented:
            return answer
    try:
        return func(*args, **kwargs)
    except LIMITS:
        return _stand_in(assumptions, witness, func, args, kwargs, inputs)
    except RuntimeError as error:
        if "no fake impl registered" not in str(error):
            raise
        return _stand_in(assumptions, witness, func, args, kwargs, inputs)


def _stand_in(
    assumptions: Assumptions,
    witness: Witness,
    func: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    inputs: list[torch.Tensor],
) -> Any:
    """Let the CPU kernel run on made-up values of the same shapes and dtypes, and keep the shapes of its results."""
    if sum(t.numel() * t.element_size() for t in inputs) > _STAND_IN_BYTES:
        raise NotImplementedError(f"{func} has no shape function, and its inputs are too large to run it")
    with witness.outside():
        out = run_on_cpu(func, args, kwargs, witness.device)
    if {torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output} & set(func.tags):
        assumptions.ask()
        witness.assumed("a result whose shape depends on data", "a run on made-up values")
    else:
        witness.shapeless(func)
    return out


def _local_scalar(a: Assumptions, w: Witness, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
    tensor = inputs[0]
    held = values.known(tensor)
    if held is None:
        return a.scalar(w, tensor.dtype)
    if not held.storage.constant:
        w.assumed("a value", "the sample input's own value")
    with values.computing():
        return held.value.item()


def _nonzero_count(a: Assumptions, w: Witness, tensor: torch.Tensor) -> int:
    held = values.known(tensor)
    if held is None:
        return a.count(w, tensor.numel())
    if not held.storage.constant:
        w.assumed("how many elements are nonzero", "the sample input's own value")
    with values.computing():
        return int(held.value.count_nonzero())


def _nonzero(a: Assumptions, w: Witness, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
    tensor = inputs[0]
    return tensor.new_empty((_nonzero_count(a, w, tensor), tensor.dim()), dtype=torch.int64)


def _masked_select(a: Assumptions, w: Witness, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
    tensor, mask = inputs[0], inputs[1]
    shape = torch.broadcast_shapes(tensor.shape, mask.shape)
    held = values.known(mask)
    if held is not None and held.storage.constant:
        with values.computing():
            count = int(held.value.expand(shape).count_nonzero())
        return tensor.new_empty((count,))
    return tensor.new_empty((_nonzero_count(a, w, mask.new_empty(shape)),))


def _index(a: Assumptions, w: Witness, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
    """Boolean masks among the indices become as many integer indices as the mask has dimensions."""
    if func._schema.overload_name != "Tensor" or not any(_is_mask(i) for i in args[1]):
        return NotImplemented
    indices: list[torch.Tensor | None] = []
    for index in args[1]:
        if not _is_mask(index):
            indices.append(index)
            continue
        count = _nonzero_count(a, w, index)
        indices.extend(index.new_empty((count,), dtype=torch.int64) for _ in range(index.dim()))
    return func(args[0], indices)


def _grouped_mm(a: Assumptions, w: Witness, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
    """torch's shape function takes bfloat16 alone, as the CUDA kernel does; that of every other device takes any
    floating dtype: one ``mm`` a group.
    """
    left, right = args[0], args[1]
    given = by_name(func, args, kwargs)
    offsets, dtype = given.get("offs"), given.get("out_dtype") or left.dtype
    floats = left.dtype == right.dtype and left.is_floating_point()
    if not floats or (left.dim() == 3 == right.dim()) is (offsets is not None):
        return NotImplemented
    rows, columns = left.shape[-2], right.shape[-1]
    groups = {(2, 2): offsets.shape[:1] if offsets is not None else (), (3, 3): left.shape[:1]}
    shape = (*groups.get((left.dim(), right.dim()), ()), rows, columns)
    return left.new_empty(shape, dtype=dtype)


def _is_mask(index: Any) -> bool:
    return isinstance(index, torch.Tensor) and index.dtype in (torch.bool, torch.uint8)


def _unique(a: Assumptions, w: Witness, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
    """``_unique2``, ``unique_dim``, ``unique_consecutive``, ``unique_dim_consecutive``: (values, inverse, counts)."""
    tensor = inputs[0]
    given = by_name(func, args, kwargs)
    dim = given.get("dim")
    total = tensor.numel() if dim is None else tensor.shape[dim]
    held = values.known(tensor)
    if held is None:
        count = a.count(w, total)
    else:
        if not held.storage.constant:
            w.assumed("how many elements are distinct", "the sample input's own value")
        with values.computing():
            count = torch.unique(held.value, dim=dim).shape[dim or 0]
    shape = (
        (count,) if dim is None else tuple(count if i == dim % tensor.dim() else s for i, s in enumerate(tensor.shape))
    )
    inverse = tensor.shape if dim is None else (total,)
    return (
        tensor.new_empty(shape),
        tensor.new_empty(inverse if given.get("return_inverse") or dim is not None else (0,), dtype=torch.int64),
        tensor.new_empty((count,) if given.get("return_counts") or dim is not None else (0,), dtype=torch.int64),
    )


def _equal(a: Assumptions, w: Witness, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
    held = [values.known(t) for t in inputs]
    if all(h is not None for h in held):
        if not all(h.storage.constant for h in held if h):
            w.assumed("a condition", "the sample input's own value")
        with values.computing():
            return torch.equal(held[0].value, held[1].value)  # type: ignore[union-attr]
    return a.scalar(w, torch.bool)


def _repeat_interleave(
    a: Assumptions, w: Witness, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]
) -> Any:
    """``Tensor`` gives indices, ``self_Tensor`` the elements themselves along ``dim`` (all of them, without one)."""
    overload = func._schema.overload_name
    if overload not in ("Tensor", "self_Tensor"):
        return NotImplemented
    repeats = inputs[-1]
    dim = args[2] if len(args) > 2 else kwargs.get("dim")
    along = inputs[0].numel() if dim is None else inputs[0].shape[dim]
    size = _repeated(a, w, repeats, along, kwargs.get("output_size"))
    if overload == "Tensor" or dim is None:
        return inputs[0].new_empty((size,))
    return inputs[0].new_empty([size if i == dim % inputs[0].dim() else n for i, n in enumerate(inputs[0].shape)])


def _repeated(a: Assumptions, w: Witness, repeats: torch.Tensor, along: int, given: int | None) -> int:
    """How many elements there are when ``along`` of them are repeated."""
    if given is not None:
        return given
    held = values.known(repeats)
    if held is None:
        return a.repeats(w, along)
    if not held.storage.constant:
        w.assumed("how often elements repeat", "the sample input's own value")
    with values.computing():
        return int(held.value.sum()) * (along if repeats.numel() == 1 else 1)


def _split(a: Assumptions, w: Witness, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
    """Sizes that were assumed one by one need not add up: experts of a mixture, each with its share of the tokens."""
    sizes = list(args[1])
    dim = args[2] if len(args) > 2 else kwargs.get("dim", 0)
    total = inputs[0].shape[dim]
    if not a.made or not sizes or sum(sizes) == total:
        return NotImplemented
    w.assumed("how large each piece is", "equal sizes")
    each, more = divmod(total, len(sizes))
    return func(inputs[0], [each + (i < more) for i in range(len(sizes))], dim)


def _bincount(a: Assumptions, w: Witness, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
    minimum = int(args[2]) if len(args) > 2 else int(kwargs.get("minlength", 0))
    held = values.known(inputs[0])
    if held is not None and held.value.numel():
        with values.computing():
            size = max(minimum, int(held.value.max()) + 1)
        answer = "the sample input's own value"
    else:
        size, answer = max(minimum, 1), f"{max(minimum, 1)} bins"
    if held is None or not held.storage.constant:
        w.assumed("the largest value", answer)
    dtype = torch.int64 if len(inputs) == 1 else (torch.float32 if inputs[1].dtype is torch.float32 else torch.float64)
    return inputs[0].new_empty((size,), dtype=dtype)


def _pack(a: Assumptions, w: Witness, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
    """Rows of a packed sequence and the batch size of each step, on the CPU. The device keeps the padding."""
    padded, lengths = inputs
    steps_first = padded.transpose(0, 1) if args[2] else padded
    steps, batch = steps_first.shape[:2]
    held = values.known(lengths)
    if held is None or not held.storage.constant:
        w.assumed("how long each sequence is", "the full length" if held is None else "the sample input's own value")
    with values.computing():
        given = [steps] * batch if held is None else held.value.tolist()
        sizes = torch.tensor([sum(length > step for length in given) for step in range(max(given))])
    rows = sum(given) if w.device.type == "cpu" else len(sizes) * batch
    batch_sizes = torch.empty(len(sizes), dtype=torch.int64, device="cpu")
    values.attach(batch_sizes, sizes, constant=held is None or held.storage.constant)
    return padded.new_empty((rows, *padded.shape[2:])), batch_sizes


def _kept_boxes(a: Assumptions, w: Witness, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
    """Non-maximum suppression: comparing made-up boxes with each other, tens of thousands in a detector, tells nothing
    and takes minutes.
    """
    boxes = inputs[0]
    if all(values.known(t) is not None for t in inputs):
        return NotImplemented
    return boxes.new_empty((a.count(w, boxes.shape[0]) if boxes.shape[0] else 0,), dtype=torch.int64)


def _left_aligned(a: Assumptions, w: Witness, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
    """``nn.TransformerEncoder`` asks before it makes a nested tensor, which the device refuses: the usual answer is
    noted with what it leads to, and the trace goes on with the other.
    """
    w.assumed("whether a padding mask is left-aligned", "it is not")
    w.emit("aten::_nested_tensor_from_mask", inputs, [])
    return False


def _nested(a: Assumptions, w: Witness, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
    raise NotImplementedError("Nested tensors have no kernels on the device")


_SPECIAL: dict[str, Any] = {
    "aten::_pack_padded_sequence": _pack,
    "aten::_local_scalar_dense": _local_scalar,
    "aten::nonzero": _nonzero,
    "aten::masked_select": _masked_select,
    "aten::index": _index,
    "aten::_unique2": _unique,
    "aten::unique_dim": _unique,
    "aten::unique_consecutive": _unique,
    "aten::unique_dim_consecutive": _unique,
    "aten::equal": _equal,
    "aten::_grouped_mm": _grouped_mm,
    "aten::repeat_interleave": _repeat_interleave,
    "aten::split_with_sizes": _split,
    "aten::bincount": _bincount,
    "torchvision::nms": _kept_boxes,
    "aten::_nested_tensor_from_mask_left_aligned": _left_aligned,
    "aten::_nested_tensor_from_mask": _nested,
    "aten::_nested_tensor_from_tensor_list": _nested,
}
