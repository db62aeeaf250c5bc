"""``torch.cond`` as Python: eager mode reads the predicate and runs one branch, and so does the adapter.

Stock torch compiles the branches first, for which no dispatch mode has a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from opscan.tracing.patches import Patches


@contextmanager
def plain_control_flow() -> Iterator[None]:
    """For the length of a trace."""
    patches = Patches()
    patches.set(torch, "cond", cond)
    try:
        yield
    finally:
        patches.undo()


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Any = ()) -> Any:
    return true_fn(*operands) if pred else false_fn(*operands)
