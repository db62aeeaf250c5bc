"""Composite operators that torch_npu composes differently from stock torch: which operators its kernels call.

Observed with the real torch_npu 2.13.0 on a simulated runtime (see ``adapter.py``). A rewrite is called above
autograd with the recorder, the operators that the release registers, and the operator's own arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from opscan.tracing.leaf import leaf

if TYPE_CHECKING:
    from opscan.tracing.recorder import Recorder

Registered = frozenset[str]

_FUSED_DTYPES = (torch.float16, torch.bfloat16, torch.float32)


def scaled_dot_product_attention(
    recorder: Recorder,
    registered: Registered,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """The fused kernel for float16, bfloat16 and float32 with a boolean mask or none; stock torch's math otherwise.

    A causal call builds its mask on the device (``ones``, ``triu``); a given mask is inverted.
    """
    fused = _fused_attention(registered)
    fits = query.dim() == 4 and query.dtype in _FUSED_DTYPES and (attn_mask is None or attn_mask.dtype is torch.bool)
    if fused is None or not fits:
        return torch.ops.aten._scaled_dot_product_attention_math.default(  # type: ignore[no-any-return]
            query, key, value, attn_mask, dropout_p, is_causal, None, scale=scale, enable_gqa=enable_gqa
        )[0]
    mask = None
    if is_causal:
        mask = torch.ops.aten.triu.default(
            torch.ops.aten.ones.default(
                [query.shape[-2], key.shape[-2]], dtype=torch.bool, device=query.device, pin_memory=False
            ),
            1,
        )
    elif attn_mask is not None:
        mask = torch.ops.aten.logical_not.default(attn_mask)

    def forward(args: Any, kwargs: Any) -> Any:
        with recorder.paused():
            out = args[0].new_empty((*args[0].shape[:-1], args[2].shape[-1]))
            results = [out, *_attention_statistics(args[0], fused[0])]
        attributes = (("head_num", str(args[0].shape[1])), ("input_layout", "'BNSD'"))
        recorder.emit(fused[0], list(args), results, attributes)
        return out

    def of_backward(grads: list[torch.Tensor], inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """query, key, value, the gradient, a mask if any, the statistics of the softmax, the softmax, the result."""
        statistics = _attention_statistics(inputs[0], fused[0])
        return [*inputs[:3], grads[0], *inputs[3:], *statistics[:3], grads[0], *statistics[3:]]

    tensors = (query, key, value) if mask is None else (query, key, value, mask)
    return leaf(recorder, forward, (fused[1],), tensors, {}, of_backward)  # type: ignore[no-any-return]


def _attention_statistics(query: torch.Tensor, kernel: str) -> list[torch.Tensor]:
    """Largest value, sum, softmax; the third version returns the seed and offset of the dropout as tensors besides."""
    pair = [query.new_empty((*query.shape[:-1], 8), dtype=torch.float32) for _ in range(2)]
    random = [query.new_empty((1,), dtype=torch.int64) for _ in range(2)] if kernel.endswith("_v3") else []
    return [*pair, query.new_empty((0,)), *random]


def _fused_attention(registered: Registered) -> tuple[str, str] | None:
    for version in ("_v3", ""):  # _v2 is there too: the adapter offers it to callers, and does not call it itself
        name = f"npu::npu_fusion_attention{version}"
        if name in registered:
            return name, f"npu::npu_fusion_attention_grad{version}"
    return None


def softmax_int(
    recorder: Recorder, registered: Registered, self: torch.Tensor, dim: int, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """A change of dtype goes through the adapter's own cast."""
    if dtype is not None and dtype is not self.dtype:
        self = _cast(recorder, self, dtype)
    return torch.ops.aten._softmax.default(self, dim, False)  # type: ignore[no-any-return]


def _cast(recorder: Recorder, tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    def forward(args: Any, kwargs: Any) -> torch.Tensor:
        with recorder.paused():
            out = args[0].new_empty(args[0].shape, dtype=dtype)
        recorder.emit("npu::_npu_dtype_cast", [args[0]], [out], (("dtype", repr(dtype)),))
        return out  # type: ignore[no-any-return]

    name = "npu::_npu_dtype_cast_backward"
    return leaf(recorder, forward, (name,), (tensor,), {}, lambda grads, inputs: grads)  # type: ignore[no-any-return]


def adaptive_avg_pool2d(
    recorder: Recorder, registered: Registered, self: torch.Tensor, output_size: list[int]
) -> torch.Tensor:
    """A mean for one cell; stock torch restrides the result of a channels-last input besides."""
    if all(size == 1 for size in output_size):
        return torch.ops.aten.mean.dim(self, [-1, -2], True)  # type: ignore[no-any-return]
    return torch.ops.aten._adaptive_avg_pool2d.default(self, output_size)  # type: ignore[no-any-return]


def contiguous(
    recorder: Recorder,
    registered: Registered,
    self: torch.Tensor,
    *,
    memory_format: torch.memory_format = torch.contiguous_format,
) -> torch.Tensor:
    """The adapter takes the contiguous format alone; what else is asked for is recorded, and judged by that
    attribute.
    """
    if memory_format is not torch.contiguous_format:
        recorder.emit("aten::contiguous", [self], [self], (("memory_format", repr(memory_format)),))
        return self
    return self if self.is_contiguous() else torch.ops.aten.clone.default(self, memory_format=memory_format)


def one_hot(recorder: Recorder, registered: Registered, self: torch.Tensor, num_classes: int = -1) -> torch.Tensor:
    """Fills on and off values; without a class count, the largest index is read back to the host."""
    if num_classes < 0:
        num_classes = int(torch.ops.aten.max.default(self).item()) + 1
    for _ in range(2):
        torch.ops.aten.fill_.Scalar(torch.empty((), dtype=torch.float32, device=self.device), 1)
    with recorder.paused():
        return self.new_empty((*self.shape, num_classes))


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


def weight_norm(
    recorder: Recorder, registered: Registered, v: torch.Tensor, g: torch.Tensor, dim: int = 0
) -> torch.Tensor:
    """Norm, quotient and product: stock torch has a fused operator for it, which the adapter has not."""
    return v * (g / torch.norm_except_dim(v, 2, dim))


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


REWRITES: dict[str, Callable[..., Any]] = {
    "aten::scaled_dot_product_attention": scaled_dot_product_attention,
    "aten::softmax.int": softmax_int,
    "aten::adaptive_avg_pool2d": adaptive_avg_pool2d,
    "aten::contiguous": contiguous,
    "aten::one_hot": one_hot,
    "aten::lstm.input": lstm_input,
    "aten::lstm.data": lstm_data,
    "aten::_pad_packed_sequence": pad_packed_sequence,
    "aten::gru.input": gru_input,
    "aten::_thnn_fused_gru_cell": fused_gru_cell,
    "aten::_weight_norm": weight_norm,
    "aten::lstm_cell": lstm_cell,
}
