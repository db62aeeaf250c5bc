"""LSTM and GRU as torch_npu runs them: kernels of its own, with the operators that prepare their arguments.

Observed with the real torch_npu 2.13.0 on a simulated runtime (see ``adapter.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from opscan.tracing.leaf import leaf

if TYPE_CHECKING:
    from opscan.tracing.recorder import Recorder

Registered = frozenset[str]


def lstm_input(
    recorder: Recorder,
    registered: Registered,
    input: torch.Tensor,
    hx: list[torch.Tensor],
    params: list[torch.Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """One fused kernel for four parameters in one direction; else one of the legacy path a layer and direction."""
    if len(params) == 4 and not bidirectional and "npu::_lstm_npu" in registered:
        return _recurrent(recorder, "npu::_lstm_npu", input, hx, params, bidirectional)  # type: ignore[return-value]
    steps = input.transpose(0, 1) if batch_first else input
    per_direction = len(params) // (num_layers * (2 if bidirectional else 1))
    finals: list[tuple[torch.Tensor, torch.Tensor]] = []
    for layer in range(num_layers):
        outputs = []
        for reverse in (False, True) if bidirectional else (False,):
            index = len(finals)
            weights = params[index * per_direction : (index + 1) * per_direction]
            states = [torch.ops.aten.slice.Tensor(s, 0, index, index + 1) if s.shape[0] > 1 else s for s in hx]
            out, *state = _lstm_direction(recorder, steps, states, weights, reverse)
            outputs.append(out)
            finals.append((state[0], state[1]))
        steps = torch.ops.aten.cat.default(outputs, 2) if bidirectional else outputs[0]
        if dropout and train and layer < num_layers - 1:
            steps = torch.dropout(steps, dropout, train)
    last = [torch.ops.aten.cat.default(list(state), 0) if len(state) > 1 else state[0] for state in zip(*finals)]
    return steps.transpose(0, 1) if batch_first else steps, last[0], last[1]


def _lstm_direction(
    recorder: Recorder, steps: torch.Tensor, states: list[torch.Tensor], weights: list[torch.Tensor], reverse: bool
) -> tuple[torch.Tensor, ...]:
    """One layer in one direction: both weights as one matrix, both biases as one vector, states of every step."""
    aten = torch.ops.aten
    if reverse:
        steps = aten.flip.default(steps, [0])
    weight = aten.t.default(aten.cat.default([weights[0], weights[1]], 1))
    if len(weights) >= 4:
        bias = aten.add.Tensor(weights[2], weights[3])
    else:
        bias = aten.zeros.default([weight.shape[1]], dtype=weight.dtype, device=weight.device)
    lengths = aten.empty.memory_format([0], dtype=steps.dtype, device=steps.device)

    def forward(args: Any, kwargs: Any) -> tuple[torch.Tensor, ...]:
        hidden = (*args[0].shape[:-1], states[0].shape[-1])
        with recorder.paused():
            outs = [args[0].new_empty(hidden) for _ in range(8)]
        recorder.emit("npu::npu_lstm", list(args), outs)
        return outs[0], outs[1], outs[2]

    out, h, c = leaf(recorder, forward, ("npu::npu_lstm_backward",), (steps, weight, bias, lengths, *states), {})
    finals = [aten.unsqueeze.default(aten.select.int(state, 0, -1), 0) for state in (h, c)]
    return (aten.flip.default(out, [0]) if reverse else out), *finals


def lstm_data(
    recorder: Recorder,
    registered: Registered,
    data: torch.Tensor,
    batch_sizes: torch.Tensor,
    hx: list[torch.Tensor],
    params: list[torch.Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[torch.Tensor, ...]:
    """A packed sequence, which the adapter keeps padded: the batch sizes go to the device."""
    sizes = torch.ops.aten._to_copy.default(batch_sizes, device=data.device)
    if len(params) == 4 and not bidirectional and "npu::_lstm_npu" in registered:
        return _recurrent(recorder, "npu::_lstm_npu", data, hx, params, bidirectional, sizes)
    times = num_layers * (2 if bidirectional else 1)
    return _recurrent(recorder, "npu::npu_lstm_data", data, hx, params, bidirectional, sizes, times)


def pad_packed_sequence(
    recorder: Recorder,
    registered: Registered,
    data: torch.Tensor,
    batch_sizes: torch.Tensor,
    batch_first: bool,
    padding_value: float,
    total_length: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The adapter's packed sequences are padded: nothing is moved but for the order of dimensions."""
    batch = data.shape[0] // batch_sizes.shape[0]
    steps = torch.ops.aten.view.default(data, [batch_sizes.shape[0], batch, *data.shape[1:]])
    if batch_first:
        steps = torch.ops.aten.clone.default(torch.ops.aten.transpose.int(steps, 0, 1))
    with recorder.paused():
        return steps, torch.empty(batch, dtype=torch.int64, device="cpu")


