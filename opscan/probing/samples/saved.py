"""What backward operators are given from the forward run: statistics, masks, indices, results. They fit the inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from opscan.probing.samples.draft import Draft, Fill
from opscan.probing.samples.indices import embedding_bag
from opscan.probing.samples.interface import Derived, Place
from opscan.probing.samples.kinds import draw_tensor

_EPS = 1e-5


def _normalised(function: Callable[..., Tensor]) -> Fill:
    """``output`` of a softmax."""

    def fill(draft: Draft) -> None:
        spec = draft.spec("output")
        values = torch.randn(draft.shape("output"), generator=draft.generator, dtype=torch.float64)
        assert spec is not None
        draft.put("output", function(values, int(draft.other("dim", -1))))

    return fill


def _layer_norm(draft: Draft) -> None:
    wide = draft.tensor("input").double()
    dims = tuple(range(-len(draft.other("normalized_shape", ())), 0))
    draft.put("mean", wide.mean(dims, keepdim=True).reshape(draft.shape("mean")))
    draft.put("rstd", (wide.var(dims, keepdim=True, correction=0) + _EPS).rsqrt().reshape(draft.shape("rstd")))


def _rms_norm(draft: Draft) -> None:
    wide = draft.tensor("input").double()
    dims = tuple(range(-len(draft.other("normalized_shape", ())), 0))
    draft.put("rstd", (wide.square().mean(dims, keepdim=True) + _EPS).rsqrt().reshape(draft.shape("rstd")))


def _group_norm(draft: Draft) -> None:
    groups, batch = int(draft.other("group", 1)), int(draft.other("N", 1))
    wide = draft.tensor("input").double().reshape(batch, groups, -1)
    draft.put("mean", wide.mean(-1))
    draft.put("rstd", (wide.var(-1, correction=0) + _EPS).rsqrt())


def _batch_norm(draft: Draft) -> None:
    """Statistics of the batch, where they were saved; an empty tensor stands for none."""
    wide = draft.tensor("input").double()
    dims = tuple(d for d in range(wide.dim()) if d != 1)
    eps = float(draft.other("eps", draft.other("epsilon", _EPS)))
    inverse = (wide.var(dims, correction=0) + eps).rsqrt()
    for name, value in (("save_mean", wide.mean(dims)), ("save_invstd", inverse), ("save_var", inverse)):
        if draft.has(name) and draft.shape(name) != (0,):
            draft.put(name, value)


def _pool(forward: str, parameters: tuple[str, ...]) -> Fill:
    """Indices of the largest elements. The device's own, where it keeps them in another dtype than the CPU."""

    def fill(draft: Draft) -> None:
        draft.draw("self", "distinct")
        run = getattr(torch.ops.aten, forward)
        arguments = [draft.other(name) for name in parameters]
        self = draft.tensor("self")
        _give(draft, "indices", lambda place: run(place(self), *arguments)[1], torch.int64)

    return fill


def _adaptive_pool(forward: str, planar: int) -> Fill:
    def fill(draft: Draft) -> None:
        draft.draw("self", "distinct")
        run, size = getattr(torch.ops.aten, forward), list(draft.shape("grad_output")[-planar:])
        self = draft.tensor("self")
        _give(draft, "indices", lambda place: run(place(self), size)[1], torch.int64)

    return fill


def _fractional_pool(forward: str, planar: int) -> Fill:
    def fill(draft: Draft) -> None:
        draft.draw("self", "distinct")
        self = draft.tensor("self")
        leading = (1, *self.shape)[-planar - 2 : -planar]
        samples = torch.rand((*leading, planar), generator=draft.generator).to(self.dtype)
        run = getattr(torch.ops.aten, forward)
        _, indices = run(self, draft.other("kernel_size"), draft.other("output_size"), samples)
        draft.put("indices", indices)

    return fill


def _give(draft: Draft, name: str, make: Callable[[Place], Any], on_cpu: torch.dtype) -> None:
    """From the CPU where the recorded dtype is what it returns; else to be made on the device."""
    if draft.spec(name).dtype == str(on_cpu).removeprefix("torch."):
        draft.put(name, make(lambda tensor: tensor))
    else:
        draft.tensors[name] = Derived(make)


def _dropout(draft: Draft) -> None:
    grad = draft.tensor("grad_output")
    if draft.spec("mask").dtype != "bool":
        scale = float(draft.other("scale", 2.0))
        keep = 1.0 - 1.0 / scale if scale > 1 else 0.0
        draft.tensors["mask"] = Derived(lambda place: torch.ops.aten.native_dropout(place(grad), keep, True)[1])


def _distance(draft: Draft) -> None:
    p = float(draft.other("p", 2.0))
    if draft.bound.base == "_pdist_backward":
        return draft.put("pdist", torch.pdist(draft.tensor("self").double(), p))
    mode = "donot_use_mm_for_euclid_dist"
    draft.put("cdist", torch.cdist(draft.tensor("x1").double(), draft.tensor("x2").double(), p, mode))


def _elu(draft: Draft) -> None:
    if draft.other("is_result", False):
        values = draft.tensor("self_or_result").double()
        alpha, scale, inner = (float(draft.other(n, 1.0)) for n in ("alpha", "scale", "input_scale"))
        draft.put("self_or_result", torch.ops.aten.elu(values, alpha, scale, inner))


