"""The dispatch mode that writes down every operator which reaches the traced device."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

from opscan.inventory import Finding, Location, OpCall, TensorSpec
from opscan.tracing import values
from opscan.tracing.assumptions import Assumptions
from opscan.tracing.cuda import is_cuda
from opscan.tracing.data_dependent import LIMITS, run
from opscan.tracing.host import is_a_view
from opscan.tracing.layout import as_the_device_lays_out, is_narrowed
from opscan.tracing.signature import arguments, qualified, specs
from opscan.tracing.source import SourceLocator
from opscan.tracing.whereabouts import Whereabouts

_Key = tuple[Any, ...]


class Recorder(TorchDispatchMode):
    """Records while ``running``; otherwise (import, construction) it only keeps values and redirects devices.

    ``parts_of`` gives the dispatch key of a kernel that hides other operators below the Python key, so that it is run
    once more to see them; None for any other operator.
    """

    def __init__(
        self,
        device: torch.device,
        fake_mode: FakeTensorMode,
        locator: SourceLocator,
        assumptions: Assumptions,
        parts_of: Callable[[Any], Any],
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.device = device
        self.running = False
        self.running_reached = False
        self.whereabouts = Whereabouts(locator)
        self.findings: dict[tuple[str, str, str, int], Finding] = {}
        self._fake_mode = fake_mode
        self._locator = locator
        self._assumptions = assumptions
        self._parts_key = parts_of
        self._calls: dict[_Key, int] = {}
        self._parts: dict[_Key, tuple[OpCall, ...]] = {}
        self._sink: dict[_Key, int] | None = None
        self._paused = 0
        self._views: set[str] = set()

    def start(self) -> None:
        """The model's own run begins."""
        self.running = True
        self.running_reached = True

    # --- what is asked of it -------------------------------------------------------------------------------

    def calls(self) -> tuple[OpCall, ...]:
        return tuple(self._to_call(key, count) for key, count in self._calls.items())

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Operators in here are the tracer's own, not the model's."""
        self._paused += 1
        try:
            yield
        finally:
            self._paused -= 1

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Real CPU kernels run in here, some of them the user's own: nothing follows the traced device."""
        running, self.running = self.running, False
        try:
            yield
        finally:
            self.running = running

    def emit(
        self, name: str, inputs: list[Any], outputs: list[Any], attributes: tuple[tuple[str, str], ...] = ()
    ) -> None:
        """Record an operator that the adapter calls and this process has no schema for."""
        if self.running and not self._paused:
            self._add(name, specs(inputs), specs(outputs), attributes)

    def lifted(self, tensor: torch.Tensor) -> None:
        """A tensor made from Python data: the real device shows the call that lifts it, and no copy."""
        self._views.add("aten::lift_fresh")
        self.emit("aten::lift_fresh", [tensor], [tensor])

    # --- the observer of opscan.tracing.redirect ----------------------------------------------------------

    def is_torch_calling(self) -> bool:
        return self._locator.is_internal(sys._getframe(2))

    def is_user_calling(self) -> bool:
        return self._locator.calls_directly(sys._getframe(2))

    def cuda_named(self, what: str) -> None:
        self.finding("OPS601", {"what": what}, self._locator.locate(sys._getframe(2)))

    def device_forgotten(self, factory: str) -> bool:
        """A factory without a device, in the user's own code, is meant for the model's device. A library's is meant
        for the CPU.
        """
        frame = sys._getframe(3)
        if not self._locator.calls_directly(frame):
            return False
        self.finding("OPS602", {"factory": factory}, self._locator.locate(frame))
        return True

    def python_value(self, tensor: torch.Tensor, what: str) -> torch.Tensor:
        """A real CPU tensor for a fake one: its known value, else the stated default."""
        held = values.known(tensor)
        if held is not None:
            if not held.storage.constant:
                self.assumed(what, "the sample input's own value")
            return values.detached(held.value)
        self.assumed(what, "zeros")
        return values.zeros_for(tensor)

    # --- findings -------------------------------------------------------------------------------------------

    def finding(self, rule: str, facts: dict[str, str], where: tuple[str, int] | None) -> None:
        key = (rule, "|".join(facts.values()), *(where or ("", 0)))
        if key not in self.findings:
            locations = (Location(*where, self.whereabouts.module_path.current),) if where else ()
            self.findings[key] = Finding(rule, facts, locations)

    def assumed(self, what: str, answer: str) -> None:
        """One finding a line, with the first answer: a loop asks many times. A second look at an operator asks
        nothing new.
        """
        if self._sink is not None:
            return
        where = self._locator.locate(sys._getframe(1))
        if not any(rule == "OPS603" and (file, line) == (where or ("", 0)) for rule, _, file, line in self.findings):
            self.finding("OPS603", {"what": what, "answer": answer}, where)

    def shapeless(self, func: Any) -> None:
        """An operator without a shape function ran on made-up values."""
        if self._sink is None:
            self.finding("OPS605", {"operator": qualified(func)}, self._locator.locate(sys._getframe(1)))

    # --- dispatch -------------------------------------------------------------------------------------------

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func.namespace == "prim":
            return func(*args, **kwargs)
        if is_cuda(kwargs.get("device")):
            self._cuda_in_dispatch(func)
            kwargs = {**kwargs, "device": self.device}
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
            self._record(func, args, kwargs, inputs, ())
            raise
        out = as_the_device_lays_out(func, args, out, self.device.type)
        if self._sink is None:
            values.propagate(func, args, kwargs, inputs, out)
        self._record(func, args, kwargs, inputs, out)
        return out

    def _cuda_in_dispatch(self, func: Any) -> None:
        where = self._locator.locate(sys._getframe(2))
        if not any(key[0] == "OPS601" and key[2:] == where for key in self.findings):
            self.finding("OPS601", {"what": "cuda"}, where)

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
        mixed = traced != "cpu" and any(t.device.type == traced for t in leaves)
        strays = [t for t in leaves if t.device.type == "cpu" and t.dim() > 0]
        if mixed and strays and not _crosses_devices(func, strays, leaves):
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

    # --- recording ------------------------------------------------------------------------------------------

    def _record(self, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor], out: Any) -> None:
        if not self.running or self._paused:
            return
        outputs = [t for t in tree_leaves(out) if isinstance(t, torch.Tensor)]
        if not any(t.device.type == self.device.type for t in inputs) and not any(
            t.device.type == self.device.type for t in outputs
        ):
            return
        name = qualified(func)
        if is_a_view(func):
            self._views.add(name)
        composite = self._parts_key(func)
        if composite and self._sink is not None and self._run_inside(func, composite, args, kwargs):
            return  # a part that has parts: they stand for it
        parameters, attributes = arguments(func, args, kwargs)
        key = self._add(name, specs(inputs), specs(outputs), attributes, parameters)
        if composite and self._sink is None:
            self._look_inside(func, composite, args, kwargs, key)

    def _add(
        self,
        name: str,
        inputs: tuple[TensorSpec, ...],
        outputs: tuple[TensorSpec, ...],
        attributes: tuple[tuple[str, str], ...],
        parameters: tuple[str, ...] = (),
    ) -> _Key:
        if self._sink is not None:
            key: _Key = (name, self.whereabouts.phase, inputs, outputs, attributes, None, parameters)
            self._sink[key] = self._sink.get(key, 0) + 1
            return key
        key = (
            name,
            self.whereabouts.phase,
            inputs,
            outputs,
            attributes,
            self.whereabouts.of(sys._getframe(2)),
            parameters,
        )
        self._calls[key] = self._calls.get(key, 0) + 1
        return key

    def _look_inside(self, func: Any, composite: Any, args: Any, kwargs: Any, key: _Key) -> None:
        """Run a composite-explicit kernel once more, with its inner calls recorded apart."""
        signature = (key[0], tuple(s.dtype for s in key[2]), tuple(len(s.shape) for s in key[2]))
        if signature not in self._parts:
            self._sink = {}
            seen = self._run_inside(func, composite, args, kwargs)
            sink, self._sink = self._sink, None
            self._parts[signature] = tuple(self._to_call(k, n) for k, n in sink.items()) if seen else ()
            if seen and not sink:
                self._views.add(key[0])
        self._parts[key] = self._parts[signature]

    def _run_inside(self, func: Any, composite: Any, args: Any, kwargs: Any) -> bool:
        """Run the composite-explicit kernel with its calls going to the sink; false where it fails: what it calls
        stays unseen.
        """
        before = dict(self._sink or {})
        try:
            with self:
                func._op_dk(composite, *args, **kwargs)
        except Exception:
            self._sink = before
            return False
        return True

    def _to_call(self, key: _Key, count: int) -> OpCall:
        name, phase, inputs, outputs, attributes, location, parameters = key
        parts = self._parts.get(key, ())
        is_view = name in self._views
        return OpCall(name, phase, inputs, outputs, attributes, location, count, parts, parameters, is_view)


_MAY_CROSS = frozenset(
    {
        "aten::_to_copy",
        "aten::copy_",
        "aten::copy",
        "aten::set_.source_Tensor",
        "aten::_copy_from",
        "aten::_pack_padded_sequence",
    }
)


def _crosses_devices(func: Any, strays: list[torch.Tensor], leaves: list[torch.Tensor]) -> bool:
    """Copies cross devices by design; indexing takes index tensors from the CPU."""
    name = qualified(func)
    if name in _MAY_CROSS:
        return True
    return name.startswith(("aten::index", "aten::_index")) and leaves[0].device.type != "cpu"
