"""Every way in which code names CUDA, answered as if it had named the traced device, and reported at its line.

What ``torch_npu.contrib.transfer_to_npu`` does at run time, done here for a trace: ``cuda`` becomes ``npu``.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Protocol

import torch
from torch import nn
from torch.nn import parameter
from torch.utils._device import DeviceContext

from opscan.tracing.cuda.streams import patch_streams
from opscan.tracing.patches import Patches


class CudaObserver(Protocol):
    """What is told of a place that names CUDA. ``is_torch_calling``: torch itself is, two frames up;
    ``is_user_calling``: the user's own code is, rather than torch or a library.
    """

    device: torch.device

    def cuda_named(self, what: str) -> None: ...
    def is_torch_calling(self) -> bool: ...
    def is_user_calling(self) -> bool: ...


def is_cuda(device: object) -> bool:
    """Whether an argument names a CUDA device: a string or a ``torch.device``."""
    if isinstance(device, str):
        return device.split(":")[0] == "cuda"
    return isinstance(device, torch.device) and device.type == "cuda"


def patch_cuda(patches: Patches, observer: CudaObserver) -> None:
    _patch_questions(patches, observer)
    _patch_moves(patches, observer)
    _patch_defaults(patches, observer)
    patch_streams(patches, observer)
    _patch_autocast(patches, observer)


_PROPERTIES = SimpleNamespace(name="npu", major=8, minor=0, total_memory=64 << 30, multi_processor_count=24)

#: Answers that let code which asks about its CUDA device go on. Values are of no consequence to an operator inventory.
_ANSWERS: dict[str, Any] = {
    "is_available": True,
    "device_count": 1,
    "current_device": 0,
    "get_device_name": "npu",
    "get_device_capability": (8, 0),
    "get_device_properties": _PROPERTIES,
    "is_bf16_supported": True,
    "memory_allocated": 0,
    "memory_reserved": 0,
    "max_memory_allocated": 0,
    "max_memory_reserved": 0,
    "mem_get_info": (64 << 30, 64 << 30),
    "memory_summary": "",
    "get_rng_state": None,
    "get_rng_state_all": [],
}

#: Functions that do nothing here, whoever calls them.
_SILENT = (
    "synchronize",
    "empty_cache",
    "set_device",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_rng_state",
    "set_rng_state_all",
    "reset_peak_memory_stats",
    "init",
)

_NVTX = ("range_push", "range_pop", "mark", "range_start", "range_end")


def _patch_questions(patches: Patches, observer: CudaObserver) -> None:
    cuda = torch.cuda
    patches.set(cuda, "_lazy_init", lambda: None)
    for name, answer in _ANSWERS.items():
        patches.set(cuda, name, _answering(f"torch.cuda.{name}()", getattr(cuda, name), answer, observer))
    for name in _SILENT:
        patches.set(cuda, name, _silent(f"torch.cuda.{name}()", observer))
    for name in _NVTX:
        patches.set(cuda.nvtx, name, _silent(f"torch.cuda.nvtx.{name}()", observer))


def _answering(what: str, original: Callable[..., Any], answer: Any, observer: CudaObserver) -> Callable[..., Any]:
    """torch and libraries must hear the truth: they would go on to call a CUDA that is not there."""

    def asked(*args: Any, **kwargs: Any) -> Any:
        if not observer.is_user_calling():
            return original(*args, **kwargs)
        observer.cuda_named(what)
        return answer

    return asked


def _silent(what: str, observer: CudaObserver) -> Callable[..., None]:
    def asked(*args: Any, **kwargs: Any) -> None:
        if not observer.is_torch_calling():
            observer.cuda_named(what)

    return asked


# --- where tensors go -----------------------------------------------------------------------------------------

_NEW = ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros")
_LIKE = ("empty_like", "full_like", "ones_like", "rand_like", "randint_like", "randn_like", "zeros_like")

_LEGACY = ("FloatTensor", "HalfTensor", "BFloat16Tensor", "DoubleTensor", "LongTensor", "IntTensor", "BoolTensor")


def _patch_moves(patches: Patches, observer: CudaObserver) -> None:
    tensor, module = torch.Tensor, nn.Module
    patches.set(tensor, "cuda", _moved("Tensor.cuda()", observer))
    patches.set(module, "cuda", _moved("Module.cuda()", observer))
    for owner, names in ((tensor, ("to", *_NEW)), (module, ("to", "to_empty")), (torch, _LIKE)):
        for name in names:
            patches.set(owner, name, _with_device(f"{owner.__name__}.{name}", getattr(owner, name), observer))
    # What may be done to a parameter that has no shape yet, a lazy module's, is asked by identity.
    lazy: Any
    for lazy in (parameter.UninitializedParameter, parameter.UninitializedBuffer):
        patches.set(lazy, "_allowed_methods", [*lazy._allowed_methods, tensor.to, tensor.cuda])
    patches.set(tensor, "type", _to_type(tensor.type, observer))
    for name in _LEGACY:
        patches.set(torch.cuda, name, _legacy_type(name, observer))
    patches.set(torch, "load", _with_device("torch.load", torch.load, observer, "map_location"))
    patches.set(torch, "Generator", _generator_class(observer))
    # One device: there is nothing to scatter, and the function that would do it is not in every build of torch.
    patches.set(nn.DataParallel, "scatter", lambda self, inputs, kwargs, ids: ((inputs,), (kwargs or {},)))


def _moved(what: str, observer: CudaObserver) -> Callable[..., Any]:
    def cuda(self: Any, *args: Any, **kwargs: Any) -> Any:
        observer.cuda_named(what)
        return self.to(observer.device)

    return cuda


def _with_device(
    what: str, original: Callable[..., Any], observer: CudaObserver, keyword: str = "device"
) -> Callable[..., Any]:
    """``original`` with every CUDA device among its arguments replaced."""

    def call(*args: Any, **kwargs: Any) -> Any:
        named = [d for d in (*args[1:], kwargs.get(keyword)) if is_cuda(d)]
        if named:
            observer.cuda_named(f"{what}({str(named[0])!r})")
            # A checkpoint is read to the CPU: its contents move with the module that takes them.
            device = torch.device("cpu") if keyword == "map_location" else observer.device
            args = (*args[:1], *(device if is_cuda(a) else a for a in args[1:]))
            if is_cuda(kwargs.get(keyword)):
                kwargs[keyword] = device
        return original(*args, **kwargs)

    return call


def _to_type(original: Callable[..., Any], observer: CudaObserver) -> Callable[..., Any]:
    """``x.type("torch.cuda.FloatTensor")``."""

    def type_(self: torch.Tensor, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        if isinstance(dtype, str) and dtype.startswith("torch.cuda."):
            observer.cuda_named(f"Tensor.type({dtype!r})")
            return self.to(observer.device, _dtype_of(dtype))
        return original(self, *(() if dtype is None else (dtype,)), *args, **kwargs)

    return type_


def _dtype_of(legacy: str) -> torch.dtype:
    found: torch.dtype = getattr(torch, legacy.rpartition(".")[2]).dtype
    return found


class _LegacyType(type):
    """``torch.cuda.FloatTensor`` and its like are called, stand in annotations, and are asked with ``isinstance``."""

    dtype: torch.dtype
    device: torch.device

    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, torch.Tensor):
            return False
        return instance.dtype == cls.dtype and instance.device.type == cls.device.type


def _legacy_type(name: str, observer: CudaObserver) -> type:
    def construct(cls: type, *args: Any) -> torch.Tensor:
        observer.cuda_named(f"torch.cuda.{name}")
        made: torch.Tensor = getattr(torch, name)(*args)
        return made.to(observer.device)

    return _LegacyType(name, (), {"__new__": construct, "dtype": _dtype_of(name), "device": observer.device})


def _generator_class(observer: CudaObserver) -> type:
    """A virtual device has no generator: the CPU's stands for it, since who draws the numbers is of no consequence."""

    class Generator(torch.Generator):
        def __new__(cls, device: Any = "cpu") -> Generator:
            if is_cuda(device):
                observer.cuda_named(f"torch.Generator({str(device)!r})")
                device = observer.device
            try:
                return super().__new__(cls, device=device)  # type: ignore[call-arg]
            except RuntimeError:
                return super().__new__(cls)

        def __init__(self, device: Any = "cpu") -> None: ...

    return Generator


