"""Composite operators that torch_npu composes differently from stock torch: which operators its kernels call.

Observed with the real torch_npu 2.13.0 on a simulated runtime (see ``adapter.py``). A rewrite is called above
autograd with the recorder, the operators that the release registers, and the operator's own arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

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

    from opscan.tracing.adapter import leaf

    def forward(args: Any, kwargs: Any) -> Any:
        q, k, v = args[:3]
        with recorder.paused():
            out = q.new_empty((*q.shape[:-1], v.shape[-1]))
            statistics = [q.new_empty((*q.shape[:-1], 8), dtype=torch.float32) for _ in range(2)]
        inputs = [q, k, v, *args[3:]]
        recorder.emit(fused[0], inputs, [out, *statistics], (("head_num", str(q.shape[1])), ("input_layout", "'BNSD'")))
        return out

    tensors = (query, key, value) if mask is None else (query, key, value, mask)
    return leaf(recorder, forward, (fused[1],), tensors, {})  # type: ignore[no-any-return]


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
    from opscan.tracing.adapter import leaf

    def forward(args: Any, kwargs: Any) -> torch.Tensor:
        with recorder.paused():
            out = args[0].new_empty(args[0].shape, dtype=dtype)
        recorder.emit("npu::_npu_dtype_cast", [args[0]], [out], (("dtype", repr(dtype)),))
        return out  # type: ignore[no-any-return]

    return leaf(recorder, forward, ("npu::_npu_dtype_cast_backward",), (tensor,), {})  # type: ignore[no-any-return]


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
    """One layer in one direction with biases is one kernel; anything else one kernel of the legacy path a layer and
    direction.
    """
    single = num_layers == 1 and not bidirectional and has_biases and "npu::_lstm_npu" in registered
    kernel = "npu::_lstm_npu" if single else "npu::npu_lstm"
    return _recurrent(  # type: ignore[return-value]
        recorder, kernel, 1 if single else num_layers * (2 if bidirectional else 1), input, hx, params, batch_first
    )


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
    single = num_layers == 1 and not bidirectional and has_biases and "npu::_gru_npu" in registered
    kernel = "npu::_gru_npu" if single else "npu::npu_gru"
    return _recurrent(
        recorder, kernel, 1 if single else num_layers * (2 if bidirectional else 1), input, [hx], params, batch_first
    )


def _recurrent(
    recorder: Recorder,
    kernel: str,
    times: int,
    input: torch.Tensor,
    states: list[torch.Tensor],
    params: list[torch.Tensor],
    batch_first: bool,
) -> tuple[torch.Tensor, ...]:
    from opscan.tracing.adapter import leaf

    directions = states[0].shape[0] // max(1, _layers(states, params))
    hidden = states[0].shape[-1]

    def forward(args: Any, kwargs: Any) -> tuple[torch.Tensor, ...]:
        x, *rest = args
        with recorder.paused():
            out = x.new_empty((*x.shape[:-1], hidden * directions))
            finals = [torch.empty_like(s) for s in states]
        for _ in range(times):
            recorder.emit(kernel, [x, *rest], [out, *finals])
        return (out, *finals)

    return leaf(recorder, forward, (f"{kernel}_backward",) * times, (input, *states, *params), {})  # type: ignore[no-any-return]


def _layers(states: list[torch.Tensor], params: list[torch.Tensor]) -> int:
    """Layers × directions is the states' first size; a second direction shows where layer 0's input is not the next
    one's.
    """
    total: int = states[0].shape[0]
    per = len(params) // total
    if total > 1 and params[0].shape == params[per].shape and _is_reverse(params, per, states):
        return total // 2
    return total


def _is_reverse(params: list[torch.Tensor], per: int, states: list[torch.Tensor]) -> bool:
    hidden = states[0].shape[-1]
    if len(params) <= 2 * per:
        return params[per].shape[-1] != hidden or params[0].shape[-1] != hidden
    return bool(params[2 * per].shape[-1] == 2 * hidden)


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
    from opscan.tracing.adapter import leaf

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
    "aten::gru.input": gru_input,
    "aten::lstm_cell": lstm_cell,
}
