"""Functions with a derivative of their own (``torch.autograd.Function``), of which some captures keep the forward part
alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from opscan.tracing.patches import Patches
from opscan.tracing.source import SourceLocator


@contextmanager
def own_derivatives_noted(locator: SourceLocator, unseen: list[str]) -> Iterator[None]:
    """Each that is called in here is added to ``unseen``, once."""
    patches = Patches()
    function: Any = torch.autograd.Function
    apply = function.apply.__func__

    def noted(cls: Any, *args: Any, **kwargs: Any) -> Any:
        where = locator.locate(sys._getframe(1))
        place = f" at {where[0]}:{where[1]}" if where else ""
        words = (
            f"The derivative that {cls.__name__} defines itself: what is captured{place} is its forward part, which "
            "torch derived instead."
        )
        if words not in unseen:
            unseen.append(words)
        return apply(cls, *args, **kwargs)

    patches.set(torch.autograd.Function, "apply", classmethod(noted))
    try:
        yield
    finally:
        patches.undo()
