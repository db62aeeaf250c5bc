"""FlashAttention: the functions of its interface, and the norms and rotary embedding beside them."""

from __future__ import annotations

from typing import Any

import torch

from opscan.tracing.cuda.extensions.attention import attend, one_sequence, packed
from opscan.tracing.cuda.extensions.interface import StandIns
from opscan.tracing.cuda.extensions.norms import RMSNorm, rms_norm


def flash_attn_func(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    alibi_slopes: Any = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> Any:
    """``[batch, length, heads, size]``. Dropout, soft cap and slopes leave shapes as they are."""
    rows = one_sequence(q.shape[1], q.device), one_sequence(k.shape[1], q.device)
    out, sums = attend(q, k, v, rows, softmax_scale, causal, window_size)
    return (out, sums, None) if return_attn_probs else out


def flash_attn_qkvpacked_func(qkv: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """``[batch, length, 3, heads, size]``."""
    q, k, v = qkv.unbind(2)
    return flash_attn_func(q, k, v, *args, **kwargs)


def flash_attn_kvpacked_func(q: torch.Tensor, kv: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """``[batch, length, 2, heads, size]``."""
    k, v = kv.unbind(2)
    return flash_attn_func(q, k, v, *args, **kwargs)


def flash_attn_varlen_func(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_seqlens_q: torch.Tensor,
    cu_seqlens_k: torch.Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    alibi_slopes: Any = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
    block_table: Any = None,
) -> Any:
    """``[tokens, heads, size]``: sequences one after the other."""
    if block_table is not None:
        return q.new_zeros((*q.shape[:-1], v.shape[-1]))
    rows = packed(q.shape[0], cu_seqlens_q), packed(k.shape[0], cu_seqlens_k)
    out, sums = attend(q, k, v, rows, softmax_scale, causal, window_size)
    return (out, sums, None) if return_attn_probs else out


def flash_attn_varlen_qkvpacked_func(
    qkv: torch.Tensor, cu_seqlens: torch.Tensor, max_seqlen: int, *args: Any, **kwargs: Any
) -> Any:
    """``[tokens, 3, heads, size]``."""
    q, k, v = qkv.unbind(1)
    return flash_attn_varlen_func(q, k, v, cu_seqlens, cu_seqlens, max_seqlen, max_seqlen, *args, **kwargs)


def flash_attn_varlen_kvpacked_func(q: torch.Tensor, kv: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """``[tokens, 2, heads, size]``."""
    k, v = kv.unbind(1)
    return flash_attn_varlen_func(q, k, v, *args, **kwargs)


def flash_attn_with_kvcache(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    k: torch.Tensor | None = None,
    v: torch.Tensor | None = None,
    rotary_cos: Any = None,
    rotary_sin: Any = None,
    cache_seqlens: Any = None,
    cache_batch_idx: Any = None,
    cache_leftpad: Any = None,
    block_table: Any = None,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    rotary_interleaved: bool = True,
    alibi_slopes: Any = None,
    num_splits: int = 0,
    return_softmax_lse: bool = False,
) -> Any:
    """The shapes only: how much of the cache counts is not looked at."""
    out = q.new_zeros((*q.shape[:-1], v_cache.shape[-1]))
    sums = q.new_zeros((q.shape[0], q.shape[2], q.shape[1]), dtype=torch.float32)
    return (out, sums) if return_softmax_lse else out


def apply_rotary_emb(
    x: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    interleaved: bool = False,
    inplace: bool = False,
    seqlen_offsets: Any = 0,
    cu_seqlens: Any = None,
    max_seqlen: int | None = None,
) -> torch.Tensor:
    """The shapes only."""
    return x.clone()


STAND_INS = StandIns(
    package="flash_attn",
    source="https://github.com/Dao-AILab/flash-attention/blob/v2.8.0/flash_attn/flash_attn_interface.py",
    functions={
        f.__name__: f
        for f in (
            flash_attn_func,
            flash_attn_qkvpacked_func,
            flash_attn_kvpacked_func,
            flash_attn_varlen_func,
            flash_attn_varlen_qkvpacked_func,
            flash_attn_varlen_kvpacked_func,
            flash_attn_with_kvcache,
            apply_rotary_emb,
            rms_norm,
        )
    },
    modules={"RMSNorm": RMSNorm},
)
