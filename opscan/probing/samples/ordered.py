"""Arguments with an order, a length or a place in memory: bounds, edges, counts, boxes, storage."""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from torch import Tensor

from opscan.probing.samples.draft import Draft, Fill
from opscan.probing.samples.kinds import draw_tensor, dtype_of


def _bounds(draft: Draft) -> None:
    """Lower bounds below upper ones: their sum of magnitudes apart, whatever their shapes."""
    for name, sign in (("min", -1), ("max", 1)):
        tensor = draft.tensors.get(name)
        if isinstance(tensor, Tensor) and tensor.dtype != torch.bool:
            draft.tensors[name] = tensor.abs() * sign if tensor.dtype.is_signed else tensor + (4 if sign > 0 else 0)


def _sorted_sequence(draft: Draft) -> None:
    draft.draw("sorted_sequence", "ascending")
    draft.draw("boundaries", "ascending")
    if draft.has("sorter"):
        shape = draft.shape("sorter")
        draft.put("sorter", torch.arange(shape[-1]).expand(shape).clone())


def _edges(draft: Draft) -> None:
    """Edges of a histogram's bins ascend."""
    bins = draft.bound.tensors.get("bins")
    if bins is None:
        return
    if isinstance(bins, tuple):
        draft.tensors["bins"] = [draw_tensor(spec, "ascending", draft.generator) for spec in bins if spec is not None]
    else:
        draft.draw("bins", "ascending")


def _counts(name: str) -> Fill:
    def fill(draft: Draft) -> None:
        draft.draw(name, "counts")

    return fill


def _repeats(draft: Draft) -> None:
    """Repetitions whose sum is the size of the result, where that was given."""
    if not draft.has("repeats"):
        return
    draft.draw("repeats", "counts")
    total, count = draft.other("output_size"), prod(draft.shape("repeats"))
    if total is not None and count:
        values = torch.full((count,), int(total) // count)
        values[: int(total) % count] += 1
        draft.put("repeats", values.reshape(draft.shape("repeats")))


def _multivariate_gamma(draft: Draft) -> None:
    draft.draw("self", "positive")
    tensor = draft.tensor("self")
    draft.tensors["self"] = tensor + int(draft.other("p", 1))


def _strided(draft: Draft) -> None:
    """Memory enough for the view that is asked for."""
    size, stride = draft.other("size", ()), draft.other("stride", ())
    offset = int(draft.other("storage_offset", 0) or 0)
    if not all(isinstance(s, int) for s in (*size, *stride)):
        return
    needed = offset + 1 + sum((s - 1) * t for s, t in zip(size, stride, strict=True) if s > 0)
    self = draft.tensor("self")
    if needed > self.numel():
        whole = draw_tensor(draft.spec("self"), "normal", draft.generator)
        more = torch.randn(max(needed, whole.numel()), generator=draft.generator).to(dtype_of(draft.spec("self")))
        draft.tensors["self"] = more.as_strided(whole.shape, whole.stride())


def _masked_scatter(draft: Draft) -> None:
    """The source has an element for each place of the mask."""
    mask, source = draft.tensor("mask"), prod(draft.shape("source"))
    spread = mask.expand(torch.broadcast_shapes(mask.shape, draft.shape("self"))).sum()
    if int(spread) > source:
        repeats = max(prod(draft.shape("self")) // max(mask.numel(), 1), 1)
        flat = torch.zeros(mask.numel(), dtype=torch.bool)
        flat[: source // repeats] = True
        draft.tensors["mask"] = flat.reshape(mask.shape)


def _attention_mask(draft: Draft) -> None:
    """Every query sees one key at least, else its result is not a number."""
    mask = draft.tensors.get("attn_mask")
    if isinstance(mask, Tensor) and mask.dtype == torch.bool and mask.dim():
        mask[..., 0] = True


def _packed(draft: Draft) -> None:
    lengths = draft.shape("lengths")
    first = bool(draft.other("batch_first", False))
    steps = draft.shape("input")[1 if first else 0]
    values = torch.linspace(steps, 1, lengths[0] if lengths else 1).round().long()
    draft.put("lengths", values.reshape(lengths))


def _boxes(width: int) -> Fill:
    """Corners (x1, y1, x2, y2) with x1 < x2 and y1 < y2; regions begin with the image that they lie in."""

    def fill(draft: Draft) -> None:
        name = "rois" if draft.has("rois") else "boxes" if draft.has("boxes") else "dets"
        count = draft.shape(name)[0]
        corner = torch.rand(count, 2, generator=draft.generator, dtype=torch.float64) * 8
        extent = torch.rand(count, 2, generator=draft.generator, dtype=torch.float64) * 8 + 1
        parts = [corner, corner + extent]
        if width == 5:
            images = draft.shape("input")[0] if draft.has("input") else 1
            parts.insert(0, torch.randint(0, max(images, 1), (count, 1), generator=draft.generator).double())
        draft.put(name, torch.cat(parts, 1))
        draft.draw("scores", "distinct")

    return fill


def _histogram_range(draft: Draft) -> None:
    draft.draw("self", "normal")


def _grouped(draft: Draft) -> None:
    """Ends of the groups along the rows that are shared out."""
    if draft.has("offs"):
        groups = draft.shape("offs")[0]
        rows: Any = draft.shape("self")
        total = rows[0] if len(rows) == 2 else rows[1]
        draft.put("offs", (torch.arange(1, groups + 1) * total) // max(groups, 1))


ORDERED: dict[str, Fill] = {
    **dict.fromkeys(("clamp", "clip", "clamp_min", "clamp_max"), _bounds),
    **dict.fromkeys(("searchsorted", "bucketize"), _sorted_sequence),
    **dict.fromkeys(("histogram", "_histogramdd_from_bin_tensors", "_histogramdd_from_bin_cts"), _edges),
    "bincount": _counts("self"),
    "one_hot": _counts("self"),
    "repeat_interleave": _repeats,
    "mvlgamma": _multivariate_gamma,
    **dict.fromkeys(("as_strided", "as_strided_copy", "as_strided_scatter"), _strided),
    "masked_scatter": _masked_scatter,
    **dict.fromkeys(
        ("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_attention_math",
         "scaled_dot_product_attention", "_scaled_dot_product_efficient_attention",
         "_scaled_dot_product_fused_attention_overrideable"),
        _attention_mask,
    ),
    "_pack_padded_sequence": _packed,
    "nms": _boxes(4),
    **dict.fromkeys(("roi_align", "_roi_align_backward", "roi_pool", "ps_roi_align", "ps_roi_pool"), _boxes(5)),
    "_grouped_mm": _grouped,
}  # fmt: skip
