"""The 405-billion-parameter configuration of Llama 3.1 in bfloat16: 812 GB of weights.

python benchmarks/memory.py benchmarks/models/llama_405b.py --rehearse
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import Tensor, nn

sys.path.append(str(Path(__file__).resolve().parent.parent.parent / "examples"))
from llama_block import Config, Decoder

LLAMA_405B = Config(
    dim=16384,
    layers=126,
    heads=128,
    kv_heads=8,
    hidden=53248,
    vocabulary=128256,
    max_batch=1,
    max_tokens=8192,
)


def build_model() -> nn.Module:
    previous = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        return Decoder(LLAMA_405B).eval()
    finally:
        torch.set_default_dtype(previous)


def example_inputs() -> tuple[Tensor, Tensor]:
    """A prompt of 512 tokens at the start of an empty cache."""
    return torch.randint(0, LLAMA_405B.vocabulary, (1, 512)), torch.arange(512)
