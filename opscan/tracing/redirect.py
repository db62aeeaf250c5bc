"""Lets code written for CUDA run on the traced device, and notes every place that names CUDA or forgets the device.

What ``torch_npu.contrib.transfer_to_npu`` does at run time, done here for a trace: ``cuda`` becomes ``npu``. In addition factories
without a device follow the traced device while the model runs, and conversions to Python or numpy values answer from what is known.
Patches, not a TorchFunctionMode: modules take other paths while such a mode is active (``nn.MultiheadAttention``), which would show.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any, Protocol

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor


class Observer(Protocol):
    """What the patches report to: the recorder of the trace."""

    device: torch.device
    running: bool

    def cuda_named(self, what: str) -> None: ...
    def device_forgotten(self, factory: str) -> None: ...
    def python_value(self, tensor: torch.Tensor, what: str) -> torch.Tensor: ...
    def is_torch_calling(self) -> bool: ...
    def paused(self) -> Any: ...


_COPYING = ("tensor", "as_tensor", "asarray")


def is_cuda(device: object) -> bool:
    """Whether an argument names a CUDA device: a string, a ``torch.device``; a bare index is CUDA's too."""
    if isinstance(device, str):
        return device.split(":")[0] == "cuda"
    return isinstance(device, torch.device) and device.type == "cuda"


@contextmanager
def redirected(observer: Observer) -> Iterator[None]:
    """All patches, for the length of a trace."""
    patches = _Patches()
    try:
        _patch_factories(patches, observer)
        _patch_cuda(patches, observer)
        _patch_conversions(patches, observer)
        yield
    finally:
        patches.undo()


class _Patches:
    def __init__(self) -> None:
        self._undo: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        self._undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def undo(self) -> None:
        for owner, name, value in reversed(self._undo):
            setattr(owner, name, value)


def _patch_factories(patches: _Patches, observer: Observer) -> None:
    from torch.utils._device import _device_constructors

    constructors = _device_constructors()
    for owner in (torch, torch.fft):
        for name in dir(owner):
            factory = getattr(owner, name)
            if callable(factory) and isinstance(factory, type(torch.ones)) and factory in constructors:
                patches.set(owner, name, _factory(name, factory, observer))
    for name in _COPYING:
        patches.set(torch, name, _copying_factory(name, getattr(torch, name), observer))


def _factory(name: str, factory: Callable[..., Any], observer: Observer) -> Callable[..., Any]:
    @functools.wraps(factory)
    def create(*args: Any, **kwargs: Any) -> Any:
        kwargs["device"] = _device_for(name, kwargs, observer)
        return factory(*args, **kwargs)

    return create


def _copying_factory(name: str, factory: Callable[..., Any], observer: Observer) -> Callable[..., Any]:
    """``torch.tensor(…)`` copies to its device below the dispatch modes: make it on the CPU, then move."""

    @functools.wraps(factory)
    def create(*args: Any, **kwargs: Any) -> Any:
        data = args[0] if args else kwargs.get("data", kwargs.get("obj"))
        if isinstance(data, torch.Tensor) and kwargs.get("device") is None:
            return factory(*args, **kwargs)
        device = _device_for(name, kwargs, observer)
        if device is None or torch.device(device).type != observer.device.type:
            return factory(*args, **kwargs)
        kwargs["device"] = "cpu" if not isinstance(data, torch.Tensor) else data.device
        made = factory(*args, **kwargs)
        with observer.paused():
            return made.to(device)

    return create


def _device_for(name: str, kwargs: dict[str, Any], observer: Observer) -> Any:
    device = kwargs.get("device")
    if is_cuda(device):
        observer.cuda_named(f"torch.{name}(device={str(device)!r})")
        return observer.device
    if device is None and observer.running and kwargs.get("out") is None:
        observer.device_forgotten(f"torch.{name}")
        return observer.device
    return device


_PROPERTIES = SimpleNamespace(name="npu", major=8, minor=0, total_memory=64 << 30, multi_processor_count=24)