def _log_sigmoid(draft: Draft) -> None:
    buffer = (-draft.tensor("self").double().abs()).exp()
    if draft.shape("buffer") == tuple(buffer.shape):
        draft.put("buffer", buffer)


def _rrelu(draft: Draft) -> None:
    low, high = float(draft.other("lower", 0.125)), float(draft.other("upper", 1 / 3))
    noise = torch.rand(draft.shape("noise"), generator=draft.generator, dtype=torch.float64) * (high - low) + low
    draft.put("noise", noise)


def _attention(draft: Draft) -> None:
    query, key, value = (draft.tensor(n).double() for n in ("query", "key", "value"))
    causal, scale = bool(draft.other("is_causal", False)), draft.other("scale")
    mask = draft.tensors.get("attn_mask")
    mask = mask.double() if isinstance(mask, Tensor) and mask.is_floating_point() else mask
    out, sums = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        query, key, value, 0.0, causal, attn_mask=mask, scale=scale
    )
    draft.put("out", out)
    draft.put("logsumexp", sums)


def _bag(draft: Draft) -> None:
    """What ``_embedding_bag`` returns beside the sums: which bag an index is in, sizes of bags, maxima."""
    embedding_bag(draft)
    weights = draft.tensors.get("per_sample_weights")
    table = draft.tensors.get("weight")
    width = draft.shape("grad")[-1] if draft.has("grad") else 1
    if table is None:
        table = torch.randn(int(draft.other("num_weights", 1)), width, generator=draft.generator)
    mode = int(draft.other("mode", 0))
    results = torch.ops.aten._embedding_bag(
        table.double(), draft.tensor("indices"), draft.tensor("offsets"), mode=mode,
        per_sample_weights=None if weights is None else weights.double(),
        padding_idx=int(draft.other("padding_idx", -1)),
    )  # fmt: skip
    for name, result in zip(("offset2bag", "bag_size", "maximum_indices"), results[1:], strict=True):
        if draft.has(name) and tuple(result.shape) == draft.shape(name):
            draft.put(name, result)
        elif draft.has(name):
            draft.draw(name, "zeros")


def _weight_norm(draft: Draft) -> None:
    saved = draft.tensor("saved_v").double()
    dim = int(draft.other("dim", 0)) % saved.dim()
    norms = saved.norm(2, tuple(d for d in range(saved.dim()) if d != dim), keepdim=True)
    draft.put("saved_norms", norms.reshape(draft.shape("saved_norms")))


def _segments(draft: Draft) -> None:
    name = "data"
    size = draft.shape(name)[int(draft.other("axis", 0))]
    for lengths in ("lengths", "offsets"):
        if draft.has(lengths):
            shape = draft.shape(lengths)
            count = shape[-1] - (lengths == "offsets")
            edges = torch.arange(count + 1) * size // max(count, 1)
            values = edges if lengths == "offsets" else edges.diff()
            draft.put(lengths, values.expand(shape).clone())
    if draft.has("output"):
        run = torch.ops.aten.segment_reduce
        given = {n: draft.tensors.get(n) for n in ("lengths", "offsets")}
        axis, initial = int(draft.other("axis", 0)), draft.other("initial")
        result = run(
            draft.tensor(name).double(),
            str(draft.other("reduce", "sum")),
            **given,
            axis=axis,
            initial=initial,
            unsafe=True,
        )
        draft.put("output", result)


def _nothing_random(draft: Draft) -> None:
    """Seeds of a saved random state, which nothing but the device's own forward can tell."""
    for name in ("philox_seed", "philox_offset"):
        if draft.has(name):
            draft.tensors[name] = draw_tensor(draft.spec(name), "zeros", draft.generator)


_POOL = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

SAVED: dict[str, Fill] = {
    "_softmax_backward_data": _normalised(torch.softmax),
    "_log_softmax_backward_data": _normalised(torch.log_softmax),
    "native_layer_norm_backward": _layer_norm,
    "_fused_rms_norm_backward": _rms_norm,
    "native_group_norm_backward": _group_norm,
    **dict.fromkeys(("native_batch_norm_backward", "batch_norm_backward", "cudnn_batch_norm_backward"), _batch_norm),
    "max_pool2d_with_indices_backward": _pool("max_pool2d_with_indices", _POOL),
    "max_pool3d_with_indices_backward": _pool("max_pool3d_with_indices", _POOL),
    "adaptive_max_pool2d_backward": _adaptive_pool("adaptive_max_pool2d", 2),
    "adaptive_max_pool3d_backward": _adaptive_pool("adaptive_max_pool3d", 3),
    "fractional_max_pool2d_backward": _fractional_pool("fractional_max_pool2d", 2),
    "fractional_max_pool3d_backward": _fractional_pool("fractional_max_pool3d", 3),
    "native_dropout_backward": _dropout,
    **dict.fromkeys(("_cdist_backward", "_pdist_backward"), _distance),
    "elu_backward": _elu,
    "log_sigmoid_backward": _log_sigmoid,
    **dict.fromkeys(("rrelu_with_noise", "rrelu_with_noise_backward"), _rrelu),
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention,
    **dict.fromkeys(
        ("_embedding_bag_backward", "_embedding_bag_dense_backward", "_embedding_bag_per_sample_weights_backward"), _bag
    ),
    "_weight_norm_interface_backward": _weight_norm,
    **dict.fromkeys(("segment_reduce", "_segment_reduce_backward"), _segments),
}
