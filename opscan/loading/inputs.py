"""Sample inputs named on the command line: ``--input-shape 1,3,224,224`` and ``--input ids=1x128:int64``.

Parsing needs no torch (the parent process does it before it starts anything); ``build`` does, in the tracing process.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

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


@dataclass(frozen=True, slots=True)
class InputSpec:
    """One tensor input: a parameter name of ``forward`` (None: positional), sizes, and a dtype by torch's name."""

    name: str | None
    shape: tuple[int, ...]
    dtype: str


def parse_input_shape(text: str) -> InputSpec:
    """``1,3,224,224`` or ``1x3x224x224``, with an optional ``:dtype``; positional. Raises UsageError."""
    return _parse(None, text, "--input-shape", "--input-shape 1,3,224,224")


def parse_input(text: str) -> InputSpec:
    """``name=1x128:int64``. Raises UsageError."""
    name, equals, rest = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise UsageError(
            f"--input {text!r} names no parameter of the model.", "Write it as --input input_ids=1x128:int64"
        )
    return _parse(name.strip(), rest, "--input", f"--input {name.strip()}=1x128:int64")


def _parse(name: str | None, text: str, option: str, example: str) -> InputSpec:
    sizes, _, dtype = text.strip().partition(":")
    is_scalar = sizes.strip() in _SCALARS
    sizes = re.sub(r"\s*([,x])\s*", r"\1", sizes.strip().strip("[]()").strip()).rstrip(",")
    if not is_scalar and not _SHAPE.fullmatch(sizes):
        raise UsageError(
            f"{option} {text!r} is not a shape: sizes are whole numbers separated by commas.", f"Write it as {example}"
        )
    dtype = _ALIASES.get(dtype.strip().lower(), dtype.strip().lower()) or "float32"
    if dtype not in DTYPES:
        raise UsageError(f"{option} {text!r}: unknown dtype {dtype!r}.", f"Known dtypes: {', '.join(DTYPES)}")
    shape = () if is_scalar else tuple(int(s) for s in re.split("[,x]", sizes))
    if math.prod(shape) > _MOST_ELEMENTS or max(shape, default=0) > _MOST_ELEMENTS:
        raise UsageError(f"{option} {text!r} is too large for a tensor.", f"Write it as {example}")
    return InputSpec(name, shape, dtype)


def build(specs: tuple[InputSpec, ...]) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
    """Tensors of unknown content for the specs, as (positional, keyword). Under a fake mode nothing is allocated."""
    import torch

    positional: list[torch.Tensor] = []
    keyword: dict[str, torch.Tensor] = {}
    for spec in specs:
        tensor = torch.empty(spec.shape, dtype=getattr(torch, spec.dtype))
        if spec.name is None:
            positional.append(tensor)
        else:
            keyword[spec.name] = tensor
    return positional, keyword
