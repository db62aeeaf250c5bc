"""LSTM and GRU as torch_npu runs them: fused kernels where they fit, else those of the legacy path
(``recurrent_legacy.py``).

Observed with the real torch_npu 2.13.0 on a simulated runtime (see ``library.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from opscan.tracing.adapter.leaf import leaf
from opscan.tracing.adapter.packed import sizes_of
from opscan.tracing.adapter.recurrent_legacy import GruStack, LstmStack

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
    """One fused kernel for four parameters; else one of the legacy path a layer and direction, without dropout."""
    if len(params) == 4 and "npu::_lstm_npu" in registered:
        return _recurrent(recorder, "npu::_lstm_npu", input, hx, params, bidirectional)  # type: ignore[return-value]
    steps = input.transpose(0, 1) if batch_first else input
    stack = LstmStack(recorder, params, num_layers, bidirectional)
    out, hidden, cells = stack.run(steps, (hx[0], hx[1]))
    return out.transpose(0, 1) if batch_first else out, hidden, cells


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
    """A packed sequence, which the adapter keeps padded. Raises NotImplementedError where the adapter raises."""
    aten = torch.ops.aten
    if len(params) == 4 and "npu::_lstm_npu" in registered:
        sizes = aten._to_copy.default(batch_sizes, device=data.device)
        out, *states = _recurrent(recorder, "npu::_lstm_npu", data, hx, params, bidirectional, sizes)
        return aten.view.default(out, [-1, out.shape[-1]]), *states
    if num_layers > 2:
        raise NotImplementedError("torch_npu raises for an LSTM of more than two layers on a packed sequence")
    steps = batch_sizes.shape[0]
    padded = aten.view.default(data, [steps, data.shape[0] // steps, *data.shape[1:]])
    stack = LstmStack(recorder, params, num_layers, bidirectional, batch_sizes)
    out, *states = stack.run(padded, (hx[0], hx[1]))
    return aten.view.default(out, [-1, out.shape[-1]]), *states


def pad_packed_sequence(
    recorder: Recorder,
    registered: Registered,
    data: torch.Tensor,
    batch_sizes: torch.Tensor,
    batch_first: bool,
    padding_value: float,
    total_length: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The adapter's packed sequences are padded: nothing is moved but for the order of dimensions.

    Raises NotImplementedError where the adapter raises: for a sequence that is really packed, as a GRU gives it.
    """
    batch = sizes_of(batch_sizes)[0]
    if data.shape[0] != batch * batch_sizes.shape[0]:
        raise NotImplementedError("torch_npu takes what an LSTM makes of a packed sequence, and raises for others")
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
    """One kernel, whatever the layers and directions; else of the legacy path one each, without dropout."""
    if "npu::_gru_npu" in registered:
        return _recurrent(recorder, "npu::_gru_npu", input, [hx], params, bidirectional)
    steps = input.transpose(0, 1) if batch_first else input
    out, state = GruStack(recorder, params, num_layers, bidirectional).run(steps, hx)
    return out.transpose(0, 1) if batch_first else out, state


def _recurrent(
    recorder: Recorder,
    kernel: str,
    input: torch.Tensor,
    states: list[torch.Tensor],
    params: list[torch.Tensor],
    bidirectional: bool,
    batch_sizes: torch.Tensor | None = None,
) -> tuple[torch.Tensor, ...]:
    width = states[0].shape[-1] * (2 if bidirectional else 1)

    def forward(args: Any, kwargs: Any) -> tuple[torch.Tensor, ...]:
        x, *rest = args
        with recorder.paused():
            out = x.new_empty((*x.shape[:-1], width))
            finals = [torch.empty_like(s) for s in states]
        recorder.emit(kernel, [x, *rest], [out, *finals])
        return (out, *finals)

    tensors = (input, *states, *params, *(() if batch_sizes is None else (batch_sizes,)))
    return leaf(recorder, forward, (f"{kernel}_backward",), tensors, {})  # type: ignore[no-any-return]


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
