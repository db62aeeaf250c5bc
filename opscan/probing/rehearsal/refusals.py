"""Going on behind a call that the adapter refused, so that one refusal does not hide the next."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from opscan.probing.rehearsal.device_memory import is_opaque
from opscan.probing.rehearsal.shadow import Expected


def shaped_like(func: Any, args: Any, kwargs: Any) -> Any:
    """The result of the operator's shape function, on meta tensors; None where it has none, or where the call is wrong
    on any device.
    """
    try:
        return _on_meta(func, args, kwargs)
    except Exception:
        return None


def _on_meta(func: Any, args: Any, kwargs: Any) -> Any:
    arguments, options = tree_map_only(torch.Tensor, lambda t: t.to("meta"), (args, kwargs))
    if "device" in options:
        options["device"] = "meta"
    return func(*arguments, **options)


def has_kernel(expected: Expected) -> bool:
    """Whether an operator that the adapter refused can be computed anywhere."""
    return not isinstance(expected.error, NotImplementedError)


def is_wrong(func: Any, args: Any, kwargs: Any, expected: Expected) -> bool:
    """Whether a call that the adapter let pass is wrong on any device: indices beyond the end, or shapes that both the
    CPU and the operator's shape function refuse. The simulated kernel behind the adapter looks at nothing. Dtypes are
    each device's own matter.
    """
    if isinstance(expected.error, IndexError) or "out of bounds" in str(expected.error):
        return True
    if not isinstance(expected.error, (RuntimeError, ValueError)) or not has_kernel(expected):
        return False
    try:
        _on_meta(func, args, kwargs)
    except (NotImplementedError, TypeError):
        return False
    except Exception as error:
        messages = f"{expected.error} {error}".lower()
        return not any(word in messages for word in ("type", "meta", "not implemented", "not supported"))
    return False


def result_behind(func: Any, expected: Expected, like: Any, device: torch.device) -> tuple[Any] | None:
    """A result of the right shapes on the device, in a tuple; None where there is none to be had.

    Of the CPU's own result where the shadow has one, else ``like`` that of the operator's shape function.
    """
    if not expected.computed and like is None and (expected.error is not None or func._schema.returns):
        return None
    if not func._schema.returns:
        return (None,)
    leaves = expected.leaves if expected.computed else tree_leaves(like)
    if not all(isinstance(leaf, torch.Tensor) and not is_opaque(leaf) for leaf in leaves if leaf is not None):
        return None
    if not func._schema.is_mutable:
        made = [_like(leaf, device) for leaf in leaves]
        return (made[0] if len(func._schema.returns) == 1 and len(made) == 1 else tuple(made),)
    written = iter(expected.written)
    returned = [
        _like(leaf, device) if part.alias_info is None else next(written)
        for part, leaf in zip(func._schema.returns, leaves, strict=False)
    ]
    return (tuple(returned) if len(returned) > 1 else returned[0],)


def _like(tensor: torch.Tensor | None, device: torch.device) -> torch.Tensor | None:
    if tensor is None:
        return None
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
