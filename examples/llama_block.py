"""A decoder of the Llama family: RMSNorm, rotary position embedding, grouped-query attention over a KV cache, SwiGLU.

What it shows: the rotary table is complex, as in Meta's first release, and is indexed by position
(``self.rotary[positions]``). Atlas A2 has no kernel to index complex64, at CANN 8.5.0 or 9.1.0:

    opscan examples/llama_block.py --cann 8.5.0      # fails, and shows the same line in real arithmetic
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Config:
    dim: int = 512
    layers: int = 1
    heads: int = 8
    kv_heads: int = 2
    hidden: int = 1408
    vocabulary: int = 32000
    max_batch: int = 2
    max_tokens: int = 256
    rope_theta: float = 500000.0
    norm_eps: float = 1e-5

    @property
    def head_dim(self) -> int:
        return self.dim // self.heads


def rotary_table(head_dim: int, tokens: int, theta: float) -> Tensor:
    """Unit complex numbers ``[tokens, head_dim / 2]``: the rotation of each pair of channels at each position."""
    frequencies = theta ** -(torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim)
    angles = torch.outer(torch.arange(tokens, dtype=torch.float32), frequencies)
    return torch.polar(torch.ones_like(angles), angles)


def rotate(x: Tensor, rotary: Tensor) -> Tensor:
    """Rotate channel pairs of ``x`` ``[batch, tokens, heads, head_dim]`` by ``rotary`` ``[tokens, head_dim / 2]``."""
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * rotary[:, None, :]).flatten(-2).type_as(x)


class RMSNorm(nn.Module):
    def __init__(self, dim: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps)
        return (x.float() * scale).type_as(x) * self.weight


class Attention(nn.Module):
    """Grouped-query attention; keys and values of all tokens so far are kept in the cache."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = config.heads, config.kv_heads, config.head_dim
        self.query = nn.Linear(config.dim, config.heads * config.head_dim, bias=False)
        self.key = nn.Linear(config.dim, config.kv_heads * config.head_dim, bias=False)
        self.value = nn.Linear(config.dim, config.kv_heads * config.head_dim, bias=False)
        self.output = nn.Linear(config.heads * config.head_dim, config.dim, bias=False)
        cache = torch.zeros(config.max_batch, config.max_tokens, config.kv_heads, config.head_dim)
        self.register_buffer("key_cache", cache, persistent=False)
        self.register_buffer("value_cache", cache.clone(), persistent=False)

    def forward(self, x: Tensor, rotary: Tensor, positions: Tensor) -> Tensor:
        batch, tokens, _ = x.shape
        query = rotate(self.query(x).view(batch, tokens, self.heads, self.head_dim), rotary)
        key = rotate(self.key(x).view(batch, tokens, self.kv_heads, self.head_dim), rotary)
        value = self.value(x).view(batch, tokens, self.kv_heads, self.head_dim)

        self.key_cache[:batch, positions] = key
        self.value_cache[:batch, positions] = value
        keys = self._per_query_head(self.key_cache[:batch])
        values = self._per_query_head(self.value_cache[:batch])

        slots = torch.arange(keys.shape[2], device=x.device)
        visible = slots[None, :] <= positions[:, None]
        mixed = F.scaled_dot_product_attention(query.transpose(1, 2), keys, values, attn_mask=visible)
        return self.output(mixed.transpose(1, 2).reshape(batch, tokens, -1))

    def _per_query_head(self, cache: Tensor) -> Tensor:
        """``[batch, slots, kv_heads, head_dim]`` to ``[batch, heads, slots, head_dim]``."""
        return cache.transpose(1, 2).repeat_interleave(self.heads // self.kv_heads, dim=1)


class SwiGLU(nn.Module):
    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.gate = nn.Linear(dim, hidden, bias=False)
        self.up = nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.attention = Attention(config)
        self.feed_forward = SwiGLU(config.dim, config.hidden)
        self.attention_norm = RMSNorm(config.dim, config.norm_eps)
        self.feed_forward_norm = RMSNorm(config.dim, config.norm_eps)

    def forward(self, x: Tensor, rotary: Tensor, positions: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x), rotary, positions)
        return x + self.feed_forward(self.feed_forward_norm(x))


class Decoder(nn.Module):
    """Token ids ``[batch, tokens]`` at positions ``[tokens]`` to scores of the next token ``[batch, vocabulary]``."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocabulary, config.dim)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.dim, config.norm_eps)
        self.head = nn.Linear(config.dim, config.vocabulary, bias=False)
        table = rotary_table(config.head_dim, config.max_tokens, config.rope_theta)
        self.register_buffer("rotary", table, persistent=False)

    def forward(self, tokens: Tensor, positions: Tensor) -> Tensor:
        x = self.embedding(tokens)
        rotary = self.rotary[positions]
        for block in self.blocks:
            x = block(x, rotary, positions)
        return self.head(self.norm(x[:, -1]))


def build_model() -> nn.Module:
    return Decoder(Config()).eval()


def example_inputs() -> tuple[Tensor, Tensor]:
    """A prompt of 16 tokens at the start of an empty cache."""
    return torch.randint(0, 32000, (1, 16)), torch.arange(16)
