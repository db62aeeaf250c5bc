"""torch's own operator database: some 600 operators with sample inputs, forward, in place, and backward."""

from __future__ import annotations

from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves

from observing.log import Attempt, Case

DTYPES = [
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
    torch.complex64,
    torch.complex128,
]
_SAMPLES = 6

#: Seconds of processor time for an operator; the CPU kernel of polygamma hardly ends on zeros.
_SECONDS = {"polygamma": 3, "special.polygamma": 3}


def cases() -> list[Case]:
    return [Case(op.name, lambda attempt, op=op: _sweep(op, attempt), _SECONDS.get(op.name, 20)) for op in op_db]


def _sweep(op: Any, attempt: Attempt) -> None:
    for dtype in DTYPES:
        if dtype not in op.dtypes:
            continue
        try:
            samples = [
                sample.transform(_onto_npu)
                for sample, _ in zip(op.sample_inputs("cpu", dtype, requires_grad=False), range(_SAMPLES), strict=False)
            ]
        except Exception:  # a sample generator may need what this build of torch lacks
            continue
        for sample in samples:
            _one(op, sample, dtype, attempt)


def _onto_npu(value: Any) -> Any:
    return value.npu() if isinstance(value, torch.Tensor) else value


def _one(op: Any, sample: Any, dtype: torch.dtype, attempt: Attempt) -> None:
    attempt("forward", lambda: op(sample.input, *sample.args, **sample.kwargs))
    if op.inplace_variant and isinstance(sample.input, torch.Tensor):
        attempt("inplace", lambda: op.inplace_variant(sample.input.clone(), *sample.args, **sample.kwargs))
    if not (dtype.is_floating_point or dtype.is_complex) or not op.supports_autograd:
        return
    tensors = [leaf for leaf in tree_leaves((sample.input, sample.args)) if isinstance(leaf, torch.Tensor)]
    leaves = [tensor.requires_grad_() for tensor in tensors if tensor.dtype == dtype]
    try:
        outputs = tree_leaves(op(sample.input, *sample.args, **sample.kwargs))
    except Exception:
        return
    outputs = [out for out in outputs if isinstance(out, torch.Tensor) and out.requires_grad]
    if leaves and outputs:
        ones = [torch.ones_like(out) for out in outputs]
        attempt("backward", lambda: torch.autograd.grad(outputs, leaves, ones, allow_unused=True))
