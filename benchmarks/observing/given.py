"""torch_npu's own operators whose arguments no schema tells: quantized products, grouped ones, caches, boxes.

Every entry makes arguments by name for one floating-point dtype; shapes are small and agree with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from observing.log import DERIVED, Attempt, Case
from observing.registered import find_overload

#: dtypes of the plain operands; what is quantized has dtypes of its own.
DTYPES = (torch.float16, torch.bfloat16, torch.float32)

#: torch's number of a dtype, which some parameters want: int8, int32, float16, bfloat16, and the quantized ones.
INT8, INT32, HALF, BRAIN, QINT8, QUINT8, QINT32 = 1, 3, 5, 15, 12, 13, 14

Arguments = dict[str, Any]
Maker = Callable[[torch.dtype], Iterator[Arguments]]


def cases() -> list[Case]:
    makers = {**_products(), **_grouped(), **_routing(), **_caches(), **_boxes(), **_rest()}
    return [
        Case(f"given {name}", lambda attempt, name=name, make=make: _call(name, make, attempt))
        for name, make in makers.items()
    ]


def _call(name: str, make: Maker, attempt: Attempt) -> None:
    overload = find_overload(f"npu::{name}")
    if overload is None:  # another release
        return
    for dtype in DTYPES:
        for arguments in make(dtype):
            attempt.direct(DERIVED, overload, *bind(overload, arguments))


def bind(overload: Any, arguments: Arguments) -> tuple[tuple[Any, ...], Arguments]:
    """Arguments by name as the schema orders them, so that the dtypes of calls compare."""
    args: list[Any] = []
    kwargs: Arguments = {}
    for p in overload._schema.arguments:
        if p.kwarg_only:
            if p.name in arguments:
                kwargs[p.name] = arguments[p.name]
        else:
            args.append(arguments.get(p.name, p.default_value if p.has_default_value() else None))
    return tuple(args), kwargs


def full(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """Ones on the device, made on the host: no operator of the device runs before the call."""
    return torch.ones(shape, dtype=dtype).npu()


def ints(*shape: int) -> torch.Tensor:
    return full(torch.int32, *shape)


def longs(*shape: int) -> torch.Tensor:
    return full(torch.int64, *shape)


def bytes8(*shape: int) -> torch.Tensor:
    return full(torch.int8, *shape)


def floats(*shape: int) -> torch.Tensor:
    return full(torch.float32, *shape)


def _products() -> dict[str, Maker]:
    """Matrix products whose operands are quantized."""

    def quant_matmul(dtype: torch.dtype) -> Iterator[Arguments]:
        product = {"x1": bytes8(16, 16), "x2": bytes8(16, 16)}
        number = {torch.float16: HALF, torch.bfloat16: BRAIN}.get(dtype)
        yield {**product, "scale": full(dtype, 16)}
        yield {**product, "scale": longs(16), "output_dtype": number or INT8}
        if number:
            yield {**product, "scale": floats(16), "pertoken_scale": floats(16), "output_dtype": number}
            yield {**product, "scale": full(dtype, 16), "output_dtype": number, "bias": ints(16)}
            yield {**product, "scale": floats(16), "output_dtype": number, "bias": full(dtype, 16)}
        yield {**product, "scale": floats(16), "offset": floats(16), "output_dtype": INT8}
        yield {**product, "scale": floats(16), "output_dtype": INT32}

    def weight_quant(dtype: torch.dtype) -> Iterator[Arguments]:
        product = {"x": full(dtype, 16, 64), "weight": bytes8(64, 16), "antiquant_scale": full(dtype, 16)}
        yield product
        yield {**product, "antiquant_offset": full(dtype, 16)}
        yield {**product, "antiquant_offset": full(dtype, 16), "bias": full(dtype, 16)}
        yield {**product, "bias": floats(16)}
        yield {**product, "quant_scale": floats(16), "quant_offset": floats(16)}
        yield {**product, "weight": ints(64, 2), "antiquant_offset": full(dtype, 16)}

    def anti_quant(dtype: torch.dtype) -> Iterator[Arguments]:
        for onto in (torch.float16, torch.bfloat16):
            yield {"x": bytes8(16, 16), "scale": full(dtype, 16), "dst_dtype": HALF if onto == torch.float16 else BRAIN}
        yield {"x": bytes8(16, 16), "scale": full(dtype, 16), "offset": full(dtype, 16)}

    def quantize(dtype: torch.dtype) -> Iterator[Arguments]:
        for number, zeros in ((QINT8, bytes8), (QUINT8, ints), (QINT32, ints)):
            for points in (None, zeros(16), full(dtype, 16)):
                yield {
                    "input": full(dtype, 16, 16),
                    "scales": full(dtype, 16),
                    "zero_points": points,
                    "dtype": number,
                    "div_mode": points is None or points.dtype != dtype,
                }

    def convolution(dtype: torch.dtype) -> Iterator[Arguments]:
        number = {torch.float16: HALF, torch.bfloat16: BRAIN, torch.float32: 6}[dtype]
        yield {
            "input": bytes8(1, 16, 8, 8), "weight": bytes8(16, 16, 3, 3), "scale": longs(16), "strides": [1, 1],
            "pads": [0, 0], "dilations": [1, 1], "output_dtype": number, "bias": ints(16),
        }  # fmt: skip

    def feed_forward(dtype: torch.dtype) -> Iterator[Arguments]:
        for activation in ("relu", "gelu", "fastgelu", "silu"):
            yield {
                "x": full(dtype, 16, 32), "weight1": full(dtype, 32, 64), "weight2": full(dtype, 64, 32),
                "activation": activation, "bias1": full(dtype, 64), "bias2": full(dtype, 32),
            }  # fmt: skip

    return {
        "npu_quant_matmul": quant_matmul,
        "npu_weight_quant_batchmatmul": weight_quant,
        "npu_anti_quant": anti_quant,
        "npu_quantize": quantize,
        "npu_quant_conv2d": convolution,
        "npu_ffn": feed_forward,
    }


def _grouped(groups: int = 4) -> dict[str, Maker]:
    """Products of groups of rows with weights of their own."""

    def plain(dtype: torch.dtype) -> Iterator[Arguments]:
        rows, weight = full(dtype, 16, 32), full(dtype, groups, 32, 16)
        yield {"x": [rows, rows.clone()], "weight": [full(dtype, 32, 16)] * 2, "split_item": 0, "group_type": -1}
        one: Arguments = {
            "x": [rows],
            "weight": [weight],
            "split_item": 2,
            "group_type": 0,
            "group_list": longs(groups),
        }
        yield one
        yield {**one, "split_item": 3, "bias": [full(dtype, groups, 16)]}
        quantized = {**one, "split_item": 3, "x": [bytes8(16, 32)], "weight": [bytes8(groups, 32, 16)]}
        number = {torch.float16: HALF, torch.bfloat16: BRAIN}.get(dtype)
        if number:
            yield {
                **quantized, "scale": [full(dtype, groups, 16)], "per_token_scale": [floats(16)],
                "output_dtype": number,
            }  # fmt: skip
            yield {
                **one, "weight": [bytes8(groups, 32, 16)], "antiquant_scale": [full(dtype, groups, 16)],
                "antiquant_offset": [full(dtype, groups, 16)],
            }  # fmt: skip

    def listed(dtype: torch.dtype) -> Iterator[Arguments]:
        for arguments in plain(dtype):
            changed = {key: value for key, value in arguments.items() if key != "output_dtype"}
            yield {**changed, "group_list": [4, 8, 12, 16]} if "group_list" in changed else changed

    def finalized(dtype: torch.dtype) -> Iterator[Arguments]:
        if dtype == torch.float32:
            yield {
                "x": bytes8(16, 32), "w": bytes8(groups, 32, 16), "group_list": longs(groups),
                "scale": floats(groups, 16), "pertoken_scale": floats(16), "logit": floats(16), "row_index": longs(16),
                "shared_input": full(torch.bfloat16, 16, 16), "output_bs": 16,
            }  # fmt: skip

    def swiglu(dtype: torch.dtype) -> Iterator[Arguments]:
        if dtype == torch.float32:
            yield {
                "x": bytes8(16, 32), "weight": [bytes8(groups, 32, 16)], "weight_scale": [floats(groups, 16)],
                "x_scale": floats(16), "group_list": longs(groups),
            }  # fmt: skip

    return {
        "npu_grouped_matmul": plain,
        "npu_grouped_matmul.List": listed,
        "npu_grouped_matmul_finalize_routing": finalized,
        "npu_grouped_matmul_swiglu_quant_v2": swiglu,
    }


def _routing() -> dict[str, Maker]:
    """Tokens on their way to experts and back."""

    def initial(dtype: torch.dtype) -> Iterator[Arguments]:
        base: Arguments = {
            "x": full(dtype, 16, 32), "expert_idx": ints(16, 2), "active_num": 32, "expert_capacity": 16,
            "expert_num": 8, "active_expert_range": [0, 8], "expert_tokens_num_type": 1, "expert_tokens_num_flag": True,
        }  # fmt: skip
        yield base
        yield {**base, "quant_mode": 1, "scale": floats(8, 32)}

    def back(dtype: torch.dtype) -> Iterator[Arguments]:
        tokens = {"permuted_tokens": full(dtype, 32, 16), "sorted_indices": ints(32)}
        yield tokens
        yield {**tokens, "probs": full(dtype, 16, 2)}
        yield {**tokens, "probs": floats(16, 2)}

    def gradient(dtype: torch.dtype) -> Iterator[Arguments]:
        for arguments in back(dtype):
            yield {**arguments, "grad_unpermuted_tokens": full(dtype, 16, 16)}

    def gradient2(dtype: torch.dtype) -> Iterator[Arguments]:
        for arguments in gradient(dtype):
            yield {**arguments, "permuted_tokens_size_0": 32, "permuted_tokens_dtype": dtype}

    def ring(dtype: torch.dtype) -> Iterator[Arguments]:
        found: Arguments = {"input_layout": "SBH"}
        for when in ("prev", "cur"):
            found[f"{when}_attn_out"] = full(dtype, 16, 2, 64)
            found |= {f"{when}_softmax_{what}": floats(2, 4, 16, 8) for what in ("max", "sum")}
        yield found

    return {
        "npu_moe_init_routing_v2": initial,
        "npu_moe_token_unpermute": back,
        "_npu_moe_token_unpermute": back,
        "npu_moe_token_unpermute_grad": gradient,
        "npu_moe_token_unpermute_grad_v2": gradient2,
        "npu_ring_attention_update": ring,
    }


def _caches() -> dict[str, Maker]:
    """Attention with caches or states."""

    def rope(dtype: torch.dtype) -> Iterator[Arguments]:
        yield {
            "x": full(dtype, 4, 1, 18 * 128), "cos": full(dtype, 4, 1, 1, 128), "sin": full(dtype, 4, 1, 1, 128),
            "k_cache": bytes8(4, 16, 1, 128), "v_cache": bytes8(4, 16, 1, 128), "indices": ints(4),
            "scale_k": floats(1, 128), "scale_v": floats(1, 128), "size_splits": [16 * 128, 128, 128],
        }  # fmt: skip

    def dequant_rope(dtype: torch.dtype) -> Iterator[Arguments]:
        for arguments in rope(dtype):
            yield arguments
            yield {**arguments, "x": ints(4, 1, 18 * 128), "weight_scale": floats(18 * 128)}

    def delta_rule(dtype: torch.dtype) -> Iterator[Arguments]:
        heads = {name: full(dtype, 16, 4, 32) for name in ("query", "key", "value")}
        yield {
            **heads, "state": full(dtype, 4, 4, 32, 32), "beta": full(dtype, 16, 4), "scale": 0.5, "g": floats(16, 4),
            "initial_state": full(dtype, 1, 4, 32, 32), "actual_seq_lengths": ints(4), "ssm_state_indices": ints(16),
        }  # fmt: skip

    def compress(dtype: torch.dtype) -> Iterator[Arguments]:
        yield {
            "input": full(dtype, 64, 4, 32), "weight": full(dtype, 32, 4), "compress_block_size": 32,
            "compress_stride": 16, "actual_seq_len": [64], "grad": full(dtype, 3, 4, 32),
        }  # fmt: skip

    def into(count: int, *, gradients: bool) -> Maker:
        def attention(dtype: torch.dtype) -> Iterator[Arguments]:
            heads = {name: full(dtype, 16, 4, 32) for name in ("query", "key", "value", "dy", "attention_in")}
            sums = {name: floats(16, 4, 8) for name in ("softmax_max", "softmax_sum")}
            ends = {name: torch.full((1,), 16) for name in ("actual_seq_qlen", "actual_seq_kvlen")}
            wide = range(4) if gradients else range(1)
            out = [full(dtype, 16, 4, 32) if number in wide else floats(16, 4, 8) for number in range(count)]
            yield {**heads, **sums, **ends, "head_num": 4, "input_layout": "TND", "out": out}

        return attention

    def layer_norm(dtype: torch.dtype) -> Iterator[Arguments]:
        size = 12 * 64
        kernels = {f"kernel_{name}": full(dtype, size, size) for name in ("query", "key", "value")}
        biases = {f"bias_{name}": full(dtype, size) for name in ("query", "key", "value")}
        yield {"x": full(dtype, 256, size), **kernels, **biases, "gamma": full(dtype, size), "beta": full(dtype, size),
               "seq_len": 128, "num_heads": 12}  # fmt: skip

    def multi_head(dtype: torch.dtype) -> Iterator[Arguments]:
        rows = {name: full(dtype, 64, 256) for name in ("query", "key", "value", "query_res", "key_res", "value_res")}
        weights = {f"{name}_weight": full(dtype, 256, 256) for name in ("query", "key", "value", "out_proj")}
        biases = {f"{name}_bias": full(dtype, 256) for name in ("query", "key", "value", "out_proj")}
        scores = {name: full(dtype, 4, 16, 16, 16) for name in ("attn_scores", "attn_res", "attn_mask")}
        yield {
            **rows, **weights, **biases, **scores, "context": full(dtype, 64, 256), "y_grad": full(dtype, 64, 256),
            "dropout_mask": full(torch.uint8, 4 * 16 * 16 * 16 // 8), "attn_head_num": 16, "attn_dim_per_head": 16,
            "src_len": 16, "tgt_len": 16, "dropout_prob": 0.5, "softmax_use_float": True,
        }  # fmt: skip

    return {
        "npu_rope_quant_kvcache": rope,
        "npu_dequant_rope_quant_kvcache": dequant_rope,
        "npu_chunk_gated_delta_rule": delta_rule,
        "npu_recurrent_gated_delta_rule": delta_rule,
        "npu_recurrent_gated_delta_rule_functional": delta_rule,
        "npu_nsa_compress": compress,
        "npu_nsa_compress_grad": compress,
        "npu_fusion_attention_v3.out": into(6, gradients=False),
        "npu_fusion_attention_grad_v3.out": into(5, gradients=True),
        "npu_fused_attention_layernorm_qkv_fwd": layer_norm,
        "npu_multi_head_attention": multi_head,
        "npu_multi_head_attention_backward": multi_head,
    }


def _boxes() -> dict[str, Maker]:
    """Boxes, their overlaps, and regions of images."""

    def overlaps(dtype: torch.dtype) -> Iterator[Arguments]:
        boxes = {name: full(dtype, 4, 16) for name in ("input", "gtboxes", "bboxes")}
        yield {**boxes, "grad": full(dtype, 1, 16), "trans": True, "is_cross": False, "mode": 0}

    def suppression(dtype: torch.dtype) -> Iterator[Arguments]:
        yield {"input": full(dtype, 16, 5), "scores": full(dtype, 16), "iou_threshold": 0.5, "max_output_size": 4}

    def pooling(dtype: torch.dtype) -> Iterator[Arguments]:
        yield {
            "input": full(dtype, 2, 16, 8, 8), "output_grad": full(dtype, 8, 4, 2, 2), "rois": full(dtype, 2, 5, 4),
            "spatial_scale": 0.25, "group_size": 2, "output_dim": 4, "input_size": [8, 8],
        }  # fmt: skip

    def anchors(dtype: torch.dtype) -> Iterator[Arguments]:
        yield {"input": full(dtype, 16, 4), "featmap_size": [8, 8], "stride": [2, 2], "num_base_anchors": 9}

    def encoding(dtype: torch.dtype) -> Iterator[Arguments]:
        boxes = {name: full(dtype, 16, 4) for name in ("input", "gt_bboxes")}
        yield {**boxes, "stride": ints(16), "performance_mode": False}

    return {
        "npu_giou": overlaps,
        "npu_giou_backward": overlaps,
        "npu_nms_rotated": suppression,
        "npu_ps_roi_pooling": pooling,
        "npu_ps_roi_pooling_backward": pooling,
        "npu_anchor_response_flags": anchors,
        "npu_yolo_boxes_encode": encoding,
    }


def _rest() -> dict[str, Maker]:
    def gathered(dtype: torch.dtype) -> Iterator[Arguments]:
        yield {
            "input": full(dtype, 16, 16), "x": full(dtype, 16, 16), "weight_b": full(dtype, 4, 1, 16, 16),
            "indices": ints(16), "weight_a": full(dtype, 4, 1, 16, 16),
        }  # fmt: skip

    def signs(dtype: torch.dtype) -> Iterator[Arguments]:
        yield {"input": full(dtype, 16), "size": 1}

    def unpacked(dtype: torch.dtype) -> Iterator[Arguments]:
        yield {"input": full(torch.uint8, 16), "size": 1, "dtype": dtype}

    def exchanged(dtype: torch.dtype) -> Iterator[Arguments]:
        number = {torch.float16: HALF, torch.bfloat16: BRAIN}.get(dtype)
        if number:
            yield {
                "gmm_x": bytes8(16, 16), "gmm_weight": bytes8(4, 16, 16), "gmm_x_scale": floats(1),
                "gmm_weight_scale": floats(1), "hcom": "group", "ep_world_size": 2, "send_counts": [1] * 8,
                "recv_counts": [1] * 8, "gmm_y_dtype": number, "gmm_x_quant_mode": 1, "gmm_weight_quant_mode": 1,
            }  # fmt: skip

    return {
        "npu_alltoallv_quant_gmm": exchanged,
        "npu_quant_gmm_alltoallv": exchanged,
        "npu_batch_gather_matmul": gathered,
        "npu_batch_gather_matmul_": gathered,
        "npu_sign_bits_pack": signs,
        "npu_sign_bits_unpack": unpacked,
    }
