"""The dispatch mode that runs every operator on the real adapter and writes down what the adapter asked CANN for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from opscan.inventory import KernelLaunch, Observed
from opscan.probing.rehearsal.construction import Construction
from opscan.probing.rehearsal.knowledge import Knowledge, Value
from opscan.probing.rehearsal.refusals import has_kernel, in_one_line, is_wrong, result_behind, shaped_like
from opscan.probing.rehearsal.shadow import Expected, Shadow
from opscan.probing.simulator.events import Copy, Event
from opscan.tracing.crossing import ON_HOST, strays_among
from opscan.tracing.cuda.names import is_cuda
from opscan.tracing.recording import RecordingMode
from opscan.tracing.signature import dtype_name, qualified
from opscan.tracing.source import SourceLocator


class Runtime(Protocol):
    """The simulated runtime of this process, as :class:`opscan.probing.simulator.runtime.SimulatedRuntime`."""

    def drain(self) -> tuple[Event, ...]: ...
    def discard(self) -> None: ...
    def copy_limit(self, limit: int | None) -> None: ...


class RehearsalRecorder(RecordingMode):
    """``knowledge`` of values is shared by the construction of the model, the shadow and this."""

    def __init__(
        self,
        device: torch.device,
        locator: SourceLocator,
        parts_of: Callable[[Any], Any],
        runtime: Runtime,
        knowledge: Knowledge,
        construction: Construction,
        shadow: Shadow,
    ) -> None:
        super().__init__(device, locator, parts_of)
        self.knowledge = knowledge
        self.shadow = shadow
        self._runtime = runtime
        self.construction = construction
        #: What the adapter said to an operator that no device has a kernel for.
        self.refusal: BaseException | None = None
        self._doubtful: list[Any] = []

    supports_higher_order_operators = True

    def dispatch(self, func: Any, args: Any, kwargs: Any) -> Any:
        if isinstance(func, torch._ops.HigherOrderOperator):
            with self:  # a composition of operators, given as functions
                return func.py_kernels[torch._C.DispatchKey.CompositeExplicitAutograd](*args, **kwargs)
        if func.namespace == "prim":
            return func(*args, **kwargs)
        if is_cuda(kwargs.get("device")):
            self.cuda_in_dispatch()
            kwargs = {**kwargs, "device": self.device}
        if (position := ON_HOST.get(qualified(func))) is not None and len(args) > position:
            args = (*args[:position], self._to_host(args[position]), *args[position + 1 :])
        inputs = _tensors((args, kwargs))
        if not self._is_on_device(inputs, kwargs):
            return self._on_host(func, args, kwargs, inputs)
        if strays_among(func, inputs, self.device.type):
            self.finding("OPS604", {"operator": qualified(func)}, self._locator.locate(sys._getframe(1)))
            args, kwargs = tree_map_only(torch.Tensor, self._moved, (args, kwargs))
            inputs = _tensors((args, kwargs))
        if self._sink is not None:  # a second look at a kernel: its values are computed already
            return self._looked_at(func, args, kwargs, inputs)
        expected = self.shadow.expect(func, args, kwargs, inputs)
        if func._schema.is_mutable:
            self.shadow.compute(expected, func, args, kwargs, ())
        out, raised = self._called(func, args, kwargs, inputs, expected)
        events = self._runtime.drain()
        self.shadow.compute(expected, func, args, kwargs, out)
        if expected.error is not None and is_wrong(func, args, kwargs, expected):
            raise expected.error
        if (kinds := expected.other_kind(out)) is not None:
            expected_dtype, dtype = map(dtype_name, kinds)
            self._tell("OPS608", {"operator": qualified(func), "expected": expected_dtype, "dtype": dtype})
        out = self.shadow.settle(func, out, expected, _reads_back(events))
        self._note(func, args, kwargs, expected, out)
        self.record(func, args, kwargs, inputs, out, _observed(events, raised))
        return out

    def forget_doubtful(self) -> None:
        """Leave out the calls of which nobody knows whether the adapter refused them or whether they are wrong."""
        for key in self._doubtful:
            self._calls.pop(key, None)

    # --- running --------------------------------------------------------------------------------------------

    def _called(
        self, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor], expected: Expected
    ) -> tuple[Any, str]:
        """What the adapter returns, and with what words it refused the call: then something of the right shape."""
        self._runtime.discard()
        blind = expected.value is Value.UNKNOWN
        if blind:  # what is copied holds nothing, and to copy it would occupy memory
            self._runtime.copy_limit(0)
        try:
            return func(*args, **kwargs), ""
        except Exception as error:
            found = self._behind(func, args, kwargs, expected)
            if found is not None:
                return found[0], in_one_line(error)
            if expected.error is not None and has_kernel(expected):
                raise expected.error from error
            self._ends(func, args, kwargs, inputs, expected, error)
            raise
        finally:
            if blind:
                self._runtime.copy_limit(None)

    def _ends(
        self, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor], expected: Expected, error: Exception
    ) -> None:
        """The operator at which a rehearsal ends is the one that a user must know of."""
        observed = _observed(self._runtime.drain(), in_one_line(error))
        key = self.record(func, args, kwargs, inputs, (), observed)
        if not has_kernel(expected):
            self.refusal = error
        elif key is not None and not expected.computed:
            self._doubtful.append(key)

    def _behind(self, func: Any, args: Any, kwargs: Any, expected: Expected) -> tuple[Any] | None:
        """What to go on with behind a refused call; None where nothing would do."""
        if not self.running:
            return None
        like = shaped_like(func, args, kwargs)
        self.shadow.compute(expected, func, args, kwargs, like)
        return result_behind(func, expected, like, self.device)

    def _looked_at(self, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
        self._runtime.discard()
        out = func(*args, **kwargs)
        self.record(func, args, kwargs, inputs, out, _observed(self._runtime.drain(), ""))
        return out

    def _on_host(self, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> Any:
        out = self.construction.run(func, args, kwargs, inputs)
        if self.running:
            self._ask(func, args, kwargs, self.knowledge.of(inputs))
        return out

    def _is_on_device(self, inputs: list[torch.Tensor], kwargs: dict[str, Any]) -> bool:
        device = kwargs.get("device")
        if device is not None and torch.device(device).type == self.device.type:
            return True
        return any(t.device.type == self.device.type for t in inputs)

    def _moved(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type != "cpu" or tensor.dim() == 0:
            return tensor
        with self.paused(), self:
            return tensor.to(self.device)

    def _to_host(self, tensor: torch.Tensor) -> torch.Tensor:
        """What a factory made on the device (OPS602), and would not make there by itself, is wanted on the host."""
        with self.paused(), self:
            return tensor.cpu()

    # --- what is written down -------------------------------------------------------------------------------

    def _note(self, func: Any, args: Any, kwargs: Any, expected: Expected, out: Any) -> None:
        """What a user should know of a call besides its verdict."""
        if not self.running or self._paused:
            return
        self._ask(func, args, kwargs, expected.value)
        asked = kwargs.get("dtype")
        if asked is torch.float64 and any(t.dtype is torch.float32 for t in _tensors(out)):
            self._tell("OPS606", {})

    def _tell(self, rule: str, facts: dict[str, str]) -> None:
        if self.running and not self._paused:
            self.finding(rule, facts, self._locator.locate(sys._getframe(1)))

    def _ask(self, func: Any, args: Any, kwargs: Any, value: Value) -> None:
        """A value that decides how the model goes on: one of many, where it is not the model's own."""
        if value is Value.CONSTANT or not (what := _asked(func, args, kwargs)):
            return
        self.assumed(what, "zeros" if value is Value.UNKNOWN else "the sample input's own value")


