"""Whether the CPU takes the arguments that are made for a call: the check of the sampler itself."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from opscan.inventory import OpCall
from opscan.probing.samples.drawing import draw
from opscan.probing.samples.interface import Unsampled
from opscan.probing.signature import signature_of


def try_on_cpu(call: OpCall, seed: int = 0) -> str:
    """``ok`` where the CPU kernel ran and no result holds NaN; else what happened."""
    try:
        sample = draw(signature_of(call), seed)
    except Unsampled as error:
        return f"unsampled: {error.reason}"
    args, kwargs = sample.placed(lambda tensor: tensor)
    inputs = [t for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor)]
    if any(holds_nan(t) for t in inputs):
        return "an argument holds NaN"
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            results = sample.operator(*args, **kwargs)
    except Exception as error:
        return f"raised: {str(error).strip().partition(chr(10))[0][:200]}"
    if sample.operator._schema.name.startswith(("aten::empty", "aten::new_empty", "aten::resize")):
        return "ok"  # what they return is whatever was there
    return "NaN" if any(holds_nan(t) for t in tree_leaves(results) if isinstance(t, Tensor)) else "ok"


def holds_nan(tensor: Tensor) -> bool:
    if not (tensor.is_floating_point() or tensor.is_complex()) or tensor.layout is not torch.strided:
        return False
    return bool(tensor.isnan().any())
