"""Operators that torch_npu runs without telling the dispatcher: a dispatch mode would see neither them nor their
values.

``one_hot`` is a composition for ATen; torch_npu 2.13.0 launches aclnnOneHot from its autograd kernel, where only the
filling of the result is seen. Such a call is handed to the recorder as the operator that it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import _disable_current_modes

from opscan.probing.rehearsal.recorder import RehearsalRecorder
from opscan.tracing.patches import Patches


@contextmanager
def unseen_kernels_told(recorder: RehearsalRecorder) -> Iterator[None]:
    """Patches for the length of a rehearsal."""
    original = torch.nn.functional.one_hot

    def one_hot(tensor: torch.Tensor, num_classes: int = -1) -> torch.Tensor:
        if tensor.device.type != recorder.device.type:
            return original(tensor, num_classes)
        with _disable_current_modes():
            out: torch.Tensor = recorder.dispatch(torch.ops.aten.one_hot.default, (tensor, num_classes), {})
        return out

    patches = Patches()
    try:
        for owner in (torch.nn.functional, torch._C._nn):
            patches.set(owner, "one_hot", one_hot)
        yield
    finally:
        patches.undo()
