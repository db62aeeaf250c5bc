"""What every tracer is given and returns, and how it says that it could not go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from opscan.inventory import Inventory
from opscan.workload import INFERENCE, Workload

if TYPE_CHECKING:
    from opscan.tracing.sizes.resizing import Resizing


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """``registered``: operators with an NPU kernel in the target's torch_npu release; ``differentiable``: those with
    an NPU derivative of their own. ``torch_release``: the torch that release pairs with, to tell whether the host's
    torch answers for it. ``workload``: what is run. ``autocast``: operators with an autocast
    kernel for the NPU. ``foreach``: whether optimizers take kernels over lists of tensors on the chip, as torch_npu has
    it; ``bfloat16``: whether torch_npu lets autocast use it there."""

    reference: str
    registered: frozenset[str]
    differentiable: frozenset[str]
    torch_release: str
    torch_npu_release: str
    workload: Workload = INFERENCE
    autocast: frozenset[str] = frozenset()
    foreach: bool = True
    bfloat16: bool = True


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to get at the model. ``load`` imports and builds it anew at each call, so a tracer may try more than once.
    ``resizing``: its inputs with other sizes, where some of them vary."""

    load: Callable[[], tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]
    root: Path
    resizing: Resizing | None = None


class Tracer(Protocol):
    """``name`` as in ``--tracer``. Errors of the user's own code become ModelError; what the tracer cannot follow
    ends the inventory early, with ``trace.complete`` false and the place named in ``trace.unseen``."""

    name: str

    def trace(self, recipe: Recipe, options: TraceOptions, progress: Callable[[str], None]) -> Inventory: ...
