"""How much memory an operator is about to touch, before it runs."""

from __future__ import annotations

from typing import Any

import torch


def bytes_filled(args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> int:
    """About how many bytes: the largest tensor among the arguments, or what the operator is asked to make."""
    largest = max((t.numel() * t.element_size() for t in inputs), default=0)
    made = 0
    if args and isinstance(args[0], (list, tuple)) and all(isinstance(size, int) for size in args[0]):
        dtype = kwargs.get("dtype") or torch.get_default_dtype()
        made = torch.Size(args[0]).numel() * dtype.itemsize
    return max(largest, made)
