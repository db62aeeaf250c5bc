"""Operators that take tensors of two devices, and those whose arguments must all be on one."""

from __future__ import annotations

from typing import Any

import torch

from opscan.tracing.signature import qualified

_MAY_CROSS = frozenset(
    {
        "aten::_to_copy",
        "aten::copy_",
        "aten::copy",
        "aten::set_.source_Tensor",
        "aten::_copy_from",
        "aten::_pack_padded_sequence",
        "npu::npu_lstm_data",  # the lengths of a packed sequence stay on the host
        "npu::npu_lstm_data_backward",
    }
)


#: Parameters that have to be on the host, by operator: position.
ON_HOST = {"aten::_pack_padded_sequence": 1, "aten::tensor_split.tensor_indices_or_sections": 1}


def strays_among(func: Any, tensors: list[torch.Tensor], device: str) -> bool:
    """Whether tensors of the CPU stand among those of ``device`` where the operator would refuse them. Numbers (tensors
    without dimensions) may.
    """
    if func.namespace == "npu":  # the adapter's own keep seeds and offsets on the host
        return False
    if not any(t.device.type == device for t in tensors):
        return False
    strays = any(t.device.type == "cpu" and t.dim() > 0 for t in tensors)
    return strays and not _crosses_devices(func, tensors)


def _crosses_devices(func: Any, leaves: list[torch.Tensor]) -> bool:
    """Copies cross devices by design; indexing takes index tensors from the CPU."""
    name = qualified(func)
    if name in _MAY_CROSS:
        return True
    return name.startswith(("aten::index", "aten::_index")) and leaves[0].device.type != "cpu"
