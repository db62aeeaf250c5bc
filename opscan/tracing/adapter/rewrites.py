"""Composite operators that torch_npu composes differently from stock torch: which operators its kernels call.

Observed with the real torch_npu 2.13.0 on a simulated runtime (see ``library.py``). A rewrite is called above
autograd with the recorder, the operators that the release registers, and the operator's own arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from opscan.tracing.adapter.attention import scaled_dot_product_attention
from opscan.tracing.adapter.leaf import leaf
from opscan.tracing.adapter.packed import gru_data, pack_padded_sequence_backward
from opscan.tracing.adapter.recurrent import (
    fused_gru_cell,
    gru_input,
    lstm_cell,
    lstm_data,
    lstm_input,
    pad_packed_sequence,
)

if TYPE_CHECKING:
    from opscan.tracing.recorder import Recorder

Registered = frozenset[str]


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


def fft_shift(recorder: Recorder, registered: Registered, self: torch.Tensor, dim: Any = None) -> torch.Tensor:
    """Complex numbers are rolled as pairs of bits: a view of another dtype, then ``roll`` on int64, which has no
    derivative: raises NotImplementedError where one is needed, as the adapter raises.
    """
    dims = list(range(self.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    shifts = [self.shape[d] // 2 for d in dims]
    if not self.is_complex():
        return torch.ops.aten.roll.default(self, shifts, dims)  # type: ignore[no-any-return]
    seen = torch.ops.aten.view.default(self, list(self.shape))
    with recorder.paused():
        out, bits = self.new_empty(self.shape), self.new_empty(self.shape, dtype=torch.int64)
    recorder.emit("aten::roll", [bits], [bits], (("shifts", repr(shifts)), ("dims", repr(dims))))
    if torch.is_grad_enabled() and seen.requires_grad:
        raise NotImplementedError("torch_npu has no derivative for a shift of complex numbers, and raises")
    return out


def one_hot(recorder: Recorder, registered: Registered, self: torch.Tensor, num_classes: int = -1) -> torch.Tensor:
    """Fills on and off values; without a class count, the largest index is read back to the host.

    Its own kernel (aclnnOneHot) is launched out of a dispatch mode's sight, and is not recorded: what was observed of
    ``aten::one_hot`` is of a call without a count.
    """
    if num_classes < 0:
        num_classes = int(torch.ops.aten.max.default(self).item()) + 1
    with recorder.paused():
        value = self.new_empty((1,))
        out = self.new_empty((*self.shape, num_classes))
    for number in (1, 0):
        torch.ops.aten.fill_.Scalar(value, number)
    return out


def weight_norm(
    recorder: Recorder, registered: Registered, v: torch.Tensor, g: torch.Tensor, dim: int = 0
) -> torch.Tensor:
    """Norm, quotient and product: stock torch has a fused operator for it, which the adapter has not."""
    return v * (g / torch.norm_except_dim(v, 2, dim))


REWRITES: dict[str, Callable[..., Any]] = {
    "aten::scaled_dot_product_attention": scaled_dot_product_attention,
    "aten::softmax.int": softmax_int,
    "aten::adaptive_avg_pool2d": adaptive_avg_pool2d,
    "aten::contiguous": contiguous,
    "aten::fft_fftshift": fft_shift,
    "aten::fft_ifftshift": fft_shift,
    "aten::one_hot": one_hot,
    "aten::lstm.input": lstm_input,
    "aten::lstm.data": lstm_data,
    "aten::_pad_packed_sequence": pad_packed_sequence,
    "aten::gru.input": gru_input,
    "aten::_thnn_fused_gru_cell": fused_gru_cell,
    "aten::_weight_norm": weight_norm,
    "aten::lstm_cell": lstm_cell,
}

#: Operators of ATen's that read memory, registered by the adapter or not.
READS_MEMORY: dict[str, Callable[..., Any]] = {
    "aten::gru.data": gru_data,
    "aten::_pack_padded_sequence_backward": pack_padded_sequence_backward,
}
