"""The 70-billion-parameter configuration of ``llama_block.py``, in bfloat16.

What it shows: the scan allocates no weights, so a model of 140 GB is scanned on a laptop:

    opscan examples/llama_70b.py
"""

from __future__ import annotations

import torch
from llama_block import Config, Decoder
from torch import Tensor, nn

LLAMA_70B = Config(
    dim=8192,
    layers=80,
    heads=64,
    kv_heads=8,
    hidden=28672,
    vocabulary=128256,
    max_batch=1,
    max_tokens=8192,
)


def build_model() -> nn.Module:
    previous = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        return Decoder(LLAMA_70B).eval()
    finally:
        torch.set_default_dtype(previous)


def example_inputs() -> tuple[Tensor, Tensor]:
    """A prompt of 512 tokens at the start of an empty cache."""
    return torch.randint(0, LLAMA_70B.vocabulary, (1, 512)), torch.arange(512)
