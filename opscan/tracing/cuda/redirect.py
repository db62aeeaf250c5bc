"""Lets code written for CUDA run on the traced device, and notes every place that names CUDA or forgets the device.

What ``torch_npu.contrib.transfer_to_npu`` does at run time, done here for a trace: ``cuda`` becomes ``npu``. In
addition the user's own factory calls without a device follow the traced device while the model runs. Patches, not a
TorchFunctionMode: modules take other paths while such a mode is active (``nn.MultiheadAttention``), which would show.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, FunctionType
from typing import Any, Protocol

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import _get_current_function_mode_stack
from torch.utils._device import DeviceContext

from opscan.tracing.cuda.names import is_cuda, patch_cuda
from opscan.tracing.patches import Patches


class Observer(Protocol):
    """What the patches report to: the recorder of the trace. ``numbers_on_host``: tensors of one number stay on the
    CPU, as a real device lets them, and those of none are made empty on the device."""

    device: torch.device
    running: bool
    numbers_on_host: bool

    def cuda_named(self, what: str) -> None: ...
    def device_forgotten(self, factory: str) -> bool: ...
    def is_torch_calling(self) -> bool: ...
    def is_user_calling(self) -> bool: ...
    def lifted(self, tensor: torch.Tensor) -> None: ...
    def paused(self) -> Any: ...


_COPYING = ("tensor", "as_tensor", "asarray")


@contextmanager
def redirected(observer: Observer) -> Iterator[None]:
    """All patches, for the length of a trace."""
    patches = Patches()
    try:
        _patch_factories(patches, observer)
        patch_cuda(patches, observer)
        _patch_inference_mode(patches)
        yield
    finally:
        patches.undo()


def _patch_factories(patches: Patches, observer: Observer) -> None:
    from torch.utils._device import _device_constructors

    constructors = _device_constructors()
    for owner in (torch, torch.fft):
        for name in dir(owner):
            factory = getattr(owner, name)
            if (
                callable(factory)
                and isinstance(factory, (BuiltinFunctionType, FunctionType))
                and factory in constructors
            ):
                patches.set(owner, name, _factory(name, factory, observer))
    for name in _COPYING:
        patches.set(torch, name, _copying_factory(name, getattr(torch, name), observer))
    patches.set(torch.Tensor, "new_tensor", _new_tensor)
    patches.set(torch.Tensor, "new", _legacy_new(torch.Tensor.new))


def _new_tensor(
    self: torch.Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> torch.Tensor:
    """``x.new_tensor(…)`` copies to the device below the dispatch modes, as ``torch.tensor(…)`` does."""
    made = torch.tensor(data, dtype=dtype or self.dtype, device=device or self.device)
    return made.requires_grad_(requires_grad)


def _legacy_new(original: Callable[..., Any]) -> Callable[..., Any]:
    """``x.new(2, 3)`` and ``x.new([1.0, 2.0])``, as code from before torch 0.4 has them."""

    def new(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        if not isinstance(self, FakeTensor):
            return original(self, *args, **kwargs)  # type: ignore[no-any-return]
        if all(isinstance(a, int) for a in args):
            return self.new_empty(args)
        if isinstance(args[0], torch.Size):
            return self.new_empty(args[0])
        return self.new_tensor(args[0])

    return new


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
        if args and isinstance(args[0], (list, tuple)):
            args = (_plain(args[0]), *args[1:])
        data = args[0] if args else kwargs.get("data", kwargs.get("obj"))
        if isinstance(data, torch.Tensor) and kwargs.get("device") is None:
            return factory(*args, **kwargs)
        device = _device_for(name, kwargs, observer)
        if device is None or torch.device(device).type != observer.device.type:
            return factory(*args, **kwargs)
        kwargs["device"] = "cpu" if not isinstance(data, torch.Tensor) else data.device
        if observer.numbers_on_host and isinstance(data, (bool, int, float, complex)):
            return factory(*args, **kwargs)
        if observer.numbers_on_host and isinstance(data, (list, tuple)) and not data:
            return torch.empty(0, dtype=kwargs.get("dtype"), device=device)
        with observer.paused():
            made = factory(*args, **kwargs).to(device)
        observer.lifted(made)
        return made

    return create


def _plain(data: Any) -> Any:
    """Scalar tensors inside a list as numbers, each of them read: torch takes their values below the dispatch modes."""
    if isinstance(data, (list, tuple)):
        return [_plain(part) for part in data]
    return data.item() if isinstance(data, FakeTensor) and data.dim() == 0 else data


def _device_for(name: str, kwargs: dict[str, Any], observer: Observer) -> Any:
    device = kwargs.get("device")
    if is_cuda(device):
        observer.cuda_named(f"torch.{name}(device={str(device)!r})")
        return observer.device
    if device is not None or kwargs.get("out") is not None:
        return device
    default = _default_device()
    if default is None and observer.running and observer.device_forgotten(f"torch.{name}"):
        return observer.device
    return default


def _default_device() -> torch.device | None:
    """The device that ``with torch.device(…)`` or ``torch.set_default_device`` chose, if any."""
    if torch._C._len_torch_function_stack() == 0:
        return None
    modes = _get_current_function_mode_stack()
    return next((mode.device for mode in reversed(modes) if isinstance(mode, DeviceContext)), None)


def _patch_inference_mode(patches: Patches) -> None:
    """Inference mode without its tensors, which skip the keys above autograd: composite operators would arrive whole,
    where the device decomposes them.
    """

    def enter(self: Any) -> None:
        self._gradients = torch.is_grad_enabled()
        torch.set_grad_enabled(not self.mode)

    def leave(self: Any, *exception: object) -> None:
        torch.set_grad_enabled(self._gradients)

    patches.set(torch.inference_mode, "__enter__", enter)
    patches.set(torch.inference_mode, "__exit__", leave)
