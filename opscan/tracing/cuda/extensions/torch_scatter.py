"""PyTorch Scatter: reductions by index."""

from __future__ import annotations

from typing import Any

import torch

from opscan.tracing.cuda.extensions.interface import StandIns

_REDUCTIONS = {"sum": "sum", "add": "sum", "mul": "prod", "mean": "mean", "min": "amin", "max": "amax"}


def scatter(
    src: torch.Tensor,
    index: torch.Tensor,
    dim: int = -1,
    out: torch.Tensor | None = None,
    dim_size: int | None = None,
    reduce: str = "sum",
) -> torch.Tensor:
    """Without ``dim_size`` the size depends on the largest index."""
    index = _broadcast(index, src, dim)
    if out is None:
        shape = list(src.shape)
        shape[dim] = dim_size if dim_size is not None else (int(index.max()) + 1 if index.numel() else 0)
        out = src.new_zeros(shape)
    return out.scatter_reduce(dim, index, src, _REDUCTIONS[reduce], include_self=reduce in ("sum", "add"))


def scatter_sum(src: Any, index: Any, dim: int = -1, out: Any = None, dim_size: int | None = None) -> torch.Tensor:
    return scatter(src, index, dim, out, dim_size, "sum")


def scatter_mul(src: Any, index: Any, dim: int = -1, out: Any = None, dim_size: int | None = None) -> torch.Tensor:
    return scatter(src, index, dim, out, dim_size, "mul")


def scatter_mean(src: Any, index: Any, dim: int = -1, out: Any = None, dim_size: int | None = None) -> torch.Tensor:
    return scatter(src, index, dim, out, dim_size, "mean")


def scatter_max(src: Any, index: Any, dim: int = -1, out: Any = None, dim_size: int | None = None) -> Any:
    """The places of the maxima are not computed."""
    found = scatter(src, index, dim, out, dim_size, "max")
    return found, torch.zeros_like(found, dtype=torch.int64)


def scatter_min(src: Any, index: Any, dim: int = -1, out: Any = None, dim_size: int | None = None) -> Any:
    """The places of the minima are not computed."""
    found = scatter(src, index, dim, out, dim_size, "min")
    return found, torch.zeros_like(found, dtype=torch.int64)


def scatter_softmax(src: torch.Tensor, index: torch.Tensor, dim: int = -1, dim_size: int | None = None) -> torch.Tensor:
    """The shapes only."""
    return torch.zeros_like(src)


def segment_csr(src: torch.Tensor, indptr: torch.Tensor, out: Any = None, reduce: str = "sum") -> torch.Tensor:
    """The shapes only: the last dimension of ``indptr`` bounds the segments."""
    dim = indptr.dim() - 1
    shape = list(src.shape)
    shape[dim] = indptr.shape[-1] - 1
    return src.new_zeros(shape)


def gather_csr(src: torch.Tensor, indptr: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """The shapes only; how many elements there are depends on the last bound."""
    dim = indptr.dim() - 1
    shape = list(src.shape)
    shape[dim] = out.shape[dim] if out is not None else int(indptr.flatten()[-1])
    return src.new_zeros(shape)


def _broadcast(index: torch.Tensor, src: torch.Tensor, dim: int) -> torch.Tensor:
    """An index of fewer dimensions counts along ``dim``."""
    dim = dim % src.dim()
    if index.dim() == 1:
        index = index.view(*(1 for _ in range(dim)), -1)
    while index.dim() < src.dim():
        index = index.unsqueeze(-1)
    return index.expand_as(src)


STAND_INS = StandIns(
    package="torch_scatter",
    source="https://github.com/rusty1s/pytorch_scatter/blob/2.1.2/torch_scatter/scatter.py",
    functions={
        "scatter": scatter,
        "scatter_add": scatter_sum,
        "scatter_sum": scatter_sum,
        "scatter_mul": scatter_mul,
        "scatter_mean": scatter_mean,
        "scatter_max": scatter_max,
        "scatter_min": scatter_min,
        "scatter_softmax": scatter_softmax,
        "scatter_log_softmax": scatter_softmax,
        "segment_csr": segment_csr,
        "gather_csr": gather_csr,
    },
)
