"""Packed sequences, where ATen's composite kernels read the batch sizes from memory: a fake tensor has none.

What they do is ATen's own (``RNN.cpp``, ``PackedSequence.cpp``); the adapter leaves it to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from opscan.tracing import values

if TYPE_CHECKING:
    from opscan.tracing.recorder import Recorder

Registered = frozenset[str]

aten = torch.ops.aten


def sizes_of(batch_sizes: torch.Tensor) -> list[int]:
    """How many sequences each step has. Raises NotImplementedError where nothing tells."""
    held = values.known(batch_sizes)
    if held is None:
        raise NotImplementedError("the lengths of a packed sequence are not known")
    with values.computing():
        return [int(size) for size in held.value.tolist()]


def pack_padded_sequence_backward(
    recorder: Recorder,
    registered: Registered,
    grad: torch.Tensor,
    input_size: list[int],
    batch_sizes: torch.Tensor,
    batch_first: bool,
) -> torch.Tensor:
    shape = [input_size[1], input_size[0], *input_size[2:]] if batch_first else list(input_size)
    out = aten.zeros.default(shape, dtype=grad.dtype, layout=grad.layout, device=grad.device)
    offset = 0
    for step, size in enumerate(sizes_of(batch_sizes)):
        rows = aten.slice.Tensor(aten.select.int(out, 0, step), 0, 0, size)
        aten.copy_.default(rows, aten.slice.Tensor(grad, 0, offset, offset + size))
        offset += size
    return aten.transpose.int(out, 0, 1) if batch_first else out  # type: ignore[no-any-return]


def gru_data(
    recorder: Recorder,
    registered: Registered,
    data: torch.Tensor,
    batch_sizes: torch.Tensor,
    hx: torch.Tensor,
    params: list[torch.Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """A cell a step: no fused kernel takes a packed sequence."""
    sizes = sizes_of(batch_sizes)
    states = aten.unbind.int(hx)
    each = len(params) // len(states)
    ways = 2 if bidirectional else 1
    finals: list[torch.Tensor] = []
    for layer in range(num_layers):
        outs = []
        for way in range(ways):
            index = layer * ways + way
            run = _backward if way else _forward
            out, final = run(data, sizes, states[index], params[index * each : (index + 1) * each])
            outs.append(out)
            finals.append(final)
        data = aten.cat.default(outs, 1) if bidirectional else outs[0]
        if dropout and train and layer < num_layers - 1:
            data = torch.dropout(data, dropout, train)
    return data, aten.stack.default(finals)


def _forward(
    data: torch.Tensor, sizes: list[int], state: torch.Tensor, weights: list[torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sequences that end leave the state, the shortest first."""
    outs, ended, offset, last = [], [], 0, sizes[0]
    for size in sizes:
        step = aten.slice.Tensor(data, 0, offset, offset + size)
        offset += size
        if size < last:
            ended.append(aten.slice.Tensor(state, 0, size, last))
            state = aten.slice.Tensor(state, 0, 0, size)
        last = size
        state = _cell(step, state, weights)
        outs.append(state)
    return aten.cat.default(outs), aten.cat.default([state, *reversed(ended)])


def _backward(
    data: torch.Tensor, sizes: list[int], state: torch.Tensor, weights: list[torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """From the last step to the first: sequences join the state, the longest first."""
    outs: list[torch.Tensor] = []
    offset, last = data.shape[0], sizes[-1]
    now = aten.slice.Tensor(state, 0, 0, last)
    for size in reversed(sizes):
        if size > last:
            now = aten.cat.default([now, aten.slice.Tensor(state, 0, last, size)])
        last = size
        step = aten.slice.Tensor(data, 0, offset - size, offset)
        offset -= size
        now = _cell(step, now, weights)
        outs.append(now)
    return aten.cat.default(outs[::-1]), now


def _cell(step: torch.Tensor, state: torch.Tensor, weights: list[torch.Tensor]) -> torch.Tensor:
    gates: list[Any] = [torch.matmul(t, w.t()) for t, w in zip((step, state), weights, strict=False)]
    biases = weights[2:4] if len(weights) >= 4 else [None, None]
    return aten._thnn_fused_gru_cell.default(*gates, state, *biases)[0]  # type: ignore[no-any-return]
