"""Losses and their derivatives: targets that name classes, lengths that fit, weights and results of the forward run."""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor

from opscan.probing.samples.draft import Draft, Fill
from opscan.probing.samples.kinds import dtype_of


def _nll(draft: Draft) -> None:
    """Classes lie in dimension 1, or 0 without a batch; ``total_weight`` is the sum over the targets' weights."""
    shape = draft.shape("self")
    classes = shape[0] if len(shape) == 1 else shape[1]
    draft.below("target", classes)
    draft.draw("weight", "positive")
    if draft.has("total_weight"):
        draft.put("total_weight", _total_weight(draft))


def _total_weight(draft: Draft) -> Tensor:
    target = draft.tensor("target").long()
    kept = target[target != int(draft.other("ignore_index", -100))]
    weights = draft.tensors["weight"].double() if draft.has("weight") else torch.ones(draft.shape("self")[-1] + 1)
    total = weights[kept].sum() if draft.has("weight") else torch.tensor(float(kept.numel()))
    return total.reshape(draft.shape("total_weight"))


def _multi_margin(draft: Draft) -> None:
    shape = draft.shape("self")
    draft.below("target", shape[-1] if shape else 1)
    draft.draw("weight", "positive")


def _multilabel_margin(draft: Draft) -> None:
    """Labels of a row come first and differ; -1 ends them. ``is_target`` marks the classes named."""
    shape = draft.shape("target")
    width = shape[-1] if shape else 1
    if not prod(shape):
        return
    order = torch.rand((*shape[:-1], width), generator=draft.generator).argsort(-1)
    order[..., (width + 1) // 2 :] = -1
    draft.put("target", order.reshape(shape))
    if draft.has("is_target"):
        marks = torch.zeros((*shape[:-1], width + 1)).scatter_(-1, order % (width + 1), 1.0)
        draft.put("is_target", marks[..., :width].reshape(draft.shape("is_target")))


def _ctc(draft: Draft) -> None:
    """Log probabilities over the last dimension; targets leave the blank out; lengths fit both tensors."""
    draft.draw("log_probs", "log_probabilities")
    steps, batch, classes = (*draft.shape("log_probs"), 1, 1)[:3]
    blank = int(draft.other("blank", 0))
    shape = draft.shape("targets")
    labels = torch.randint(0, max(classes - 1, 1), shape, generator=draft.generator)
    draft.put("targets", labels + (labels >= blank).long())
    longest = shape[-1] if len(shape) > 1 else prod(shape) // max(batch, 1)
    if draft.has("log_alpha"):  # its width tells the longest target
        longest = (draft.shape("log_alpha")[-1] - 1) // 2
    targets = [min(longest, steps // 2)] * batch if not draft.has("log_alpha") else [longest] * batch
    inputs = [steps] * batch
    if len(shape) == 1:  # targets of the whole batch one behind the other
        rest, others = prod(shape) - longest, max(batch - 1, 1)
        targets = [longest, *((rest * (i + 1)) // others - (rest * i) // others for i in range(batch - 1))]
    for name, lengths in (("input_lengths", inputs), ("target_lengths", targets)):
        if draft.has(name):
            draft.put(name, torch.tensor(lengths).reshape(draft.shape(name)))
    if draft.has("neg_log_likelihood"):
        _ctc_results(draft)


def _ctc_results(draft: Draft) -> None:
    given = {name: draft.tensors.get(name, draft.other(name)) for name in ("input_lengths", "target_lengths")}
    loss, alpha = torch.ops.aten._ctc_loss(
        draft.tensor("log_probs").double(),
        draft.tensor("targets"),
        given["input_lengths"],
        given["target_lengths"],
        int(draft.other("blank", 0)),
    )
    draft.put("neg_log_likelihood", loss)
    draft.put("log_alpha", alpha.nan_to_num(float("-inf"), neginf=float("-inf")))  # not written beyond a target's end


def _soft_margin(draft: Draft) -> None:
    target = draft.spec("target")
    signs = torch.randint(0, 2, draft.shape("target"), generator=draft.generator) * 2 - 1
    draft.tensors["target"] = signs.to(dtype_of(target))


LOSSES: dict[str, Fill] = {
    **dict.fromkeys(
        ("nll_loss_forward", "nll_loss_backward", "nll_loss2d_forward", "nll_loss2d_backward", "nll_loss", "nll_loss2d",
         "npu_cross_entropy_loss"),
        _nll,
    ),
    **dict.fromkeys(("multi_margin_loss", "multi_margin_loss_backward"), _multi_margin),
    **dict.fromkeys(("multilabel_margin_loss_forward", "multilabel_margin_loss_backward"), _multilabel_margin),
    **dict.fromkeys(("_ctc_loss", "_ctc_loss_backward", "ctc_loss"), _ctc),
    **dict.fromkeys(("soft_margin_loss", "soft_margin_loss_backward"), _soft_margin),
}  # fmt: skip