def gru_input(
    recorder: Recorder,
    registered: Registered,
    input: torch.Tensor,
    hx: torch.Tensor,
    params: list[torch.Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[torch.Tensor, ...]:
    """One kernel, whatever the layers and directions; of the legacy path one each."""
    if "npu::_gru_npu" in registered:
        return _recurrent(recorder, "npu::_gru_npu", input, [hx], params, bidirectional)
    times = num_layers * (2 if bidirectional else 1)
    return _recurrent(recorder, "npu::npu_gru", input, [hx], params, bidirectional, times=times)


def _recurrent(
    recorder: Recorder,
    kernel: str,
    input: torch.Tensor,
    states: list[torch.Tensor],
    params: list[torch.Tensor],
    bidirectional: bool,
    batch_sizes: torch.Tensor | None = None,
    times: int = 1,
) -> tuple[torch.Tensor, ...]:
    width = states[0].shape[-1] * (2 if bidirectional else 1)

    def forward(args: Any, kwargs: Any) -> tuple[torch.Tensor, ...]:
        x, *rest = args
        with recorder.paused():
            out = x.new_empty((*x.shape[:-1], width))
            finals = [torch.empty_like(s) for s in states]
        for _ in range(times):
            recorder.emit(kernel, [x, *rest], [out, *finals])
        return (out, *finals)

    tensors = (input, *states, *params, *(() if batch_sizes is None else (batch_sizes,)))
    return leaf(recorder, forward, (f"{kernel}_backward",) * times, tensors, {})  # type: ignore[no-any-return]


def fused_gru_cell(
    recorder: Recorder,
    registered: Registered,
    input_gates: torch.Tensor,
    hidden_gates: torch.Tensor,
    hx: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    hidden_bias: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """A composition of gates: there is no fused kernel behind it."""
    aten = torch.ops.aten
    gates = [
        aten.unsafe_split.Tensor(g if bias is None else aten.add.Tensor(g, bias), hx.shape[-1], 1)
        for g, bias in ((input_gates, input_bias), (hidden_gates, hidden_bias))
    ]
    (i_reset, i_update, i_new), (h_reset, h_update, h_new) = gates
    reset = aten.sigmoid_.default(aten.add.Tensor(h_reset, i_reset))
    update = aten.sigmoid_.default(aten.add.Tensor(h_update, i_update))
    new = aten.tanh_.default(aten.add.Tensor(i_new, aten.mul.Tensor(h_new, reset)))
    out = aten.add_.Tensor(aten.mul_.Tensor(aten.sub.Tensor(hx, new), update), new)
    return out, out


def lstm_cell(
    recorder: Recorder,
    registered: Registered,
    input: torch.Tensor,
    hx: list[torch.Tensor],
    w_ih: torch.Tensor,
    w_hh: torch.Tensor,
    b_ih: torch.Tensor | None = None,
    b_hh: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    tensors = (
        input,
        torch.ops.aten.t.default(w_ih),
        torch.ops.aten.t.default(w_hh),
        *hx,
        *(b for b in (b_ih, b_hh) if b is not None),
    )

    def forward(args: Any, kwargs: Any) -> tuple[torch.Tensor, torch.Tensor]:
        with recorder.paused():
            outs = [torch.empty_like(s) for s in hx]
        recorder.emit("npu::npu_lstm_cell", list(args), outs)
        return outs[0], outs[1]

    return leaf(recorder, forward, ("npu::npu_lstm_cell_backward",), tensors, {})  # type: ignore[no-any-return]
