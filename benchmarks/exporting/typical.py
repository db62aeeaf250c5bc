"""Calls as models make them, where torch's operator database begins with others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch

from exporting.call import Call


def calls() -> Iterator[Call]:
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        yield from _attention(dtype)
        yield from _recurrent(dtype)


def _attention(dtype: torch.dtype) -> Iterator[Call]:
    """Four dimensions: batch, heads, length, width."""
    query = torch.randn(2, 3, 4, 8, dtype=dtype)
    masks: tuple[dict[str, Any], ...] = (
        {},
        {"is_causal": True},
        {"attn_mask": torch.randn(4, 4, dtype=dtype)},
        {"attn_mask": torch.ones(4, 4, dtype=torch.bool)},
    )
    for options in masks:
        yield Call(torch.nn.functional.scaled_dot_product_attention, (query, query, query), options)


def _recurrent(dtype: torch.dtype) -> Iterator[Call]:
    """One layer, bias, batch first, as ``torch.nn`` calls them in inference."""
    x, state = torch.randn(2, 5, 4, dtype=dtype), torch.zeros(1, 2, 6, dtype=dtype)
    for name, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
        weights = [torch.randn(6 * gates, width, dtype=dtype) for width in (4, 6)]
        weights += [torch.randn(6 * gates, dtype=dtype) for _ in range(2)]
        start = (state, state) if name == "lstm" else state
        function = partial(_run, getattr(torch._VF, name))  # type: ignore[attr-defined]
        yield Call(function, (x, start, weights), {})


def _run(layer: Any, x: torch.Tensor, start: Any, weights: list[torch.Tensor]) -> Any:
    """``layer(input, state, weights, has_biases, num_layers, dropout, train, bidirectional, batch_first)``."""
    return layer(x, start, weights, True, 1, 0.0, False, False, True)
