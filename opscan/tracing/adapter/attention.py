"""Scaled dot-product attention as torch_npu runs it: the fused kernel where it fits, stock torch's math elsewhere.

Observed with the real torch_npu 2.13.0 on a simulated runtime (see ``library.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from opscan.tracing.adapter.leaf import leaf

if TYPE_CHECKING:
    from opscan.tracing.recorder import Recorder

Registered = frozenset[str]

_FUSED_DTYPES = (torch.float16, torch.bfloat16, torch.float32)

#: Queries of a larger head are left to stock torch.
_LARGEST_HEAD = 512


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
    """The fused kernel where it fits, stock torch's math otherwise.

    A causal call builds its mask on the device (``ones``, ``triu``); a given mask is inverted.
    """
    fused = _fused_attention(registered)
    if fused is None or not _fits(query, value, attn_mask):
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


def _fits(query: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None) -> bool:
    """Batches of heads in float16, bfloat16 or float32, with a boolean mask or none; in float32 heads of 4, 8, 12 …
    elements only.
    """
    if query.dim() != 4 or query.dtype not in _FUSED_DTYPES or (mask is not None and mask.dtype is not torch.bool):
        return False
    step = 4 if query.dtype is torch.float32 else 1
    return query.shape[-1] <= _LARGEST_HEAD and query.shape[-1] % step == 0 and value.shape[-1] % step == 0


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
