"""What torch_npu's own kernels call, for operators that it takes away from stock torch's decompositions or derivatives.

Every entry was observed with the real torch_npu 2.13.0 on a simulated runtime, under a dispatch mode, forward and
backward; ``benchmarks/agreement.py`` repeats the comparison on whole models. Two kinds:

- ``LEAVES``: the operator itself reaches the device. Its value lists the operators of its backward, where the adapter
  has a derivative of its own, by the parameter whose gradient they make where those differ, or by the call's own
  arguments; None where stock torch's derivative serves.
- ``rewrites.py``: operators whose kernel is a composition of others, and those of ATen's own that read memory.

Composite operators that a release registers and neither names decompose in the adapter as they do in stock torch
(``log_sigmoid``, ``argsort`` …).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.utils._pytree import tree_leaves

from opscan.tracing.adapter.leaf import leaf
from opscan.tracing.adapter.rewrites import READS_MEMORY, REWRITES
from opscan.tracing.virtual_npu import never

if TYPE_CHECKING:
    from opscan.tracing.recorder import Recorder

Backward = tuple[str, ...] | dict[str, tuple[str, ...]] | Callable[[torch.Tensor, torch.Tensor], tuple[str, ...]]


def _matmul_backward(self: torch.Tensor, other: torch.Tensor) -> tuple[str, ...]:
    """An input that is several matrices, repeated for the product, has its gradient summed over the repetitions."""
    repeated = torch.broadcast_shapes(self.shape[:-2], other.shape[:-2])
    sums = [
        "aten::sum.dim_IntList"
        for t in (self, other)
        if t.requires_grad and t.shape[:-2] != repeated and math.prod(t.shape[:-2]) > 1
    ]
    return ("aten::matmul_backward", *sums)


LEAVES: dict[str, Backward | None] = {
    "aten::matmul": _matmul_backward,
    "aten::gather": ("npu::npu_gather_backward",),
    "aten::kl_div": {"self": ("npu::kl_div_backward",), "target": ("npu::kl_div_target_backward",)},
    "aten::l1_loss": {
        "self": ("npu::l1_loss_backward",),
        "target": ("npu::l1_loss_backward", "aten::mul.Scalar"),
    },
    "aten::binary_cross_entropy_with_logits": {"self": ("npu::npu_binary_cross_entropy_with_logits_backward",)},
    "aten::repeat_interleave.self_int": ("npu::repeat_interleave_backward_int",),
    "aten::repeat_interleave.self_Tensor": ("npu::repeat_interleave_backward_tensor",),
    "aten::renorm": ("npu::npu_renorm_backward",),
    "aten::stft": ("npu::stft_backward",),
    "aten::_fft_r2c": ("npu::fft_r2c_backward",),
    "aten::_fft_c2r": ("npu::fft_c2r_backward",),
    "aten::inverse": ("aten::transpose.int", "aten::matmul", "aten::transpose.int", "aten::matmul", "aten::neg"),
    "aten::linalg_cholesky": (
        "aten::transpose.int",
        "aten::matmul",
        "aten::tril",
        "aten::add.Tensor",
        "aten::mul.Scalar",
        "aten::linalg_solve_triangular",
    ),
    "aten::cdist": {
        "x1": ("aten::_cdist_backward",),
        "x2": ("aten::transpose.int", "aten::clone", "aten::transpose.int", "aten::clone", "aten::_cdist_backward"),
    },
    "aten::isclose": None,
    "aten::isfinite": None,
    "aten::silu_backward": None,
    "aten::mish_backward": None,
}

#: Leaves whose backward takes the gradient and no tensor of the forward.
_OF_THE_GRADIENT_ALONE = frozenset({"aten::_fft_r2c", "aten::_fft_c2r"})


def install(recorder: Recorder, registered: frozenset[str], differentiable: frozenset[str]) -> torch.library.Library:
    """Register kernels for the operators above that the release registers. Keep the library alive for the trace.

    Where the trace runs on the CPU for want of a virtual device, the CPU takes them on, as far as stock torch has no
    CPU kernel of its own in their place.
    """
    library = torch.library.Library("aten", "IMPL")
    on_cpu = recorder.device.type == "cpu"
    backend, autograd = ("CPU", "AutogradCPU") if on_cpu else ("PrivateUse1", "AutogradPrivateUse1")
    for name, backward in LEAVES.items():
        if name not in registered or (on_cpu and not _is_composite(name)):
            continue
        func = _overload(name)
        library.impl(_short(name), _stock(func) if on_cpu else never, backend)
        if backward is not None and name in differentiable:
            kernel = _differentiable_leaf(func, backward, recorder, name in _OF_THE_GRADIENT_ALONE)
            library.impl(_short(name), kernel, autograd)
        elif backward is not None and _is_composite(name):
            library.impl(_short(name), _composed(func, name, recorder), autograd)
    for name, rewrite in (REWRITES | READS_MEMORY).items():
        if (name in registered or name in READS_MEMORY) and (not on_cpu or _is_composite(name)):
            kernel = _above_autograd(_overload(name), rewrite, recorder, registered)
            library.impl(_short(name), kernel, autograd)
            library.impl(_short(name), kernel, backend)
    return library


def _short(name: str) -> str:
    return name.partition("::")[2]


def _is_composite(name: str) -> bool:
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return has(name, "CompositeImplicitAutograd") and not has(name, "CPU")


def _stock(func: Any) -> Callable[..., Any]:
    """Stock torch's decomposition, for the real tensors of a trace on the CPU."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        return func.decompose(*args, **kwargs)

    return kernel