# --- defaults -------------------------------------------------------------------------------------------------


def _patch_defaults(patches: Patches, observer: CudaObserver) -> None:
    enter, set_type = DeviceContext.__init__, torch.set_default_tensor_type

    def init(self: Any, device: Any) -> None:
        if is_cuda(device):
            observer.cuda_named(f"{str(device)!r} as the default device")
            device = observer.device
        enter(self, device)

    def set_default_tensor_type(t: Any) -> None:
        name = t if isinstance(t, str) else getattr(t, "__name__", "")
        if name.startswith("torch.cuda."):
            observer.cuda_named(f"torch.set_default_tensor_type({name!r})")
            torch.set_default_dtype(_dtype_of(name))
            torch.set_default_device(observer.device)
        else:
            set_type(t)

    patches.set(DeviceContext, "__init__", init)
    patches.set(torch, "set_default_tensor_type", set_default_tensor_type)


# --- mixed precision ------------------------------------------------------------------------------------------


def _patch_autocast(patches: Patches, observer: CudaObserver) -> None:
    general, of_cuda, scaler = torch.autocast.__init__, torch.cuda.amp.autocast.__init__, torch.amp.GradScaler.__init__

    def autocast(self: Any, device_type: str, *args: Any, **kwargs: Any) -> None:
        if is_cuda(device_type):
            if not observer.is_torch_calling():
                observer.cuda_named(f"torch.autocast({device_type!r})")
            device_type = observer.device.type
        general(self, device_type, *args, **kwargs)

    def cuda_autocast(self: Any, *args: Any, **kwargs: Any) -> None:
        observer.cuda_named("torch.cuda.amp.autocast")
        of_cuda(self, *args, **kwargs)

    def grad_scaler(self: Any, device: str = "cuda", *args: Any, **kwargs: Any) -> None:
        if is_cuda(device):
            observer.cuda_named("GradScaler('cuda')")
            # Scaling is a matter of the training loop, which a trace does not run.
            device, kwargs = "cpu", {**kwargs, "enabled": False}
        scaler(self, device, *args, **kwargs)

    patches.set(torch.autocast, "__init__", autocast)
    patches.set(torch.cuda.amp.autocast, "__init__", cuda_autocast)
    patches.set(torch.amp.GradScaler, "__init__", grad_scaler)
