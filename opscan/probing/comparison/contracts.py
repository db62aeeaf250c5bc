"""Which results an operator leaves open, and what can be asked of them instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

#: What lies in these results is whatever was in memory.
UNFILLED = frozenset(
    {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "resize", "resize_as",
     "empty_quantized"}
)  # fmt: skip

#: Operators that draw numbers without torch's tag for it, or take what another drew.
_RANDOM = frozenset(
    {"rrelu_with_noise", "_sobol_engine_draw", "npu_dropout", "_npu_dropout", "dropout", "_dropout",
     "native_dropout_backward"}
)  # fmt: skip

#: From this result on, results are the implementation's own: statistics, masks, indices for its backward operator. They
#: may have another dtype or form on the device.
_AUXILIARY = {
    "native_layer_norm": 1, "native_group_norm": 1, "native_batch_norm": 1, "_native_batch_norm_legit": 1,
    "_native_batch_norm_legit_no_training": 1, "_batch_norm_with_update": 1, "_fused_rms_norm": 1,
    "log_sigmoid_forward": 1, "_embedding_bag": 1, "_embedding_bag_forward_only": 1, "_ctc_loss": 1,
    "native_dropout": 1, "max_pool2d_with_indices": 1, "max_pool3d_with_indices": 1, "adaptive_max_pool2d": 1,
    "adaptive_max_pool3d": 1, "linalg_lstsq": 1, "_scaled_dot_product_flash_attention_for_cpu": 1,
    "_scaled_dot_product_fused_attention_overrideable": 1, "_scaled_dot_product_efficient_attention": 1,
    "_scaled_dot_product_flash_attention": 1, "_unique2": 1, "mkldnn_rnn_layer": 1, "_thnn_fused_lstm_cell": 2,
    "_thnn_fused_gru_cell": 1, "frexp": 2,
}  # fmt: skip

#: Precision is part of what these compute, so a wider reference computes something else: bit patterns, neighbours,
#: limits of the dtype, edges of bins, sources of the nearest element.
OWN_PRECISION = frozenset(
    {"nextafter", "nan_to_num", "view", "view_as", "histc", "histogram", "_histogramdd_bin_edges",
     "_histogramdd_from_bin_cts", "_histogramdd_from_bin_tensors", "hash_tensor", "frexp", "isclose", "allclose",
     "fake_quantize_per_tensor_affine_cachemask", "fake_quantize_per_channel_affine_cachemask", "upsample_nearest1d",
     "upsample_nearest2d", "upsample_nearest3d", "_upsample_nearest_exact1d", "_upsample_nearest_exact2d",
     "_upsample_nearest_exact3d", "arange", "linspace", "logspace", "quantize_per_tensor", "_conj_copy"}
)  # fmt: skip


def base_name(operator: Any) -> str:
    """The operator's name without namespace, overload and the mark of the in-place variant."""
    name: str = operator._schema.name.partition("::")[2]
    return name.rstrip("_")


def is_random(operator: Any) -> bool:
    base = base_name(operator)
    return torch.Tag.nondeterministic_seeded in operator.tags or base in _RANDOM


def first_auxiliary(operator: Any) -> int | None:
    return _AUXILIARY.get(base_name(operator))


Arguments = tuple[tuple[Any, ...], dict[str, Any]]

#: Products of the results that must give back the argument, and the pairs that they are compared with.
Pairs = list[tuple[Tensor, Tensor]]


def argument(operator: Any, given: Arguments, name: str) -> Any:
    """An argument by its parameter's name; None where it was not given."""
    args, kwargs = given
    for position, parameter in enumerate(operator._schema.arguments):
        if parameter.name == name:
            return args[position] if position < len(args) else kwargs.get(name, parameter.default_value)
    return None


def _eigh(a: Tensor, results: list[Tensor]) -> Pairs:
    values, vectors = results[:2]
    if not vectors.numel():
        return []
    return [(vectors @ torch.diag_embed(values.to(vectors.dtype)) @ vectors.mH, a)]


def _eig(a: Tensor, results: list[Tensor]) -> Pairs:
    values, vectors = results[:2]
    return [(vectors @ torch.diag_embed(values), a.to(vectors.dtype) @ vectors)]


def _svd(a: Tensor, results: list[Tensor]) -> Pairs:
    u, s, vh = results[:3]
    if not u.numel():
        return []
    rank = s.shape[-1]
    return [(u[..., :rank] @ torch.diag_embed(s.to(u.dtype)) @ vh[..., :rank, :], a)]


def _qr(a: Tensor, results: list[Tensor]) -> Pairs:
    q, r = results[:2]
    if not q.numel():
        return []
    return [(q @ r, a), (q.mH @ q, torch.eye(q.shape[-1], dtype=q.dtype).expand(*q.shape[:-2], -1, -1))]


def _geqrf(a: Tensor, results: list[Tensor]) -> Pairs:
    vectors, factors = results[:2]
    rank = min(a.shape[-2:])
    q = torch.linalg.householder_product(vectors[..., :rank], factors)
    return [(q @ vectors.triu()[..., :rank, :], a)]


def _lu_factor(a: Tensor, results: list[Tensor]) -> Pairs:
    p, lower, upper = torch.lu_unpack(results[0], results[1].int())
    return [(p @ lower @ upper, a)]


def _lu(a: Tensor, results: list[Tensor]) -> Pairs:
    p, lower, upper = results[:3]
    return [(p.to(lower.dtype) @ lower @ upper, a)] if p.numel() else [(lower @ upper, a)]


#: Factorisations whose factors are not unique: operator → parameter that was factorised, how to multiply the factors,
#: and how many of the first results are unique and in order all the same.
FACTORS: dict[str, tuple[str, Callable[[Tensor, list[Tensor]], Pairs], tuple[int, ...]]] = {
    "_linalg_eigh": ("A", _eigh, (0,)),
    "linalg_eig": ("self", _eig, ()),
    "_linalg_svd": ("A", _svd, (1,)),
    "linalg_qr": ("A", _qr, ()),
    "geqrf": ("self", _geqrf, ()),
    "linalg_lu_factor_ex": ("A", _lu_factor, (2,)),
    "_lu_with_info": ("self", _lu_factor, (2,)),
    "linalg_lu": ("A", _lu, ()),
}

#: Operators whose result beside the values are places along ``dim``: the values there must be those.
PLACES = frozenset(
    {"sort", "topk", "kthvalue", "median", "nanmedian", "max", "min", "mode", "cummax", "cummin", "msort"}
)
