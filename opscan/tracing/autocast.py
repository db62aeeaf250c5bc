"""Mixed precision on the virtual ``npu``: which operators ``torch.autocast`` casts the arguments of, and to what.

Which operators have an autocast kernel is read from the release's registrations; what such a kernel does is ATen's
own policy for that operator (``ATen/autocast_mode.h``), which torch_npu follows. Confirmed against the real torch_npu
2.13.0 on a simulated runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from opscan.tracing.patches import Patches

_KEY = "AutocastPrivateUse1"

#: Computed in the dtype of the autocast context.
_LOWER = frozenset(
    {
        "_convolution", "_convolution.deprecated", "_scaled_dot_product_flash_attention", "_thnn_fused_gru_cell",
        "_thnn_fused_lstm_cell", "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "chain_matmul", "conv1d",
        "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input",
        "convolution", "einsum", "gru_cell", "linalg_multi_dot", "linalg_vecdot", "linear", "lstm_cell", "matmul",
        "mm", "mv", "prelu", "rnn_relu_cell", "rnn_tanh_cell", "scaled_dot_product_attention",
    }
)  # fmt: skip

#: Computed in float32.
_FLOAT32 = frozenset(
    {
        "acos", "asin", "binary_cross_entropy_with_logits", "cdist", "cosh", "cosine_embedding_loss",
        "cosine_similarity", "dist", "erfinv", "exp", "expm1", "frobenius_norm.dim", "group_norm",
        "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "layer_norm", "log", "log10", "log1p", "log2",
        "logsumexp", "margin_ranking_loss", "mse_loss", "multi_margin_loss", "multilabel_margin_loss",
        "native_layer_norm", "nll_loss", "nll_loss2d", "nuclear_norm", "nuclear_norm.dim", "pdist",
        "poisson_nll_loss", "pow.Scalar", "pow.Tensor_Scalar", "pow.Tensor_Tensor", "reciprocal", "renorm",
        "rms_norm", "rsqrt", "sinh", "smooth_l1_loss", "soft_margin_loss", "softplus", "tan", "triplet_margin_loss",
    }
)  # fmt: skip

#: Asked for a result in float32, where the call names no dtype.
_FLOAT32_RESULT = frozenset(
    {
        "cumprod", "cumsum", "linalg_matrix_norm", "linalg_matrix_norm.str_ord", "linalg_vector_norm",
        "log_softmax.int", "prod", "prod.dim_int", "softmax.int", "sum", "sum.dim_IntList",
    }
)  # fmt: skip

#: Computed in the widest dtype among the arguments, at least that of the context.
_WIDEST = frozenset(
    {
        "addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "grid_sampler", "index_put", "scatter_add",
        "tensordot", "vdot",
    }
)  # fmt: skip


@contextmanager
def autocasting(device: torch.device, registered: frozenset[str], bfloat16: bool = True) -> Iterator[None]:
    """Autocast kernels for ``registered``, the operators with one in the release, for the length of a trace.

    ``bfloat16``: whether torch_npu lists it among autocast's dtypes on the chip; elsewhere torch switches autocast off.
    """
    others = torch.library.Library("_", "IMPL")
    others.fallback(torch.library.fallthrough_kernel, _KEY)
    library = torch.library.Library("aten", "IMPL")
    casts = _Casts(device)
    for name in sorted(registered):
        short = name.removeprefix("aten::")
        policy = casts.policy(short)
        if policy is not None:
            library.impl(short, policy, _KEY)
    patches = Patches()
    patches.set(torch, "clear_autocast_cache", casts.forget)
    module: Any = torch.get_device_module(device)
    lower = [torch.float16, torch.bfloat16] if bfloat16 else [torch.float16]
    patches.set(module, "get_amp_supported_dtype", lambda: [*lower, torch.float32])
    patches.set(module, "is_bf16_supported", lambda *args, **kwargs: bfloat16)
    try:
        yield
    finally:
        patches.undo()
        library._destroy()
        others._destroy()


class _Casts:
    """Casts of one trace. Those of parameters are kept until the outermost context ends, as autocast's own cache
    does.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._kept: dict[tuple[int, torch.dtype], tuple[torch.Tensor, torch.Tensor]] = {}
        self._keys = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, _KEY))

    def forget(self) -> None:
        """The outermost context ended."""
        self._kept.clear()

    def policy(self, short: str) -> Callable[..., Any] | None:
        packet, _, overload = short.partition(".")
        if not hasattr(torch.ops.aten, packet):
            return None
        func = getattr(getattr(torch.ops.aten, packet), overload or "default", None)
        for names, kernel in (
            (_LOWER, self._lower),
            (_FLOAT32, self._float32),
            (_FLOAT32_RESULT, self._float32_result),
            (_WIDEST, self._widest),
        ):
            if func is not None and short in names:
                return lambda *args, _k=kernel, **kwargs: _k(func, args, kwargs)
        return None

    def _lower(self, func: Any, args: Any, kwargs: Any) -> Any:
        return self._call(func, args, kwargs, torch.get_autocast_dtype(self._device.type))

    def _float32(self, func: Any, args: Any, kwargs: Any) -> Any:
        return self._call(func, args, kwargs, torch.float32)

    def _float32_result(self, func: Any, args: Any, kwargs: Any) -> Any:
        names = [p.name for p in func._schema.arguments[: len(args)]]
        given = kwargs.get("dtype") or dict(zip(names, args, strict=True)).get("dtype")
        if given is None and self._is_eligible(args[0]):
            kwargs = {**kwargs, "dtype": torch.float32}
            if "dtype" in names:
                args = tuple(a for n, a in zip(names, args, strict=True) if n != "dtype")
        return self._call(func, args, kwargs, None)

    def _widest(self, func: Any, args: Any, kwargs: Any) -> Any:
        eligible = [t for t in tree_leaves((args, kwargs)) if self._is_eligible(t)]
        wide = any(t.dtype is torch.float32 for t in eligible)
        return self._call(func, args, kwargs, torch.float32 if wide else torch.get_autocast_dtype(self._device.type))

    def _call(self, func: Any, args: Any, kwargs: Any, dtype: torch.dtype | None) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(self._keys):
            if dtype is not None:
                args, kwargs = tree_map_only(torch.Tensor, lambda t: self._cast(t, dtype), (args, kwargs))
            return func(*args, **kwargs)

    def _is_eligible(self, tensor: Any) -> bool:
        """float64 is left alone."""
        return (
            isinstance(tensor, torch.Tensor)
            and tensor.device.type == self._device.type
            and tensor.is_floating_point()
            and tensor.dtype is not torch.float64
        )

    def _cast(self, tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        if not self._is_eligible(tensor) or tensor.dtype is dtype:
            return tensor
        if not (tensor.requires_grad and tensor.is_leaf and tensor.dtype is torch.float32 and not tensor._is_view()):
            return tensor.to(dtype)
        key = (id(tensor), dtype)
        if key not in self._kept:
            self._kept[key] = (tensor, tensor.to(dtype))
        return self._kept[key][1]
