"""torchvision beside a torch that its compiled library was not built for.

PyPI's torchvision is built for CUDA; beside a CPU build of torch its library does not load, its operators have no
schemas, and its import fails while it registers shape functions for them. Here the schemas are declared when it is
imported, and the two operators on which a detector's path depends get kernels for the CPU. Where the library loads,
nothing is touched.

Names and arguments are those of torchvision's own shape functions and derivatives, which it registers in Python.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

_BOX_POOL = "Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_BOX_POOL_GRADIENT = (
    "float spatial_scale, SymInt pooled_height, SymInt pooled_width, {}SymInt batch_size, SymInt channels, "
    "SymInt height, SymInt width"
)
_CONVOLUTION = "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, " + ", ".join(
    f"SymInt {name}"
    for name in ("stride_h", "stride_w", "pad_h", "pad_w", "dilation_h", "dilation_w", "groups", "offset_groups")
)

_SCHEMAS = {
    "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qroi_align": "(Tensor input, Tensor rois, float input_scale, int input_zero_point, float rois_scale, "
    "int rois_zero_point, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, "
    "bool aligned) -> Tensor",
    "roi_align": f"({_BOX_POOL}, int sampling_ratio, bool aligned) -> Tensor",
    "roi_pool": f"({_BOX_POOL}) -> (Tensor, Tensor)",
    "ps_roi_align": f"({_BOX_POOL}, int sampling_ratio) -> (Tensor, Tensor)",
    "ps_roi_pool": f"({_BOX_POOL}) -> (Tensor, Tensor)",
    "_roi_align_backward": f"(Tensor grad, Tensor rois, {_BOX_POOL_GRADIENT.format('')}, int sampling_ratio, "
    "bool aligned) -> Tensor",
    "_roi_pool_backward": f"(Tensor grad, Tensor rois, Tensor argmax, {_BOX_POOL_GRADIENT.format('')}) -> Tensor",
    "_ps_roi_align_backward": "(Tensor grad, Tensor rois, Tensor channel_mapping, "
    f"{_BOX_POOL_GRADIENT.format('int sampling_ratio, ')}) -> Tensor",
    "_ps_roi_pool_backward": "(Tensor grad, Tensor rois, Tensor channel_mapping, "
    f"{_BOX_POOL_GRADIENT.format('')}) -> Tensor",
    "deform_conv2d": f"({_CONVOLUTION}, bool use_mask) -> Tensor",
    "_deform_conv2d_backward": f"(Tensor grad, {_CONVOLUTION}, bool use_mask) -> "
    "(Tensor, Tensor, Tensor, Tensor, Tensor)",
}


class _BeforeImport(importlib.abc.MetaPathFinder):
    """Finds nothing; acts when torchvision's parts are looked for: first ``torchvision.extension``, which tries to load
    the library, then all others, which ask it.
    """

    def __init__(self) -> None:
        self._declared = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname == "torchvision.extension" and path and not _library_loads(Path(next(iter(path)))):
            _declare()
            self._declared = True
        elif fullname.startswith("torchvision.") and self._declared:
            extension = sys.modules.get("torchvision.extension")
            if extension is not None:
                extension._has_ops = lambda: True  # type: ignore[attr-defined]
                extension._check_cuda_version = lambda: -1  # type: ignore[attr-defined]
        return None


def ensure_importable() -> None:
    """For this process, once: whoever imports torchvision later finds its operators."""
    if "torchvision" not in sys.modules and not any(isinstance(f, _BeforeImport) for f in sys.meta_path):
        sys.meta_path.insert(0, _BeforeImport())


def _library_loads(package: Path) -> bool:
    """Whether the compiled operators load, as torchvision itself tries."""
    import torch

    for library in sorted(package.glob("_C*.so")):
        try:
            torch.ops.load_library(str(library))
        except OSError:
            return False
        return True
    return False


def _declare() -> None:
    import torch

    for name, schema in _SCHEMAS.items():
        with suppress(RuntimeError):  # declared already, by the user's own code
            torch.library.define(f"torchvision::{name}", schema)
    torch.library.impl("torchvision::nms", "CPU")(_nms)
    torch.library.impl("torchvision::roi_align", "CPU")(_roi_align)


def _nms(dets: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """Indices of the boxes that are kept, by falling score."""
    import torch
    from torchvision.ops import box_iou

    order = scores.argsort(descending=True, stable=True)
    dropped = torch.zeros(len(dets), dtype=torch.bool)
    kept: list[int] = []
    for index in order.tolist():
        if not dropped[index]:
            kept.append(index)
            dropped |= box_iou(dets[index : index + 1], dets)[0] > iou_threshold
    return torch.tensor(kept, dtype=torch.long)


def _roi_align(
    input: torch.Tensor,
    rois: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> torch.Tensor:
    """By torchvision's own formula in tensor operators."""
    from torchvision.ops import roi_align as module

    function = sys.modules[module.__module__]._roi_align
    pooled: torch.Tensor = function(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned)
    return pooled