def _beside_real_tensors(func: Any, traced: Callable[..., Any]) -> Callable[..., Any]:
    """``traced`` for the fake tensors of the trace, and those that AOT autograd wraps. Real ones compute beside a trace
    on the CPU, and are no part of it: they take stock torch's decomposition.
    """
    stock = _stock(func)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        is_traced = any(isinstance(t, (FakeTensor, FunctionalTensor)) for t in tree_leaves((args, kwargs)))
        return traced(*args, **kwargs) if is_traced else stock(*args, **kwargs)

    return kernel


def _overload(name: str) -> Any:
    namespace, _, rest = name.partition("::")
    packet, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")


def _above_autograd(
    func: Any, rewrite: Callable[..., Any], recorder: Recorder, registered: frozenset[str]
) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        return rewrite(recorder, registered, *args, **kwargs)

    return _beside_real_tensors(func, kernel)


def _differentiable_leaf(
    func: Any, backward: Backward, recorder: Recorder, of_the_gradient_alone: bool
) -> Callable[..., Any]:
    def gradients(given: list[torch.Tensor], inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        return given

    def kernel(*args: Any, **kwargs: Any) -> Any:
        arguments = gradients if of_the_gradient_alone else None
        names = _of_wanted_gradients(backward, func, args, kwargs)
        return leaf(recorder, lambda a, k: func(*a, **k), names, args, kwargs, arguments)

    return _beside_real_tensors(func, kernel)


def _of_wanted_gradients(backward: Backward, func: Any, args: Any, kwargs: Any) -> tuple[str, ...]:
    """The operators of a backward, of those gradients that are asked for."""
    if isinstance(backward, tuple):
        return backward
    if callable(backward):
        return backward(*args, **kwargs)
    given = {p.name: v for p, v in zip(func._schema.arguments, args, strict=False)} | kwargs
    wanted = [n for n in backward if isinstance(given.get(n), torch.Tensor) and given[n].requires_grad]
    return tuple(operator for name in wanted for operator in backward[name])


def _composed(func: Any, name: str, recorder: Recorder) -> Callable[..., Any]:
    """A kernel without a derivative: where gradients are needed, they are those of the operators that it is made of."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        tensors = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        if not (torch.is_grad_enabled() and any(t.requires_grad for t in tensors)):
            with torch._C._AutoDispatchBelowAutograd():
                return func(*args, **kwargs)
        out = func.decompose(*args, **kwargs)
        recorder.emit(name, tensors, [out])
        return out

    return _beside_real_tensors(func, kernel)
