"""The events of the simulated runtime as values: what its log says, in the words of ``opscan.inventory``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from opscan.inventory import KernelArgument, KernelLaunch, TensorSpec

#: aclDataType by number (CANN's ``acl_base.h``), in the names of the matrix.
DTYPES = {
    0: "float32", 1: "float16", 2: "int8", 3: "int32", 4: "uint8", 6: "int16", 7: "uint16", 8: "uint32", 9: "int64",
    10: "uint64", 11: "float64", 12: "bool", 13: "string", 16: "complex64", 17: "complex128", 27: "bfloat16",
    29: "int4", 30: "uint1", 33: "complex32", 34: "hifloat8", 35: "float8_e5m2", 36: "float8_e4m3fn",
    37: "float8_e8m0", 38: "float6_e3m2", 39: "float6_e2m3", 40: "float4_e2m1", 41: "float4_e1m2",
}  # fmt: skip

#: aclFormat by number (the same header).
FORMATS = {
    -1: "UNDEFINED", 0: "NCHW", 1: "NHWC", 2: "ND", 3: "NC1HWC0", 4: "FRACTAL_Z", 12: "NC1HWC0_C04", 16: "HWCN",
    27: "NDHWC", 29: "FRACTAL_NZ", 30: "NCDHW", 32: "NDC1HWC0", 33: "FRACTAL_Z_3D", 35: "NC", 47: "NCL",
    50: "FRACTAL_NZ_C0_16", 51: "FRACTAL_NZ_C0_32", 52: "FRACTAL_NZ_C0_2", 53: "FRACTAL_NZ_C0_4",
    54: "FRACTAL_NZ_C0_8",
}  # fmt: skip

#: ``api`` of a launch on the legacy path starts with this.
LEGACY = "GE "


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy that torch_npu asked for. ``word``: as in ``Observed.copies``, ``copy`` where the host waits for it.
    ``direction``: H2D, D2H, D2D or H2H. ``done``: false where it was over the limit of ``copy_limit``."""

    word: str
    direction: str
    bytes: int
    done: bool = True


@dataclass(frozen=True, slots=True)
class Synchronised:
    """The host waits for the device: the function that it called."""

    call: str


Event = KernelLaunch | Copy | Synchronised

#: A launch whose arguments could not be read is not one that has none.
_UNREAD = (KernelArgument("?"),)

_decoder = msgspec.json.Decoder(list[Any])


def decode(lines: bytes) -> tuple[Event, ...]:
    """The events that the log's lines write."""
    return tuple(map(_event, lines.splitlines()))


@lru_cache(maxsize=8192)
def _event(line: bytes) -> Event:
    """Layers repeat themselves: most lines have been read before."""
    words = _decoder.decode(line)
    kind = words[0]
    if kind == "launch":
        return KernelLaunch(words[1], _UNREAD if words[2] is None else tuple(map(_argument, words[2])))
    if kind == "copy":
        _, word, size, direction, done = words
        return Copy(word, direction, size, done)
    if kind == "sync":
        return Synchronised(words[1])
    _, name, inputs, outputs = words
    results = tuple(_spec(tensor) for tensor in outputs if tensor is not None)
    return KernelLaunch(LEGACY + name, tuple(map(_input, inputs)), results)


def _input(tensor: list[Any] | None) -> KernelArgument:
    return KernelArgument("0") if tensor is None else _tensors("T", [tensor])


def _argument(words: list[Any]) -> KernelArgument:
    kind, *rest = words
    if kind == "T":
        return _tensors(kind, rest)
    if kind == "L":
        return _tensors(kind, (tensor for tensor in rest if tensor is not None))
    if kind == "S":
        return _scalars(kind, (rest[0],))
    if kind == "Z":
        return _scalars(kind, tuple(scalar[0] for scalar in rest))
    return _plain(kind)


def _tensors(kind: str, tensors: Iterable[list[Any]]) -> KernelArgument:
    tensors = tuple(tensors)
    return KernelArgument(kind, tuple(map(_spec, tensors)), tuple(format_name(tensor[2]) for tensor in tensors))


@lru_cache(maxsize=256)
def _scalars(kind: str, dtypes: tuple[int, ...]) -> KernelArgument:
    return KernelArgument(kind, tuple(TensorSpec(dtype_name(dtype), ()) for dtype in dtypes))


@lru_cache(maxsize=16)
def _plain(kind: str) -> KernelArgument:
    return KernelArgument(kind)


def _spec(tensor: list[Any]) -> TensorSpec:
    return TensorSpec(dtype_name(tensor[0]), tuple(tensor[1]))


def dtype_name(number: int) -> str:
    """The number itself where its name is not known."""
    return DTYPES.get(number) or str(number)


def format_name(number: int) -> str:
    """The number itself where its name is not known."""
    return FORMATS.get(number) or str(number)
