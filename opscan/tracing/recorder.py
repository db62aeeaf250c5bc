"""The dispatch mode that writes down every operator which reaches the virtual device."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._pytree import tree_leaves, tree_map_only

from opscan.tracing import values
from opscan.tracing.assumptions import Assumptions
from opscan.tracing.crossing import strays_among
from opscan.tracing.cuda.names import is_cuda
from opscan.tracing.data_dependent import LIMITS, run
from opscan.tracing.layout import as_the_device_lays_out, is_narrowed
from opscan.tracing.quantized import Quantized, is_quantizing, run_for_real
from opscan.tracing.recording import RecordingMode
from opscan.tracing.signature import qualified
from opscan.tracing.source import SourceLocator
from opscan.tracing.written_views import SHOWN_VIEWS, WrittenViews, is_saving


class Recorder(RecordingMode):
    """Records on fake tensors, and keeps what is known of their values; see :class:`RecordingMode`."""

    own_tensors = (FakeTensor, Quantized)

    def __init__(
        self,
        device: torch.device,
        fake_mode: FakeTensorMode,
        locator: SourceLocator,
        assumptions: Assumptions,
        parts_of: Callable[[Any], Any],
    ) -> None:
        super().__init__(device, locator, parts_of)
        self._fake_mode = fake_mode
        self._assumptions = assumptions
        self._written_views = WrittenViews()
        #: Whether the model makes quantized tensors or packs weights.
        self.quantizes = False
        self._views |= SHOWN_VIEWS

    def python_value(self, tensor: torch.Tensor, what: str) -> torch.Tensor:
        """A real CPU tensor for a fake one: its known value, else the stated default."""
        held = values.known(tensor)
        if held is not None:
            if not held.storage.constant:
                self.assumed(what, "the sample input's own value")
            return values.detached(held.value)
        self.assumed(what, "zeros")
        self._assumptions.unknown_read = True
        return values.zeros_for(tensor)

    def shapeless(self, func: Any) -> None:
        """An operator without a shape function ran on made-up values."""
        if self._sink is None:
            self.finding("OPS605", {"operator": qualified(func)}, self._locator.locate(sys._getframe(1)))

    # --- dispatch -------------------------------------------------------------------------------------------

    def dispatch(self, func: Any, args: Any, kwargs: Any) -> Any:
        if func.namespace == "prim":
            return func(*args, **kwargs)
        if is_cuda(kwargs.get("device")):
            self.cuda_in_dispatch()
            kwargs = {**kwargs, "device": self.device}
        inputs = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        if is_quantizing(func, inputs):
            return self._quantized(func, args, kwargs, inputs)
        args, kwargs = self._on_one_device(func, args, kwargs)
        if is_narrowed(func, args, kwargs, self.device.type):
            kwargs = {**kwargs, "dtype": torch.float32}
            if self.running:
                self.finding("OPS606", {}, self._locator.locate(sys._getframe(1)))
        inputs = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        try:
            out = run(self._assumptions, self, func, args, kwargs, inputs)
        except LIMITS:
            # The operator at which a trace ends is the one that a user must know of.
            self.record(func, args, kwargs, inputs, ())
            raise
        out = as_the_device_lays_out(func, args, kwargs, out, self.device.type)
        if self._sink is None:
            values.propagate(func, args, kwargs, inputs, out)
        if not self._is_hidden(func, inputs, out):
            self.record(func, args, kwargs, inputs, out)
        return out

    def _quantized(self, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
        self.quantizes = True
        try:
            with self.outside():
                out = run_for_real(func, args, kwargs, inputs, self.device)
        except Exception:
            self.record(func, args, kwargs, inputs, ())
            raise
        self.record(func, args, kwargs, inputs, out)
        return out

    def _is_hidden(self, func: Any, inputs: list[torch.Tensor], out: Any) -> bool:
        """Whether autograd makes this call for fake tensors, and not on the device."""
        if not self.running or self._paused or self._sink is not None:
            return False
        return is_saving(func, inputs) or self._written_views.hides(func, inputs, out, self.emit)

    def _on_one_device(self, func: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Wrap real tensors, and move CPU tensors that meet the traced device: a real NPU would raise there."""
        leaves = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        if all(isinstance(t, FakeTensor) for t in leaves):
            devices = {t.device.type for t in leaves}
            if len(devices) < 2:
                return args, kwargs
        args, kwargs = tree_map_only(torch.Tensor, self._fake, (args, kwargs))
        leaves = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        traced = self.device.type
        if traced != "cpu" and strays_among(func, leaves, traced):
            self.finding("OPS604", {"operator": qualified(func)}, self._locator.locate(sys._getframe(2)))
            args, kwargs = tree_map_only(torch.Tensor, self._moved, (args, kwargs))
        return args, kwargs

    def _fake(self, tensor: torch.Tensor) -> torch.Tensor:
        if isinstance(tensor, FakeTensor):
            return tensor
        if tensor.device.type == "meta":
            return FakeTensor(self._fake_mode, torch.empty_like(tensor, device="meta"), self.device)
        fake = self._fake_mode.fake_tensor_converter.from_real_tensor(self._fake_mode, tensor)
        if values.known(fake) is None:
            values.attach(fake, values.detached(tensor), constant=True)
        return fake

    def _moved(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type != "cpu" or tensor.dim() == 0:
            return tensor
        moved = tensor.to(self.device)
        values.carry(tensor, moved)
        return moved
