"""What a worker must know of the device that it tries operators on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from torch import nn

from opscan.probing.protocol import Versions
from opscan.probing.signature import Signature


class NoDevice(Exception):
    """The device cannot be used. ``for_good``: trying again does not help."""

    def __init__(self, reason: str, for_good: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.for_good = for_good


@dataclass(frozen=True, slots=True)
class Seen:
    """What one run of an operator returned, and what was seen inside it: the operators that a CPU fallback ran, the
    kernels that the adapter launched."""

    result: Any
    fallbacks: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()


class Device(Protocol):
    """One device in this process."""

    #: As torch spells it: ``npu:0``.
    name: str
    versions: Versions
    #: How many devices this process sees.
    count: int

    def observe(self, signature: Signature, call: Callable[[], Any]) -> Seen:
        """Run an operator once, to its end on the device. Raises what it raises."""
        ...

    def synchronize(self) -> None:
        """Wait for the device. Raises where a kernel failed."""
        ...

    def empty_cache(self) -> None:
        """Give back memory that the allocator holds."""
        ...

    def prepare(self, model: nn.Module) -> None:
        """Told of a model before it is moved to the device."""
        ...

    def computes(self) -> bool:
        """Whether one and one still make two. Does not raise."""
        ...
