"""Which optimizers loop over tensors in one kernel: torch asks for the device, and knows no fake tensors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.optim import optimizer
from torch.utils import _foreach_utils

from opscan.tracing.patches import Patches


@contextmanager
def chosen_as_on(device: torch.device, foreach: bool) -> Iterator[None]:
    """Optimizers and gradient clipping choose their loops as for real tensors of ``device``.

    ``foreach``: whether torch_npu lets optimizers take such kernels on the chip; it does on Ascend910B1 and later
    (``torch_npu/utils/_optim.py``). Clipping asks torch alone, which always does.
    """
    patches = Patches()
    if device.type != "cpu" and not foreach:
        patches.set(optimizer, "_get_foreach_kernels_supported_devices", lambda: ["cuda", "xpu"])
    lists = (optimizer._foreach_supported_types, _foreach_utils._foreach_supported_types)
    for types in lists if device.type != "cpu" else ():
        types.append(FakeTensor)
    try:
        yield
    finally:
        for types in lists:
            if FakeTensor in types:
                types.remove(FakeTensor)
        patches.undo()
