"""Sample inputs named on the command line: ``--input-shape 1,3,224,224``, ``--input ids=1x128:int64``, and values and
containers, which :mod:`opscan.loading.nested_inputs` reads: ``--input scale=2.0:value``, ``--input images=[3x8x8]``.

Parsing needs no torch (the parent process does it before it starts anything); ``build`` does, in the tracing process.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from opscan.errors import UsageError

if TYPE_CHECKING:
    import torch

DTYPES = (
    "float32", "float16", "bfloat16", "float64", "int64", "int32", "int16", "int8", "uint8", "bool",
    "complex64", "complex128", "float8_e4m3fn", "float8_e5m2", "uint16", "uint32", "uint64",
)  # fmt: skip

#: Spellings that other tools accept.
_ALIASES = {
    "float": "float32", "fp32": "float32", "f32": "float32", "half": "float16", "fp16": "float16", "f16": "float16",
    "bf16": "bfloat16", "double": "float64", "fp64": "float64", "f64": "float64", "long": "int64", "i64": "int64",
    "int": "int32", "i32": "int32", "short": "int16", "byte": "uint8", "u8": "uint8",
}  # fmt: skip

#: No tensor of a real model comes near it; torch counts bytes in 63 bits.
_MOST_ELEMENTS = 1 << 48

#: Spellings of a tensor without dimensions.
_SCALARS = ("[]", "()", "scalar")

_SHAPE = re.compile(r"\d+(?:[,x]\d+)*")


class InputSpec(msgspec.Struct, frozen=True, tag="tensor"):
    """One tensor input: a parameter name of ``forward`` (None: positional), sizes, and a dtype by torch's name.

    ``assumed``: nobody said the dtype.
    """

    name: str | None
    shape: tuple[int, ...]
    dtype: str
    assumed: bool = False


class ValueSpec(msgspec.Struct, frozen=True, tag="value"):
    """A plain Python value, as a literal."""

    name: str | None
    literal: str


class ContainerSpec(msgspec.Struct, frozen=True, tag="container"):
    """A list, tuple or dict of inputs. ``keys`` are the literals of a dict's keys, in the order of ``items``."""

    name: str | None
    kind: Literal["list", "tuple", "dict"]
    items: tuple[Input, ...]
    keys: tuple[str, ...] = ()


Input = InputSpec | ValueSpec | ContainerSpec


def parse_input_shape(text: str) -> Input:
    """``1,3,224,224`` or ``1x3x224x224``, with an optional ``:dtype``; positional. Raises UsageError."""
    return _parse(None, text, "--input-shape", "--input-shape 1,3,224,224")


def parse_input(text: str) -> Input:
    """``name=1x128:int64``. Raises UsageError."""
    name, equals, rest = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise UsageError(
            f"--input {text!r} names no parameter of the model.", "Write it as --input input_ids=1x128:int64"
        )
    return _parse(name.strip(), rest, "--input", f"--input {name.strip()}=1x128:int64")


def _parse(name: str | None, text: str, option: str, example: str) -> Input:
    from opscan.loading.nested_inputs import is_nested, parse_nested

    if is_nested(text):
        return parse_nested(name, text, option)
    return parse_tensor(name, text, option, example)


def parse_tensor(name: str | None, text: str, option: str, example: str) -> InputSpec:
    """One tensor: sizes and, behind a colon, a dtype. Raises UsageError."""
    sizes, _, dtype = text.strip().partition(":")
    is_scalar = sizes.strip() in _SCALARS
    sizes = re.sub(r"\s*([,x])\s*", r"\1", sizes.strip().strip("[]()").strip()).rstrip(",")
    if not is_scalar and not _SHAPE.fullmatch(sizes):
        raise UsageError(
            f"{option} {text!r} is not a shape: sizes are whole numbers separated by commas.", f"Write it as {example}"
        )
    said = dtype.strip().lower()
    dtype = _ALIASES.get(said, said) or "float32"
    if dtype not in DTYPES:
        raise UsageError(f"{option} {text!r}: unknown dtype {dtype!r}.", f"Known dtypes: {', '.join(DTYPES)}")
    shape = () if is_scalar else tuple(int(s) for s in re.split("[,x]", sizes))
    if math.prod(shape) > _MOST_ELEMENTS or max(shape, default=0) > _MOST_ELEMENTS:
        raise UsageError(f"{option} {text!r} is too large for a tensor.", f"Write it as {example}")
    return InputSpec(name, shape, dtype, assumed=not said)


def build(specs: Iterable[Input]) -> tuple[list[Any], dict[str, Any]]:
    """What the specs describe, as (positional, keyword). Tensors are of unknown content under a fake mode, where
    nothing is allocated; else random numbers and zeros, which are valid token ids.
    """
    positional: list[Any] = []
    keyword: dict[str, Any] = {}
    for spec in specs:
        if spec.name is None:
            positional.append(_built(spec))
        else:
            keyword[spec.name] = _built(spec)
    return positional, keyword


def _built(spec: Input) -> Any:
    if isinstance(spec, InputSpec):
        return _tensor(spec)
    if isinstance(spec, ValueSpec):
        return ast.literal_eval(spec.literal)
    items = [_built(item) for item in spec.items]
    if spec.kind == "dict":
        return {ast.literal_eval(key): item for key, item in zip(spec.keys, items, strict=True)}
    return tuple(items) if spec.kind == "tuple" else items


def _tensor(spec: InputSpec) -> torch.Tensor:
    import torch
    from torch._guards import detect_fake_mode

    dtype = getattr(torch, spec.dtype)
    if detect_fake_mode() is not None:
        return torch.empty(spec.shape, dtype=dtype)
    if dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        return torch.randn(spec.shape, dtype=dtype)
    return torch.zeros(spec.shape, dtype=dtype)
