"""What some captures do not keep of a backward pass: derivatives of the model's own (``torch.autograd.Function``), and
where gradients are switched off.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from opscan.tracing.patches import Patches
from opscan.tracing.source import SourceLocator

#: Modules whose functions are not the model's.
_NOT_THE_MODELS = ("opscan.", "torch.")


@contextmanager
def applied_by(apply: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """``apply(cls, *args, **kwargs)`` in place of ``torch.autograd.Function.apply``, which is what is yielded."""
    function: Any = torch.autograd.Function
    original = vars(function)["apply"]
    function.apply = classmethod(apply)
    try:
        yield original.__func__
    finally:
        function.apply = original


@contextmanager
def own_derivatives_noted(locator: SourceLocator, unseen: list[str]) -> Iterator[None]:
    """Each function with a derivative of its own that is called in here is added to ``unseen``, once."""

    def noted(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if not cls.__module__.startswith(_NOT_THE_MODELS):
            place = _place(locator)
            words = (
                f"The derivative that {cls.__name__} defines itself: what is captured{place} is its forward part, "
                "which torch derived instead."
            )
            if words not in unseen:
                unseen.append(words)
        return apply(cls, *args, **kwargs)

    with applied_by(noted) as apply:
        yield


@contextmanager
def switching_noted(locator: SourceLocator, unseen: list[str]) -> Iterator[None]:
    """Each line of the model's that switches gradients off in here is added to ``unseen``, once."""
    patches = Patches()
    switch = torch._C._set_grad_enabled

    def noted(enabled: bool) -> None:
        if not enabled and torch.is_grad_enabled() and (place := _place(locator)):
            words = f"Gradients that are switched off{place}: what is captured has them on."
            if words not in unseen:
                unseen.append(words)
        switch(enabled)

    patches.set(torch._C, "_set_grad_enabled", noted)
    try:
        yield
    finally:
        patches.undo()


def _place(locator: SourceLocator) -> str:
    where = locator.locate(sys._getframe(2))
    return f" at {where[0]}:{where[1]}" if where else ""
