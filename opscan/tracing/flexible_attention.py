"""``flex_attention`` outside of ``torch.compile``: torch's own dense version, operator by operator.

Torch refuses devices that it does not know. torch_npu 2.13.0 lets the NPU through, and runs the dense version there
(observed on a simulated runtime); its release candidates do not, and of earlier releases it is not known: with them the
refusal is torch's. Stock torch calls the dense version as one higher-order operator, for which no dispatch mode has a
rule. With gradients or autocast it does more, and stays what it is: the trace ends there, and says so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from opscan.tracing.patches import Patches

_MODULE = "torch.nn.attention.flex_attention"


@contextmanager
def dense_flex_attention(torch_npu: str, device: torch.device) -> Iterator[None]:
    """For the length of a run on ``device``, as the release ``torch_npu`` has it."""
    module: Any = sys.modules.get(_MODULE)
    if module is None or not _lets_npus_through(torch_npu) or not hasattr(module, "flex_attention_hop"):
        yield
        return
    patches = Patches()
    patches.set(module, "_validate_device", lambda query, key, value: None)
    patches.set(module, "flex_attention_hop", _dense(module.flex_attention_hop, device.type))
    try:
        yield
    finally:
        patches.undo()


def _lets_npus_through(torch_npu: str) -> bool:
    major, minor = (int(part) for part in torch_npu.split(".")[:2])
    return (major, minor) >= (2, 13) and "rc" not in torch_npu


def _dense(operator: Callable[..., Any], device: str) -> Callable[..., Any]:
    from torch._higher_order_ops.flex_attention import sdpa_dense

    def run(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *others: Any) -> Any:
        trains = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (query, key, value))
        as_one = trains or torch.is_autocast_enabled(device)
        return (operator if as_one else sdpa_dense)(query, key, value, *others)

    return run
