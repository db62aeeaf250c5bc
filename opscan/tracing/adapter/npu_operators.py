"""Operators of torch_npu's own that models and libraries call by name: ``torch_npu.npu_geglu``, ``torch.ops.npu``.

Schemas are those that torch_npu 2.13.0 registers; shapes of results are those of the functions' pages in Ascend's API
reference for PyTorch. Other operators of the ``npu`` namespace end a trace where they are called.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from opscan.tracing.adapter.leaf import leaf

if TYPE_CHECKING:
    from opscan.tracing.recorder import Recorder

#: Numbers that a fused attention keeps of each row for its backward.
_OF_A_ROW = 8


@dataclass(frozen=True, slots=True)
class _Operator:
    """``results`` makes empty results from the arguments. ``backward``: the operator of its derivative."""

    schema: str
    results: Callable[..., Any]
    backward: str = ""


def _like_first(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    return torch.empty_like(tensor)


def _halved(tensor: torch.Tensor, dim: int) -> torch.Tensor:
    shape = list(tensor.shape)
    shape[dim] //= 2
    return tensor.new_empty(shape)


def _geglu(input: torch.Tensor, dim: int = -1, approximate: int = 1, activate_left: bool = False) -> Any:
    return _halved(input, dim), _halved(input, dim)


def _swiglu(input: torch.Tensor, dim: int = -1) -> Any:
    return _halved(input, dim)


def _deviation(tensor: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
    """One number for each group that is normalised."""
    kept = tensor.dim() - gamma.dim()
    return tensor.new_empty((*tensor.shape[:kept], *(1,) * gamma.dim()), dtype=torch.float32)


def _rms_norm(input: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6) -> Any:
    return torch.empty_like(input), _deviation(input, gamma)


def _add_rms_norm(x1: torch.Tensor, x2: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6) -> Any:
    return torch.empty_like(x1), _deviation(x1, gamma), torch.empty_like(x1)


def _fusion_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    head_num: int,
    input_layout: str,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """The layout names the dimensions: batch, sequence, heads, size of a head; H heads times size, T batch times
    sequence."""
    out = torch.empty_like(query)
    if "D" in input_layout:
        out = query.new_empty((*query.shape[:-1], value.shape[-1]))
    sizes = dict(zip(input_layout, query.shape, strict=True))
    sizes["N"] = head_num
    rows = "TN" if input_layout == "TND" else "BNS"
    kept = query.new_empty((*(sizes[letter] for letter in rows), _OF_A_ROW), dtype=torch.float32)
    return out, kept, torch.empty_like(kept), query.new_empty((0,)), 0, 0, 0


def _prompt_attention(query: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    return torch.empty_like(query)


def _rotary_embedding(query: torch.Tensor, key: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    return torch.empty_like(query), torch.empty_like(key)


def _confusion_transpose(input: torch.Tensor, perm: list[int], shape: list[int], transpose_first: bool) -> torch.Tensor:
    sizes = tuple(shape) if transpose_first else tuple(shape[axis] for axis in perm)
    return input.new_empty(sizes)


_ATTENTION = (
    "(Tensor query, Tensor key, Tensor value, int head_num, str input_layout, Tensor? pse=None, "
    "Tensor? padding_mask=None, Tensor? atten_mask=None, float scale=1., float keep_prob=1., "
    "int pre_tockens=2147483647, int next_tockens=2147483647, int inner_precise=0, int[]? prefix=None, "
    "int[]? actual_seq_qlen=None, int[]? actual_seq_kvlen=None, int sparse_mode=0, bool gen_mask_parallel=True, "
    'bool sync=False, str softmax_layout="", Tensor? sink=None, Tensor? dropout_mask=None, int seed=0, int offset=0) '
    "-> (Tensor, Tensor, Tensor, Tensor, int, int, int)"
)
_PROMPT_ATTENTION = (
    "(Tensor query, Tensor key, Tensor value, *, Tensor? padding_mask=None, Tensor? atten_mask=None, "
    "Tensor? pse_shift=None, int[]? actual_seq_lengths=None, Tensor? deq_scale1=None, Tensor? quant_scale1=None, "
    "Tensor? deq_scale2=None, Tensor? quant_scale2=None, Tensor? quant_offset2=None, int num_heads=1, "
    'float scale_value=1., int pre_tokens=2147483647, int next_tokens=0, str input_layout="BSH", '
    "int num_key_value_heads=0, int[]? actual_seq_lengths_kv=None, int sparse_mode=0) -> Tensor"
)

_OPERATORS = {
    "npu_geglu": _Operator(
        "(Tensor input, int dim=-1, int approximate=1, bool activate_left=False) -> (Tensor, Tensor)",
        _geglu,
        "npu::npu_geglu_grad",
    ),
    "npu_swiglu": _Operator("(Tensor input, int dim=-1) -> Tensor", _swiglu, "npu::npu_swiglu_backward"),
    "npu_rms_norm": _Operator(
        "(Tensor input, Tensor gamma, float epsilon=1e-06) -> (Tensor, Tensor)",
        _rms_norm,
        "npu::npu_rms_norm_backward",
    ),
    "npu_add_rms_norm": _Operator(
        "(Tensor x1, Tensor x2, Tensor gamma, float epsilon=1e-06) -> (Tensor, Tensor, Tensor)", _add_rms_norm
    ),
    "npu_rotary_mul": _Operator(
        '(Tensor input, Tensor r1, Tensor r2, str rotary_mode="half", Tensor? rotate=None) -> Tensor',
        _like_first,
        "npu::npu_rotary_mul_backward",
    ),
    "npu_apply_rotary_pos_emb": _Operator(
        '(Tensor query, Tensor key, Tensor cos, Tensor sin, str layout="BSND", str rotary_mode="half") '
        "-> (Tensor, Tensor)",
        _rotary_embedding,
    ),
    "npu_interleave_rope": _Operator("(Tensor x, Tensor cos, Tensor sin) -> Tensor", _like_first),
    "npu_fast_gelu": _Operator("(Tensor input) -> Tensor", _like_first, "npu::npu_fast_gelu_backward"),
    "npu_gelu": _Operator('(Tensor input, *, str approximate="none") -> Tensor', _like_first, "npu::npu_gelu_backward"),
    "npu_silu": _Operator("(Tensor input) -> Tensor", _like_first, "npu::npu_silu_backward"),
    "npu_mish": _Operator("(Tensor input) -> Tensor", _like_first, "npu::npu_mish_backward"),
    "npu_scaled_masked_softmax": _Operator(
        "(Tensor x, Tensor mask, Scalar scale=1, bool fixed_triu_mask=False) -> Tensor",
        _like_first,
        "npu::npu_scaled_masked_softmax_backward",
    ),
    "npu_fusion_attention": _Operator(_ATTENTION, _fusion_attention, "npu::npu_fusion_attention_grad"),
    "npu_prompt_flash_attention": _Operator(_PROMPT_ATTENTION, _prompt_attention),
    "npu_confusion_transpose": _Operator(
        "(Tensor input, int[] perm, int[] shape, bool transpose_first) -> Tensor",
        _confusion_transpose,
        "npu::npu_confusion_transpose_backward",
    ),
    "npu_format_cast": _Operator(
        "(Tensor input, int acl_format, *, int? customize_dtype=None, int? input_dtype=None) -> Tensor",
        _like_first,
        "npu::npu_format_cast",
    ),
}


def install_operators(recorder: Recorder) -> torch.library.Library:
    """Give the operators derivatives that the trace sees. Keep the library alive for the trace."""
    _define()
    library = torch.library.Library("npu", "IMPL")
    autograd = "AutogradCPU" if recorder.device.type == "cpu" else "AutogradPrivateUse1"
    for name, operator in _OPERATORS.items():
        library.impl(name, _differentiable(name, operator, recorder), autograd)
    return library


def _differentiable(name: str, operator: _Operator, recorder: Recorder) -> Callable[..., Any]:
    overload = getattr(torch.ops.npu, name).default
    backward = (operator.backward,) if operator.backward else ()

    def kernel(*args: Any, **kwargs: Any) -> Any:
        missing = _missing(overload, args, kwargs)
        if missing:
            recorder.emit(f"npu::{name}", [t for t in (*args, *kwargs.values()) if isinstance(t, torch.Tensor)], [])
            raise NotImplementedError(f"torch_npu refuses the call of {name}, which has None for its tensor {missing}")
        return leaf(recorder, lambda a, k: overload(*a, **k), backward, args, kwargs)

    return kernel


def _missing(overload: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """A tensor that the operator needs and is not given: torch itself lets None through to the kernel."""
    for index, parameter in enumerate(overload._schema.arguments):
        given = args[index] if index < len(args) else kwargs.get(parameter.name)
        if given is None and isinstance(parameter.type, torch.TensorType):
            return str(parameter.name)
    return ""


@functools.cache
def _define() -> torch.library.Library:
    """Schemas and shapes, once a process."""
    library = torch.library.Library("npu", "FRAGMENT")
    for name, operator in _OPERATORS.items():
        library.define(f"{name}{operator.schema}")
        torch.library.register_fake(f"npu::{name}", operator.results, lib=library)
    return library
