"""What every recorder keeps: calls with their counts, the parts of composite kernels, and findings with their lines.

A recorder is a dispatch mode; what it does with an operator is its own. ``recorder`` follows fake tensors on a virtual
device, ``opscan.probing.rehearsal`` real ones on a real adapter.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from opscan.inventory import Finding, Location, Observed, OpCall, TensorSpec
from opscan.tracing.host import has_own_dispatch, is_a_view
from opscan.tracing.idle_modules import ParameterUse
from opscan.tracing.signature import arguments, dtype_name, qualified, specs
from opscan.tracing.source import SourceLocator
from opscan.tracing.whereabouts import Whereabouts

_Key = tuple[Any, ...]


class RecordingMode(TorchDispatchMode):
    """Records while ``running``; otherwise (import, construction) it only redirects devices.

    ``parts_of`` gives the dispatch key of a kernel that hides other operators below the Python key, so that it is run
    once more to see them; None for any other operator.
    """

    #: Kinds of tensors with a dispatch of their own that are the recorder's.
    own_tensors: tuple[type, ...] = ()

    #: Whether tensors of one number stay on the CPU while the model runs.
    numbers_on_host = False

    def __init__(self, device: torch.device, locator: SourceLocator, parts_of: Callable[[Any], Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.device = device
        self._one_at_a_time = threading.RLock()  # threads of the model's own share the recorder
        self.running = False
        self.running_reached = False
        self.whereabouts = Whereabouts(locator)
        self.findings: dict[tuple[str, str, str, int], Finding] = {}
        self._locator = locator
        self._parts_key = parts_of
        self._calls: dict[_Key, int] = {}
        self._parts: dict[_Key, tuple[OpCall, ...]] = {}
        self._sink: dict[_Key, int] | None = None
        self._paused = 0
        self._own_accounts: list[list[str]] = []
        self._use = ParameterUse(None)
        self._views: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if any(has_own_dispatch(kind) and not issubclass(kind, self.own_tensors) for kind in types):
            return NotImplemented  # a tensor of the model's own kind first says what it is made of
        with self._one_at_a_time:
            return self.dispatch(func, args, kwargs or {})

    def dispatch(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Run an operator, and write it down."""
        raise NotImplementedError

    def start(self) -> None:
        """The model's own run begins."""
        self.running = True
        self.running_reached = True

    @contextmanager
    def watching(self, model: object) -> Iterator[None]:
        """One whole run of ``model``: what of it did not run is a finding."""
        self._use = ParameterUse(model)
        yield
        idle = self._use.finding()
        if idle is not None:
            self.finding("OPS671", idle, None)

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
    def on_its_own_account(self) -> Iterator[list[str]]:
        """Operators in here are recorded, but the tracer's choice: what they ask and cast says nothing of the model.

        Yields what is asked for, as it is asked.
        """
        asked: list[str] = []
        self._own_accounts.append(asked)
        try:
            yield asked
        finally:
            self._own_accounts.pop()

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
            self._use.taken(inputs)
            self._add(name, specs(inputs), specs(outputs), attributes)

    def lifted(self, tensor: torch.Tensor) -> None:
        """A tensor made from Python data: the real device shows the call that lifts it, and no copy."""
        self._views.add("aten::lift_fresh")
        self.emit("aten::lift_fresh", [tensor], [tensor])

    # --- the observer of opscan.tracing.cuda.redirect ----------------------------------------------------------

    def is_torch_calling(self) -> bool:
        return self._locator.is_internal(sys._getframe(2))

    def is_user_calling(self) -> bool:
        return self._locator.calls_directly(sys._getframe(2))

    def cuda_named(self, what: str) -> None:
        self.finding("OPS601", {"what": what}, self._locator.locate(sys._getframe(2)))

    def cuda_in_dispatch(self) -> None:
        """A device reached an operator unseen by the patches: one finding at a line that has none."""
        where = self._locator.locate(sys._getframe(2))
        if not any(key[0] == "OPS601" and key[2:] == where for key in self.findings):
            self.finding("OPS601", {"what": "cuda"}, where)

    def autocast_off(self, dtype: torch.dtype) -> None:
        """torch switched autocast off that the model asks for."""
        self.finding("OPS651", {"dtype": dtype_name(dtype)}, self._locator.locate(sys._getframe(2)))

    def device_forgotten(self, factory: str) -> bool:
        """A factory without a device, in the user's own code, is meant for the model's device. A library's is meant
        for the CPU.
        """
        frame = sys._getframe(3)
        if not self._locator.calls_directly(frame):
            return False
        self.finding("OPS602", {"factory": factory}, self._locator.locate(frame))
        return True

    # --- findings -------------------------------------------------------------------------------------------

    def finding(self, rule: str, facts: dict[str, str], where: tuple[str, int] | None) -> None:
        key = (rule, "|".join(facts.values()), *(where or ("", 0)))
        if key not in self.findings and not self._own_accounts:
            locations = (Location(*where, self.whereabouts.module_path.current),) if where else ()
            self.findings[key] = Finding(rule, facts, locations)

    def assumed(self, what: str, answer: str) -> None:
        """One finding a line, with the first answer: a loop asks many times. A second look at an operator asks
        nothing new.
        """
        if self._sink is not None:
            return
        if self._own_accounts:
            self._own_accounts[-1].append(what)
            return
        where = self._locator.locate(sys._getframe(1))
        if not any(rule == "OPS603" and (file, line) == (where or ("", 0)) for rule, _, file, line in self.findings):
            self.finding("OPS603", {"what": what, "answer": answer}, where)

    # --- calls ----------------------------------------------------------------------------------------------

    def record(
        self,
        func: Any,
        args: Any,
        kwargs: Any,
        inputs: list[torch.Tensor],
        out: Any,
        observed: Observed | None = None,
    ) -> _Key | None:
        """Write a call down, if it touches the traced device. ``inputs`` are its tensor arguments, in order.

        Returns its entry among the calls.
        """
        if not self.running or self._paused:
            return None
        self._use.taken(inputs)
        outputs = [t for t in tree_leaves(out) if isinstance(t, torch.Tensor)]
        if not any(t.device.type == self.device.type for t in inputs) and not any(
            t.device.type == self.device.type for t in outputs
        ):
            return None
        name = qualified(func)
        if is_a_view(func):
            self._views.add(name)
        composite = self._parts_key(func)
        if composite and self._sink is not None and self._run_inside(func, composite, args, kwargs):
            return None  # a part that has parts: they stand for it
        parameters, attributes = arguments(func, args, kwargs)
        key = self._add(name, specs(inputs), specs(outputs), attributes, parameters, observed)
        if composite and self._sink is None:
            self._look_inside(func, composite, args, kwargs, key)
        return key

    def _add(
        self,
        name: str,
        inputs: tuple[TensorSpec, ...],
        outputs: tuple[TensorSpec, ...],
        attributes: tuple[tuple[str, str], ...],
        parameters: tuple[str, ...] = (),
        observed: Observed | None = None,
    ) -> _Key:
        inside = self._sink is not None
        where = None if inside else self.whereabouts.of(sys._getframe(2))
        key: _Key = (name, self.whereabouts.phase, inputs, outputs, attributes, where, parameters, observed)
        calls = self._calls if self._sink is None else self._sink
        calls[key] = calls.get(key, 0) + 1
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
        name, phase, inputs, outputs, attributes, location, parameters, observed = key
        parts = self._parts.get(key, ())
        is_view = name in self._views
        return OpCall(name, phase, inputs, outputs, attributes, location, count, parts, parameters, is_view, observed)
