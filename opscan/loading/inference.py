"""Dtypes that nobody gave: where a model refuses floating-point indices or masks, its inputs become integers or
booleans, and it is tried again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import msgspec

from opscan.errors import ModelError, message_of
from opscan.inventory import Dim, Inventory
from opscan.loading.inputs import ContainerSpec, Input, InputSpec
from opscan.loading.nested_inputs import tensors_of
from opscan.loading.preparation import Preparation
from opscan.text import Text

#: Arguments that are indices, by operator: an adapter may be asked with floating-point numbers, and launch.
_INDICES = {
    "aten::embedding": "indices",
    "aten::embedding_bag": "indices",
    "aten::_embedding_bag": "indices",
    "aten::index_select": "index",
    "aten::gather": "index",
    "aten::one_hot": "self",
}

#: What torch says to floating-point numbers in the place of others, and what it wants instead.
_REFUSALS = (
    (re.compile(r"indices.*(Long|Int)|(Long|Int).*indices", re.DOTALL), "int64"),
    (re.compile(r"used as indices must be long|dtype int32/int64 for index|applicable to index tensor"), "int64"),
    (re.compile(r"expected.*scalar type (Long|Int)\b|Expected index .* to be", re.DOTALL), "int64"),
    (re.compile(r"only supports bool|expected .*condition.* bool|boolean masks?"), "bool"),
)

#: Inputs that hold indices, or masks, are called like this.
_NAMED_LIKE = {
    "int64": re.compile(r"ids?\b|_id|idx|ind(ex|ices)|token|position|label|target|length|mask|type|word|item|user"),
    "bool": re.compile(r"mask|cond|valid|keep|is_"),
}


@dataclass(frozen=True, slots=True)
class _Refusal:
    """``dtype`` is wanted in place of float32: by the input that is called or shaped like this, where that is known."""

    dtype: str
    names: frozenset[str] = frozenset()
    shape: tuple[Dim, ...] | None = None


def with_inferred_dtypes(prepared: Preparation, trace: Callable[[], Inventory]) -> tuple[Inventory, tuple[Text, ...]]:
    """What ``trace`` returns, and what was inferred for it. Each retry changes one input at least.

    Raises what ``trace`` raises where no input's dtype is to blame, or was said.
    """
    notes: list[Text] = []
    while True:
        try:
            inventory = trace()
        except ModelError as error:
            if error.__cause__ is None or not _retry(prepared, _of_error(error.__cause__), notes):
                raise
        else:
            if not _retry(prepared, _of_calls(inventory), notes):
                return inventory, tuple(notes)


def _retry(prepared: Preparation, refusal: _Refusal | None, notes: list[Text]) -> bool:
    """Whether some input was changed."""
    inputs = _changed(prepared, refusal) if refusal else prepared.inputs
    if refusal is None or inputs == prepared.inputs:
        return False
    notes.append(_note(prepared, inputs, refusal.dtype))
    prepared.inputs = inputs
    return True


def _of_error(error: BaseException) -> _Refusal | None:
    said = message_of(error)
    dtype = next((dtype for pattern, dtype in _REFUSALS if pattern.search(said)), None)
    return _Refusal(dtype, frozenset(_blamed(error))) if dtype else None


def _of_calls(inventory: Inventory) -> _Refusal | None:
    for call in inventory.calls:
        named = _INDICES.get(call.name.partition(".")[0])
        for name, spec in zip(call.parameters, call.inputs, strict=False):
            if name == named and spec.dtype == "float32":
                return _Refusal("int64", shape=spec.shape)
    return None


def _changed(prepared: Preparation, refusal: _Refusal) -> tuple[Input, ...]:
    """The inputs, with those of another dtype that the refusal is about; all assumed ones where it does not tell."""
    names = _names(prepared)
    tensors = [[t for t in tensors_of(spec) if _is_assumed(t)] for spec in prepared.inputs]
    candidates = [i for i, found in enumerate(tensors) if found]
    chosen = [i for i in candidates if names[i] in refusal.names]
    chosen = chosen or [i for i in candidates if any(t.shape == refusal.shape for t in tensors[i])]
    chosen = chosen or [i for i in candidates if _NAMED_LIKE[refusal.dtype].search(names[i].lower())] or candidates
    return tuple(_as(spec, refusal.dtype) if i in chosen else spec for i, spec in enumerate(prepared.inputs))


def _names(prepared: Preparation) -> list[str]:
    """The parameter of each input, by its name or its place."""
    places = iter(prepared.parameters)
    return [spec.name or next(places, "") for spec in prepared.inputs]


def _blamed(error: BaseException) -> set[str]:
    """Names that the outermost function gives to the tensor which an embedding refused."""
    frames = list(_frames(error))
    embeddings = (f.f_locals.get("input") for f in reversed(frames) if f.f_code.co_name.startswith("embedding"))
    refused = next((tensor for tensor in embeddings if tensor is not None), None)
    if refused is None:
        return set()
    for frame in frames:
        found = {name for name, value in frame.f_locals.items() if value is refused and _is_parameter(frame, name)}
        if found:
            return found
    return set()


def _is_parameter(frame: FrameType, name: str) -> bool:
    code = frame.f_code
    return code.co_name == "forward" and name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _frames(error: BaseException) -> Iterator[FrameType]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _is_assumed(spec: InputSpec) -> bool:
    return spec.assumed and spec.dtype == "float32"


def _as(spec: Any, dtype: str) -> Any:
    if isinstance(spec, ContainerSpec):
        return msgspec.structs.replace(spec, items=tuple(_as(item, dtype) for item in spec.items))
    if isinstance(spec, InputSpec) and _is_assumed(spec):
        return msgspec.structs.replace(spec, dtype=dtype)
    return spec


def _note(prepared: Preparation, inputs: Sequence[Input], dtype: str) -> Text:
    names = _names(prepared)
    changed = [
        names[i] or f"#{i + 1}"
        for i, (before, after) in enumerate(zip(prepared.inputs, inputs, strict=True))
        if before != after
    ]
    listed = ", ".join(changed)
    return Text(
        f"No dtype was given for the input {listed}, and the model refuses float32 there: {dtype} was taken.",
        f"未指定输入 {listed} 的数据类型，而模型不接受 float32：已改用 {dtype}。",
    )
