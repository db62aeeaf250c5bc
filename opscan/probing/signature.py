"""What is tried on a device: an operator with the dtypes, shapes and other arguments that a model gave it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from opscan.inventory import Dim, OpCall


@dataclass(frozen=True, slots=True)
class TensorArgument:
    """One tensor of a call. ``parameter`` is the schema's, with a position in a list (``tensors[0]``); empty where
    the trace did not name it."""

    parameter: str
    dtype: str
    shape: tuple[Dim, ...]

    def __str__(self) -> str:
        return f"{self.parameter or 'tensor'}: {self.dtype} [{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class Signature:
    """Calls with the same signature run the same kernels on the same sizes, so one of them is tried for all.

    ``operator`` and ``attributes`` are those of ``OpCall``: the qualified overload, and the arguments that are no
    tensors as (parameter, ``repr``).
    """

    operator: str
    tensors: tuple[TensorArgument, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str:
        """The same text in every process and release of opscan: the first 32 hexadecimal digits of a SHA-256."""
        encoded = msgspec.json.encode([self.operator, msgspec.to_builtins(self.tensors), self.attributes])
        return hashlib.sha256(encoded).hexdigest()[:32]

    @property
    def dtypes(self) -> tuple[str, ...]:
        return tuple(tensor.dtype for tensor in self.tensors)

    def __str__(self) -> str:
        given = [*map(str, self.tensors), *(f"{name}={text}" for name, text in self.attributes)]
        return f"{self.operator}({', '.join(given)})"


def signature_of(call: OpCall) -> Signature:
    names = call.parameters if len(call.parameters) == len(call.inputs) else ("",) * len(call.inputs)
    tensors = tuple(TensorArgument(name, spec.dtype, spec.shape) for name, spec in zip(names, call.inputs, strict=True))
    return Signature(call.name, tensors, call.attributes)


def distinct(calls: Iterable[OpCall]) -> dict[Signature, int]:
    """The signatures of an inventory's calls in order of their first call, each with the number of its executions."""
    counts: dict[Signature, int] = {}
    for call in calls:
        signature = signature_of(call)
        counts[signature] = counts.get(signature, 0) + call.count
    return counts
