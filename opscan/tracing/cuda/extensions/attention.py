"""Attention in plain operators, for the stand-ins of fused ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

#: Scores of more elements are not computed: the result is zeros of the right shape.
_MOST_SCORES = 1 << 26


@dataclass(frozen=True, slots=True)
class Rows:
    """The tokens on one side: to which sequence each belongs, and how far it is from that sequence's end."""

    sequence: torch.Tensor
    from_end: torch.Tensor


def one_sequence(length: int, device: torch.device) -> Rows:
    places = torch.arange(length, device=device)
    return Rows(torch.zeros_like(places), length - places)


def packed(total: int, ends: torch.Tensor) -> Rows:
    """Sequences one after the other. ``ends``: where each begins, and the total, as ``cu_seqlens`` has them."""
    places = torch.arange(total, device=ends.device)
    sequence = (places[:, None] >= ends[None, 1:]).sum(1).clamp(max=ends.numel() - 2)
    return Rows(sequence, ends[sequence + 1] - places)


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    rows: tuple[Rows, Rows],
    scale: float | None,
    causal: bool,
    window: tuple[int, int] = (-1, -1),
    bias: Any = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """``[…, length, heads, size]`` as the fused kernels have it, with fewer heads of keys where they are shared.

    Returns the result and the logarithms of the sums, ``[…, heads, length]`` in float32. A causal mask ends where both
    sequences end.
    """
    heads, length = query.shape[-2], query.shape[-3]
    sums_shape = (*query.shape[:-3], heads, length)
    result_shape = (*query.shape[:-1], value.shape[-1])
    if math.prod(sums_shape) * key.shape[-3] > _MOST_SCORES:
        return query.new_zeros(result_shape), query.new_zeros(sums_shape, dtype=torch.float32)
    q, k, v = (t.movedim(-2, -3).float() for t in (query, key, value))
    if k.shape[-3] != heads:
        k, v = (t.repeat_interleave(heads // t.shape[-3], -3) for t in (k, v))
    scores = q @ k.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if bias is not None:
        scores = scores + bias
    scores = scores.masked_fill(~_seen(rows, causal, window), -math.inf)
    result = torch.nan_to_num(scores.softmax(-1)) @ v
    return result.movedim(-3, -2).to(query.dtype), scores.logsumexp(-1)


def _seen(rows: tuple[Rows, Rows], causal: bool, window: tuple[int, int]) -> torch.Tensor:
    """Which keys each query looks at."""
    of_query, of_key = rows
    seen = of_query.sequence[:, None] == of_key.sequence[None, :]
    ahead = of_query.from_end[:, None] - of_key.from_end[None, :]
    left, right = window[0], 0 if causal else window[1]
    if right >= 0:
        seen = seen & (ahead <= right)
    if left >= 0:
        seen = seen & (ahead >= -left)
    return seen
