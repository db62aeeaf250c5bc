"""Going on behind a call that the adapter refused, so that one refusal does not hide the next."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from opscan.probing.rehearsal.shadow import Expected


def result_behind(func: Any, args: Any, kwargs: Any, expected: Expected, device: torch.device) -> tuple[Any] | None:
    """A result of the right shapes on the device, in a tuple; None where the call is wrong on any device.

    Of the CPU's own result where the shadow has one, else of the operator's shape function.
    """
    if func._schema.is_mutable:
        written = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)][:1]
        return (written[0] if written and len(func._schema.returns) == 1 else None,) if expected.computed else None
    if expected.computed and all(isinstance(leaf, torch.Tensor) for leaf in expected.leaves):
        made = [_like(leaf, device) for leaf in expected.leaves]
        return (made[0] if len(func._schema.returns) == 1 and len(made) == 1 else tuple(made),)
    try:
        arguments, options = tree_map_only(torch.Tensor, lambda t: t.to("meta"), (args, kwargs))
        if "device" in options:
            options["device"] = "meta"
        out = func(*arguments, **options)
    except Exception:
        return None
    return (tree_map_only(torch.Tensor, lambda t: _like(t, device), out),)


def _like(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=device)


#: What torch_npu puts before and behind its messages: a time stamp with process and device, and a place in its source.
_STAMP = re.compile(r"\[(?:ERROR|WARN\w*)\] [\d\-:]+ \([^)]*\)\s*")


def in_one_line(error: BaseException) -> str:
    """The adapter's words, without stamps and stack, of readable length."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    code = re.search(r"\b(?:ERR\d{5}|EZ?\d{4,5}|E[A-Z]\d{4})\b", str(error))
    first = _STAMP.sub("", lines[0]) if lines else type(error).__name__
    text = first[:200].rstrip(".")
    return text if code is None or code[0] in text else f"{text} ({code[0]})"
