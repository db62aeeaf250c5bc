"""An operator of the adapter that reaches the device whole, with a backward of the adapter's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

if TYPE_CHECKING:
    from opscan.tracing.recorder import Recorder

Arguments = Callable[[list[torch.Tensor], list[torch.Tensor]], list[torch.Tensor]]


def leaf(
    recorder: Recorder,
    forward: Callable[[Any, Any], Any],
    backward: tuple[str, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    backward_arguments: Arguments | None = None,
) -> Any:
    """Run ``forward`` below autograd; where a gradient is needed, its backward records ``backward`` and yields empty
    gradients.

    ``backward_arguments`` makes the tensor arguments of those operators from the incoming gradients and the inputs;
    without it they are both, in this order. Shapes of gradients are those of the inputs; values do not exist in a
    trace.
    """
    flat, spec = tree_flatten((args, kwargs))
    wanted = [isinstance(t, torch.Tensor) and t.requires_grad for t in flat]
    if not (torch.is_grad_enabled() and any(wanted)):
        with torch._C._AutoDispatchBelowAutograd():
            return forward(args, kwargs)

    class Leaf(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *flat: Any) -> Any:
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(*(t for t in flat if isinstance(t, torch.Tensor)))
            a, k = tree_unflatten(list(flat), spec)
            with torch._C._AutoDispatchBelowAutograd():
                return forward(a, k)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            inputs = list(ctx.saved_tensors)
            given = [g for g in grads if g is not None]
            with recorder.paused():
                results = [
                    t.new_empty(t.shape) if w else None for t, w in zip(_at_tensors(flat, inputs), wanted, strict=True)
                ]
                arguments = backward_arguments(given, inputs) if backward_arguments else [*given, *inputs]
            outputs = [r for r in results if r is not None]
            for name in backward:
                recorder.emit(name, arguments, outputs)
            return tuple(results)

    return Leaf.apply(*flat)  # type: ignore[no-untyped-call]


def _at_tensors(flat: list[Any], tensors: list[torch.Tensor]) -> list[Any]:
    """``flat`` with its tensors replaced, in order, by ``tensors``."""
    remaining = iter(tensors)
    return [next(remaining) if isinstance(t, torch.Tensor) else t for t in flat]
