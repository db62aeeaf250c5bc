"""Whether an exported model computes what the module does: both run on the same inputs, on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

#: |difference| ≤ ``absolute`` × (1 + largest magnitude expected) + ``relative`` × |expected|. The two run other
#: kernels, in another order; a wrong value differs by more than a thousandth.
_RELATIVE = {torch.float16: 2e-2, torch.bfloat16: 5e-2}
_RELATIVE_DEFAULT, _ABSOLUTE = 1e-3, 1e-4


@dataclass(frozen=True, slots=True)
class Compared:
    """``output`` and ``detail`` tell of the first output that differs; ``skipped`` says why nothing was compared."""

    output: str = ""
    detail: str = ""
    skipped: str = ""


def compare(exported: bytes, inputs: Sequence[torch.Tensor], expected: Sequence[torch.Tensor]) -> Compared:
    """Run the exported model in onnxruntime. ``expected``: what the module returned, flattened."""
    try:
        import onnxruntime
    except ImportError as error:
        return Compared(skipped=f"onnxruntime is not there: {error}")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(exported, options, providers=["CPUExecutionProvider"])
        names = [each.name for each in session.get_inputs()]
        if len(names) != len(inputs):
            return Compared(skipped=f"the exported model takes {len(names)} inputs, the module {len(inputs)} tensors")
        given = {name: tensor.detach().numpy() for name, tensor in zip(names, inputs, strict=True)}
        results = session.run(None, given)
    except Exception as error:  # onnxruntime's own errors have no common base
        return Compared(skipped=f"onnxruntime does not run it: {_first_line(error)}")
    outputs = [each.name for each in session.get_outputs()]
    if len(results) != len(expected):
        return Compared(skipped=f"the exported model has {len(results)} outputs, the module {len(expected)}")
    for name, found, wanted in zip(outputs, results, expected, strict=True):
        if difference := _difference(torch.as_tensor(found), wanted.detach()):
            return Compared(name, difference)
    return Compared()


def _difference(found: torch.Tensor, wanted: torch.Tensor) -> str:
    """What differs, in a few words; empty where nothing does."""
    if found.shape != wanted.shape:
        return f"shape {list(found.shape)} instead of {list(wanted.shape)}"
    if found.dtype != wanted.dtype:
        return f"{found.dtype} instead of {wanted.dtype}".replace("torch.", "")
    if not wanted.numel():
        return ""
    if not wanted.is_floating_point():
        return "" if torch.equal(found, wanted) else f"{int((found != wanted).sum())} of {wanted.numel()} values"
    a, b = found.double(), wanted.double()
    largest = b[b.isfinite()].abs().max().item() if b.isfinite().any() else 0.0
    relative = _RELATIVE.get(wanted.dtype, _RELATIVE_DEFAULT)
    if torch.allclose(a, b, relative, _ABSOLUTE * (1 + largest), equal_nan=True):
        return ""
    return f"by up to {(a - b).abs().nan_to_num(0.0).max().item():.3g}, where values reach {largest:.3g}"


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def tensors(tree: Any) -> list[torch.Tensor]:
    """The tensors of nested arguments or results, in order."""
    return [leaf for leaf in torch.utils._pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
