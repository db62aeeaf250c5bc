"""Operators of torch_npu's own namespace that models call, or that stock operators become on other releases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch_npu

from observing.calls import ALL, sample
from observing.log import Attempt, Case
from observing.models import Builder, Call, run_module


def cases() -> list[Case]:
    found = [Case(name, lambda attempt, build=build: run_module(build, attempt)) for name, build in _builders().items()]
    return [*found, Case("npu_dtype_cast of all pairs", _casts), Case("npu_format_cast", _formats)]


def _casts(attempt: Attempt) -> None:
    for source in ALL:
        x = sample((4,), source)
        for onto in ALL:
            if x is not None:
                attempt("forward", lambda x=x, onto=onto: torch_npu.npu_dtype_cast(x, onto))


def _formats(attempt: Attempt) -> None:
    for dtype in ALL:
        x = sample((1, 1, 4, 4), dtype)
        if x is not None:
            attempt("forward", lambda x=x: torch_npu.npu_format_cast(x, 2))


def _builders() -> dict[str, Builder]:
    q, words, gamma = torch.randn(2, 4, 16, 32), torch.randn(2, 6, 32), torch.ones(32)
    mask, turns = torch.ones(16, 16, dtype=torch.bool).triu(1), torch.randn(1, 1, 16, 32)

    def attention(layout: str, **options: Any) -> Callable[..., Any]:
        def call(query: Any, key: Any, value: Any, atten_mask: Any = None) -> Any:
            heads = query.shape[layout.index("N")] if "N" in layout else 4
            return torch_npu.npu_fusion_attention(
                query, key, value, heads, layout, atten_mask=atten_mask, scale=0.2, **options
            )[0]

        return call

    def made(function: Callable[..., Any], *inputs: Any) -> Builder:
        return lambda: (Call(function), tuple(t.clone() if isinstance(t, torch.Tensor) else t for t in inputs))

    flat = q.transpose(1, 2)
    builders: dict[str, Builder] = {
        "npu_fusion_attention BNSD": made(attention("BNSD"), q, q, q),
        "npu_fusion_attention BSND": made(attention("BSND"), flat, flat, flat),
        "npu_fusion_attention BSH": made(attention("BSH"), words, words, words),
        "npu_fusion_attention masked": made(attention("BNSD"), q, q, q, mask),
        "npu_fusion_attention causal": made(attention("BNSD", sparse_mode=2), q, q, q, mask),
        "npu_fusion_attention dropout": made(attention("BNSD", keep_prob=0.9), q, q, q),
        "npu_rms_norm": made(lambda x, g: torch_npu.npu_rms_norm(x, g, 1e-6)[0], words, gamma),
        "npu_add_rms_norm": made(lambda x, y, g: torch_npu.npu_add_rms_norm(x, y, g, 1e-6), words, words, gamma),
        "npu_rotary_mul": made(torch_npu.npu_rotary_mul, q, turns, turns),
        "npu_swiglu": made(lambda x: torch_npu.npu_swiglu(x, -1), words),
        "npu_geglu": made(lambda x: torch_npu.npu_geglu(x, -1, 1), words),
        "npu_gelu": made(torch_npu.npu_gelu, words),
        "npu_fast_gelu": made(torch_npu.fast_gelu, words),
        "npu_silu": made(torch_npu.npu_silu, words),
        "npu_mish": made(torch_npu.npu_mish, words),
        "npu_linear": made(torch_npu.npu_linear, words[0], torch.randn(8, 32), torch.randn(8)),
        "npu_bmmV2": made(lambda a, b: torch_npu.npu_bmmV2(a, b, []), q[0], q[0].transpose(1, 2)),
        "npu_scaled_masked_softmax": made(
            lambda x, m: torch_npu.npu_scaled_masked_softmax(x, m, 0.5, False), q @ q.transpose(2, 3), mask[None, None]
        ),
        "npu_confusion_transpose": made(
            lambda x: torch_npu.npu_confusion_transpose(x, (0, 2, 1, 3), (2, 16, 128), True), q
        ),
        "npu_transpose": made(lambda x: torch_npu.npu_transpose(x, (0, 2, 1, 3)), q),
        "npu_deep_norm": made(lambda x, y, b, g: torch_npu.npu_deep_norm(x, y, b, g), words, words, gamma, gamma),
        "npu_group_norm_silu": made(
            lambda x, w, b: torch_npu.npu_group_norm_silu(x, w, b, 2), torch.randn(2, 4, 8, 8), gamma[:4], gamma[:4]
        ),
        "npu_moe_gating_top_k_softmax": made(lambda x: torch_npu.npu_moe_gating_top_k_softmax(x, None, 2), words[0]),
        "npu_prompt_flash_attention": made(
            lambda x: torch_npu.npu_prompt_flash_attention(x, x, x, num_heads=4, input_layout="BNSD"), q
        ),
        "npu_incre_flash_attention": made(
            lambda x, c: torch_npu.npu_incre_flash_attention(x, c, c, num_heads=4, input_layout="BNSD"), q[:, :, :1], q
        ),
        "npu_fused_infer_attention_score": made(
            lambda x: torch_npu.npu_fused_infer_attention_score(x, x, x, num_heads=4, input_layout="BNSD"), q
        ),
        "npu_grouped_matmul": made(
            lambda x, w: torch_npu.npu_grouped_matmul([x], [w], split_item=0), words[0], torch.randn(32, 8)
        ),
        "npu_iou": made(torch_npu.npu_iou, torch.rand(5, 4), torch.rand(3, 4)),
        "npu_nms_v4": made(
            lambda b, s: torch_npu.npu_nms_v4(b, s, 4, torch.tensor(0.5).npu(), torch.tensor(0.1).npu()),
            torch.rand(8, 4),
            torch.rand(8),
        ),
        "npu_deformable_conv2d": made(
            lambda x, w, o: torch_npu.npu_deformable_conv2d(
                x, w, o, None, kernel_size=[3, 3], stride=[1, 1, 1, 1], padding=[1, 1, 1, 1]
            )[0],
            torch.randn(1, 8, 8, 8),
            torch.randn(8, 8, 3, 3),
            torch.randn(1, 27, 8, 8),
        ),
    }
    return builders