#: Kernels whose results have a size that the host asks for: on a simulated device it is the largest possible.
_SIZED_BY_DATA = ("aclnnNonzero", "aclnnMaskedSelect", "aclnnUnique", "GE NonZero", "GE MaskedSelect", "GE Unique")


def _reads_back(events: tuple[Event, ...]) -> bool:
    """Whether the adapter learnt a value or a size that a kernel should have computed."""
    return any(
        (isinstance(event, Copy) and event.direction == "D2H")
        or (isinstance(event, KernelLaunch) and event.api.startswith(_SIZED_BY_DATA))
        for event in events
    )


def _observed(events: tuple[Event, ...], raised: str) -> Observed | None:
    """None where the adapter raised behind a value that it read back from the device: nothing had computed it."""
    if raised and _reads_back(events):
        return None
    return Observed(
        launches=tuple(e for e in events if isinstance(e, KernelLaunch)),
        copies=tuple(e.direction for e in events if isinstance(e, Copy) and e.direction in ("H2D", "D2H")),
        raised=raised,
    )


def _asked(func: Any, args: Any, kwargs: Any) -> str:
    """What a call tells the host of its data; empty for an operator that tells nothing."""
    if torch.Tag.data_dependent_output in func.tags:
        return "a value"
    if func._schema.name == "aten::one_hot" and _number_of_classes(args, kwargs) >= 0:
        return ""
    if torch.Tag.dynamic_output_shape in func.tags and not (
        func._schema.name == "aten::index" and not any(t.dtype in (torch.bool, torch.uint8) for t in _tensors(args[1]))
    ):
        return "a result whose shape depends on data"
    return ""


def _number_of_classes(args: Any, kwargs: Any) -> int:
    """-1 has ``one_hot`` count them in the data."""
    number = args[1] if len(args) > 1 else kwargs.get("num_classes", -1)
    return int(number)


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