#: Answers that let code which asks about its CUDA device go on. Values are of no consequence to an operator inventory.
_ANSWERS: dict[str, Any] = {
    "device_count": 1,
    "current_device": 0,
    "get_device_name": "npu",
    "get_device_capability": (8, 0),
    "get_device_properties": _PROPERTIES,
    "is_bf16_supported": True,
    "memory_allocated": 0,
    "memory_reserved": 0,
    "max_memory_allocated": 0,
    "mem_get_info": (64 << 30, 64 << 30),
}
_SILENT = (
    "synchronize",
    "empty_cache",
    "set_device",
    "manual_seed",
    "manual_seed_all",
    "reset_peak_memory_stats",
    "init",
)


def _patch_cuda(patches: _Patches, observer: Observer) -> None:
    cuda = torch.cuda
    patches.set(cuda, "_lazy_init", lambda: None)
    really_available = cuda.is_available

    def is_available() -> bool:
        if observer.is_torch_calling():
            return really_available()
        observer.cuda_named("torch.cuda.is_available()")
        return True

    patches.set(cuda, "is_available", is_available)
    for name, answer in _ANSWERS.items():
        patches.set(cuda, name, _unless_torch(getattr(cuda, name), answer, observer))
    for name in _SILENT:
        patches.set(cuda, name, lambda *args, **kwargs: None)
    for name in ("device", "stream"):
        patches.set(cuda, name, lambda *args, **kwargs: nullcontext())
    patches.set(torch.Tensor, "cuda", _moved("Tensor.cuda()", observer))
    patches.set(nn.Module, "cuda", _moved("Module.cuda()", observer))
    patches.set(torch, "set_default_device", _default_device(torch.set_default_device, observer))
    patches.set(torch.autocast, "__init__", _autocast(torch.autocast.__init__, observer))


def _unless_torch(original: Callable[..., Any], answer: Any, observer: Observer) -> Callable[..., Any]:
    """torch itself must hear the truth: it would go on to call a CUDA that is not there."""

    def asked(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs) if observer.is_torch_calling() else answer

    return asked


def _moved(what: str, observer: Observer) -> Callable[..., Any]:
    def cuda(self: Any, *args: Any, **kwargs: Any) -> Any:
        observer.cuda_named(what)
        return self.to(observer.device)

    return cuda


def _default_device(original: Callable[..., Any], observer: Observer) -> Callable[..., Any]:
    def set_default_device(device: Any) -> None:
        if is_cuda(device):
            observer.cuda_named(f"torch.set_default_device({str(device)!r})")
        else:
            original(device)

    return set_default_device


def _autocast(original: Callable[..., Any], observer: Observer) -> Callable[..., Any]:
    def init(self: Any, device_type: str, *args: Any, **kwargs: Any) -> None:
        if is_cuda(device_type):
            if not observer.is_torch_calling():
                observer.cuda_named(f"torch.autocast({device_type!r})")
            device_type = observer.device.type
        original(self, device_type, *args, **kwargs)

    return init


def _patch_conversions(patches: _Patches, observer: Observer) -> None:
    numpy, tolist = torch.Tensor.numpy, torch.Tensor.tolist

    def to_numpy(self: torch.Tensor, **kwargs: Any) -> Any:
        if not isinstance(self, FakeTensor):
            return numpy(self, **kwargs)
        if self.device.type == observer.device.type and observer.device.type != "cpu":
            raise TypeError(f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() first.")
        return numpy(observer.python_value(self, "numpy()"))

    def to_list(self: torch.Tensor) -> Any:
        if not isinstance(self, FakeTensor):
            return tolist(self)
        return tolist(observer.python_value(self.cpu(), "tolist()"))

    def array(self: torch.Tensor, dtype: Any = None, **kwargs: Any) -> Any:
        found = self.numpy()
        return found if dtype is None else found.astype(dtype, copy=False)

    patches.set(torch.Tensor, "numpy", to_numpy)
    patches.set(torch.Tensor, "tolist", to_list)
    patches.set(torch.Tensor, "__array__", array)
    patches.set(torch.Tensor, "pin_memory", lambda self, *args, **kwargs: self)
