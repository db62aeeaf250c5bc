"""The shapes of an operator's results, from one real run of its CPU kernel on made-up values."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map, tree_map_only

from opscan.tracing import values


def run_on_cpu(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], device: torch.device) -> Any:
    """Call ``func`` on real CPU tensors of the arguments' shapes; return empty fake tensors like its results.

    Raises NotImplementedError where there is no CPU kernel.
    """
    on_device = any(isinstance(t, torch.Tensor) and t.device.type == device.type for t in tree_leaves((args, kwargs)))
    with torch._C._DisableTorchDispatch(), torch.no_grad():
        real_args, real_kwargs = tree_map(_made_up, (args, kwargs))
        results = func(*real_args, **real_kwargs)
    onto = device if on_device else torch.device("cpu")
    return tree_map_only(torch.Tensor, lambda t: _like(t, onto), results)


def _like(real: torch.Tensor, device: torch.device) -> torch.Tensor:
    """An empty fake tensor of the same shape, dtype and layout: a sparse tensor has other kernels than a dense one."""
    if real.layout is torch.strided:
        return torch.empty(tuple(real.shape), dtype=real.dtype, device=device)
    if real.layout is not torch.sparse_coo:
        raise NotImplementedError(f"a trace cannot hold a tensor of layout {real.layout}")
    with torch._C._DisableTorchDispatch():
        indices, elements = tuple(real._indices().shape), tuple(real._values().shape)
    return torch.sparse_coo_tensor(
        torch.empty(indices, dtype=torch.int64, device=device),
        torch.empty(elements, dtype=real.dtype, device=device),
        tuple(real.shape),
        check_invariants=False,
    )


def _made_up(leaf: Any) -> Any:
    """Known values where there are any; ones otherwise, which are valid as indices, sizes, masks and numbers."""
    if isinstance(leaf, torch.Tensor):
        held = values.known(leaf)
        return held.value if held is not None else torch.ones(tuple(leaf.shape), dtype=leaf.dtype)
    return torch.device("cpu") if isinstance(leaf, torch.device) else leaf
