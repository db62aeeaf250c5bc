"""One run of a model on a device, its modules watched, its gradients compared."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from opscan.probing.layers.copies import Copies
from opscan.probing.layers.gradients import departing_gradients
from opscan.probing.layers.report import LayerReport
from opscan.probing.layers.watching import Watch
from opscan.probing.layers.without_chance import WithoutChance
from opscan.tracing.interface import Recipe
from opscan.tracing.source import SourceLocator


def compare_layers(
    recipe: Recipe,
    device: str,
    train: bool = False,
    seed: int = 0,
    on_device: Callable[[nn.Module], None] | None = None,
) -> LayerReport:
    """Run the model of ``recipe`` on ``device`` (``npu:0``) and compare every module with the CPU.

    ``train`` runs in training mode, and compares the gradients of a scalar of its outputs besides. ``on_device`` may
    change the copy that goes to the device. Raises NoLayers where the reference leads to no module or its copies
    differ, and what the model itself raises.
    """
    copies = Copies.of(recipe, seed, train)
    if on_device is not None:
        on_device(copies.device_model)
    copies.device_model.to(device)
    locate = SourceLocator(recipe.root, os.path.dirname(torch.__file__))
    watch = Watch(copies, locate)
    put = _placement(device)
    with _in_float32() as narrowed:
        with WithoutChance() as chance, watch.following(), torch.set_grad_enabled(train):
            torch.manual_seed(seed)
            out = copies.device_model(*tree_map(put, copies.args), **tree_map(put, copies.kwargs))
        gradients = departing_gradients(copies, out) if train else ()
    departs = [layer for layer in watch.layers if layer.status == "departs"]
    notes = [*copies.notes, *(("dropout was off: it draws random numbers",) if chance.silenced else ())]
    if narrowed:
        notes.append("HF32 was off: convolutions in float32 were computed in it")
    return LayerReport(
        type(copies.device_model).__name__, device, train, tuple(watch.layers),
        departs[0] if departs else None, gradients, tuple(notes),
    )  # fmt: skip


@contextmanager
def _in_float32() -> Iterator[bool]:
    """torch_npu computes convolutions in HF32 unless told otherwise, which rounds more than their dtype explains."""
    convolutions = getattr(getattr(torch, "npu", None), "conv", None)
    before = bool(getattr(convolutions, "allow_hf32", False))
    if convolutions is not None and before:
        convolutions.allow_hf32 = False
    try:
        yield before
    finally:
        if convolutions is not None and before:
            convolutions.allow_hf32 = True


def _placement(device: str) -> Callable[[Any], Any]:
    return lambda value: value.detach().clone().to(device) if isinstance(value, Tensor) else value
