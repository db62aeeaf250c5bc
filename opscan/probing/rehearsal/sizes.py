"""How much memory an operator is about to touch, and how much there is. Linux."""

from __future__ import annotations

import os
from typing import Any

import torch


def bytes_of(tensor: torch.Tensor) -> int:
    """Of all elements: a view may show the same memory many times, and to compute with it takes as long."""
    count = tensor.numel() if tensor.is_nested else tensor.size().numel()
    return count * tensor.dtype.itemsize


def bytes_filled(args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> int:
    """About how many bytes: the largest tensor among the arguments, or what the operator is asked to make."""
    largest = max(map(bytes_of, inputs), default=0)
    made = 0
    if args and isinstance(args[0], (list, tuple)) and all(isinstance(size, int) for size in args[0]):
        dtype = kwargs.get("dtype") or torch.get_default_dtype()
        made = torch.Size(args[0]).numel() * dtype.itemsize
    return max(largest, made)


def memory_budget() -> int:
    """Bytes that a rehearsal may occupy: a part of what the machine has left."""
    with open("/proc/meminfo", encoding="ascii") as meminfo:
        available = next(int(line.split()[1]) for line in meminfo if line.startswith("MemAvailable"))
    return available * 1024 * 6 // 10


_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident() -> int:
    """Bytes of memory that this process occupies."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * _PAGE
