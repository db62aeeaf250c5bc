"""Quantized tensors and modules on an NPU: which operators take them, and what torch_npu has in their place.

Reviewed by hand. Kernels for quantized tensors: those of the dispatch key ``QuantizedPrivateUse1`` in torch_npu 2.13.0,
as its own dispatcher told on the simulated runtime. torch_npu's operators for quantized products are in its API
reference
(https://www.hiascend.com/document/detail/zh/Pytorch/700/apiref/apilist/ptaoplist_000172.html, ``npu_quant_matmul``;
ptaoplist_000179.html, ``npu_weight_quant_batchmatmul``); msModelSlim, which makes weights for them, at
https://msmodelslim.readthedocs.io/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from opscan.inventory import Finding, OpCall
from opscan.text import Text

#: dtypes of torch's quantized tensors, whose dispatch key is their own.
DTYPES = frozenset({"qint8", "quint8", "qint32", "quint4x2", "quint2x4"})

#: The release of which the kernels are known.
OBSERVED_RELEASE = "2.13.0"

KERNELS = frozenset(
    {
        "aten::_copy_from", "aten::_empty_affine_quantized", "aten::as_strided", "aten::clone", "aten::contiguous",
        "aten::dequantize.self", "aten::empty.memory_format", "aten::empty_like", "aten::empty_strided", "aten::flip",
        "aten::int_repr", "aten::q_per_channel_axis", "aten::q_per_channel_scales", "aten::q_per_channel_zero_points",
        "aten::q_scale", "aten::q_zero_point", "aten::qscheme", "aten::ravel", "aten::view", "quantized::add",
        "quantized::add_relu",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Way:
    """Operators by the beginnings of their names; ``instead``: torch_npu's own, as far as a release has them."""

    names: tuple[str, ...]
    what: Text
    instead: tuple[str, ...]


_WAYS = (
    _Way(
        ("aten::_weight_int8pack_mm", "aten::_weight_int4pack_mm", "aten::_dyn_quant_matmul_4bit"),
        Text("packed weights for a CPU or CUDA kernel", "为 CPU 或 CUDA 内核打包的权重"),
        ("npu_weight_quant_batchmatmul", "npu_convert_weight_to_int4pack"),
    ),
    _Way(
        ("aten::_scaled_mm", "aten::_scaled_grouped_mm"),
        Text("float8 products", "float8 矩阵乘"),
        ("npu_quant_matmul", "npu_dynamic_quant"),
    ),
    _Way(
        (
            "aten::fake_quantize_",
            "aten::_fake_quantize_",
            "aten::_fused_moving_avg_obs_fq_helper",
            "aten::fused_moving",
        ),
        Text("fake quantization", "伪量化"),
        ("npu_quantize",),
    ),
    _Way(
        ("quantized::", "aten::quantized_", "aten::quantize_per_", "aten::dequantize", "aten::int_repr"),
        Text("torch's quantized tensors and packed weights", "torch 的量化张量与打包权重"),
        ("npu_quantize", "npu_dynamic_quant", "npu_quant_matmul", "npu_quant_conv2d"),
    ),
)

_NAMED = 6


def is_quantized(call: OpCall) -> bool:
    """Whether a call takes a quantized tensor."""
    return any(spec.dtype in DTYPES for spec in call.inputs)


def makes_quantized(call: OpCall) -> bool:
    return any(spec.dtype in DTYPES for spec in call.outputs)


def findings_on_quantization(calls: Iterable[OpCall], has: Callable[[str], bool]) -> list[Finding]:
    """One finding for each way of quantizing that a model uses. ``has``: whether the release has an operator."""
    by_way: dict[int, list[OpCall]] = {}
    for call in calls:
        way = next((n for n, w in enumerate(_WAYS) if call.name.startswith(w.names)), None)
        if way is not None:
            by_way.setdefault(way, []).append(call)
    return [_finding(_WAYS[way], found, has) for way, found in sorted(by_way.items())]


def _finding(way: _Way, calls: list[OpCall], has: Callable[[str], bool]) -> Finding:
    instead = ", ".join(f"torch_npu.{name}" for name in way.instead if has(f"npu::{name}"))
    names = list(dict.fromkeys(call.name for call in calls))
    operators = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    advice = Text(
        f"This release of torch_npu has {instead} for that."
        if instead
        else "This release of torch_npu has nothing instead.",
        f"该版本 torch_npu 提供 {instead}。" if instead else "该版本 torch_npu 没有替代算子。",
    )
    facts = {
        "what": way.what.en,
        "what_zh": way.what.zh,
        "operators": operators,
        "advice": advice.en,
        "advice_zh": advice.zh,
    }
    return Finding("OPS652", facts, tuple(dict.fromkeys(call.location for call in calls if call.location)))
