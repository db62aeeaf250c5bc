"""The dispatch tracer, engine ``virtual``: the model runs on fake tensors on a virtual ``npu``, and the dispatcher
decides.

Weights are not allocated and nothing is computed, whatever the model's size. On a torch that cannot set up a private
backend from Python (before 2.10) the same run happens on the CPU, and the inventory says that it is approximate.
"""

from __future__ import annotations

import logging
import os
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import _disable_current_modes

from opscan.errors import OpscanError
from opscan.inventory import Attempt, Finding, Inventory, Trace
from opscan.tracing import values, virtual_npu
from opscan.tracing.adapter.library import install
from opscan.tracing.adapter.npu_operators import install_operators
from opscan.tracing.asked_autocast import autocast_watched
from opscan.tracing.assumptions import ONE_PATH, Assumptions
from opscan.tracing.autocast import autocasting
from opscan.tracing.building import inert_initialisers, moved_to
from opscan.tracing.control_flow import plain_control_flow
from opscan.tracing.conversion import untied_conversion
from opscan.tracing.cuda.extensions.answering import Answering
from opscan.tracing.cuda.extensions.calls import ends_at_extension
from opscan.tracing.cuda.redirect import redirected
from opscan.tracing.execution import Execution
from opscan.tracing.flexible_attention import dense_flex_attention
from opscan.tracing.foreach import chosen_as_on
from opscan.tracing.host import composite_key, kernels_of_calls
from opscan.tracing.interface import Recipe, TraceOptions
from opscan.tracing.lazy_modules import lazy_modules_on
from opscan.tracing.process_state import restored
from opscan.tracing.programs.capture import Capture, Setting
from opscan.tracing.python_values import answered
from opscan.tracing.recorder import Recorder
from opscan.tracing.source import SourceLocator
from opscan.tracing.threads import threads_followed
from opscan.tracing.trees import move, tensors_in
from opscan.tracing.user_error import in_short, is_limit, model_error

#: A trace that failed behind an assumption is tried again with the last assumption reversed, so often.
_RETRIES = 6

#: Findings behind which an inventory is one path of many.
_ASSUMPTIONS = ("OPS603",)


#: Where torch quantizes models, in the names of its files.
_QUANTIZATION = os.path.join("torch", "ao", "")


class _ValuesNeeded(Exception):
    """A model can be built of real tensors alone."""


class DispatchTracer:
    name = "dispatch"

    def __init__(self) -> None:
        # Copies of a fake tensor look for its memory; the advice that torch gives then is not for the user.
        warnings.filterwarnings("ignore", message="Accessing the data pointer of FakeTensor")
        # A shape that an operator refuses is told once, at the user's line, and not with a traceback of torch's before.
        logging.getLogger("torch._subclasses.fake_tensor").setLevel(logging.CRITICAL)
        self._virtual = virtual_npu.available()
        self.device = virtual_npu.setup() if self._virtual else torch.device("cpu")

    def trace(
        self,
        recipe: Recipe,
        options: TraceOptions,
        progress: Callable[[str], None],
        capture: Capture | None = None,
    ) -> Inventory:
        """One inventory. Raises ModelError for errors of the user's own code, LoadError from the recipe.

        With ``capture`` it is that of the program which it makes of the model.
        """
        flips: frozenset[tuple[str, int]] = frozenset()
        first: _Run | None = None
        for _ in range(_RETRIES):
            run = _Run(self.device, recipe, options, flips, progress, capture=capture)
            run.go()
            first = first or run
            if run.error is None or ends_at_extension(run.error):
                return run.inventory(self._virtual, run.error)
            line = run.assumptions.last
            if line is None or line in flips or not run.recorder.running_reached:
                break
            flips = flips | {line}
        assert first is not None
        assert first.error is not None
        if first.quantizes_while_building():
            # What an observer makes of weights, and how they are packed, hangs on their values.
            first = _Run(self.device, recipe, options, frozenset(), progress, real=True, capture=capture)
            first.go()
            if first.error is None or ends_at_extension(first.error):
                return first.inventory(self._virtual, first.error)
        if first.answering.refused and isinstance(first.error, Exception) and not is_limit(first.error):
            # The model may need what it imports as if it were optional.
            second = _Run(self.device, recipe, options, frozenset(), progress, optional=True, capture=capture)
            second.go()
            if second.error is None or ends_at_extension(second.error):
                return second.inventory(self._virtual, second.error)
        return self._failed(first)

    def _failed(self, run: _Run) -> Inventory:
        """What was found before the failure, where the failure is the trace's own; else the user's error."""
        error = run.error
        assert error is not None
        if isinstance(error, OpscanError):
            raise error
        # What the trace did to the model may be to blame: a value that it assumed, a cast narrowed as the device does.
        altered = run.assumptions.last is not None or any(f.rule == "OPS606" for f in run.recorder.findings.values())
        if run.recorder.running_reached and (altered or is_limit(error)):
            return run.inventory(self._virtual, error)
        raise model_error(error, run.locator, run.stage, run.shapes) from error


class _Run:
    """One attempt: import, build, move to the device, run."""

    def __init__(
        self,
        device: torch.device,
        recipe: Recipe,
        options: TraceOptions,
        flips: frozenset[tuple[str, int]],
        progress: Callable[[str], None],
        optional: bool = False,
        real: bool = False,
        capture: Capture | None = None,
    ) -> None:
        """``real``: the model is built of real tensors, and made fake thereafter."""
        self.device = device
        self.real = real
        self.recipe = recipe
        self.options = options
        self.progress = progress
        self.capture = capture
        self.locator = SourceLocator(recipe.root, os.path.dirname(os.path.realpath(torch.__file__)))
        self.assumptions = Assumptions(self.locator, flips)
        self.fake_mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.recorder = Recorder(
            device, self.fake_mode, self.locator, self.assumptions, lambda func: composite_key(func, options.registered)
        )
        self.answering = Answering(self.recorder, self.locator, optional)
        self.error: BaseException | None = None
        self.stage = "importing"
        self.parameters = 0
        self.shapes = ""
        self.unseen: list[str] = []
        self.captured: tuple[Finding, ...] = ()

    def go(self) -> None:
        with ExitStack() as stack:
            library = install(self.recorder, self.options.registered, self.options.differentiable)
            stack.callback(library._destroy)
            stack.callback(install_operators(self.recorder)._destroy)
            stack.enter_context(restored())
            if self.device.type != "cpu":
                stack.enter_context(autocasting(self.device, self.options.autocast, self.options.bfloat16))
                stack.enter_context(chosen_as_on(self.device, self.options.foreach))
            stack.enter_context(self.fake_mode)
            stack.enter_context(self.recorder)
            stack.enter_context(threads_followed(self.fake_mode, self.recorder))
            # Beneath: that the model names CUDA is told by who calls.
            stack.enter_context(autocast_watched(self.recorder))
            stack.enter_context(redirected(self.recorder))
            stack.enter_context(self.answering.installed())
            stack.enter_context(untied_conversion())
            stack.enter_context(lazy_modules_on(self.device))
            try:
                self._run()
            except BaseException as error:  # sys.exit and KeyboardInterrupt too are the model's own here
                self.error = error
            finally:
                self.recorder.running = False

    def _run(self) -> None:
        self.progress("building the model")
        self.stage = "building"
        with self._building():
            model, args, kwargs = self.recipe.load()
        if self.recorder.quantizes and not self.real:
            raise _ValuesNeeded("the model quantizes its weights")
        self._count(model)
        if isinstance(model, nn.Module):
            model._apply(moved_to(self.device))
        args, kwargs = move((args, kwargs), self._as_input, self.device)
        self.shapes = ", ".join(f"{str(t.dtype)[6:]}{list(t.shape)}" for t in tensors_in((args, kwargs)))
        self.stage = "running"
        if self.capture is not None:
            self.progress("capturing the model")
            setting = Setting(self.recorder, self.locator, self.fake_mode, self.options.workload.train)
            captured = self.capture(model, args, kwargs, setting)
            model, self.captured = captured.program, captured.findings
            self.unseen += captured.unseen
        self.progress("tracing")
        with self._as_python(), dense_flex_attention(self.options.torch_npu_release, self.device):
            self.unseen += Execution(self.recorder, self.progress, self.options.workload).run(model, args, kwargs)

    @contextmanager
    def _building(self) -> Iterator[None]:
        if self.real:
            with _disable_current_modes():
                yield
        else:
            with inert_initialisers(), self._as_python():
                yield

    def quantizes_while_building(self) -> bool:
        """Whether a model could not be built because it quantizes its weights, which fake tensors do not have."""
        if self.stage not in ("importing", "building") or not isinstance(self.error, Exception):
            return False
        frames = traceback.extract_tb(self.error.__traceback__)
        return self.recorder.quantizes or any(_QUANTIZATION in frame.filename for frame in frames)

    @contextmanager
    def _as_python(self) -> Iterator[None]:
        """Values and branches are asked for as eager code does."""
        with answered(self.recorder), plain_control_flow():
            yield

    def _count(self, model: Any) -> None:
        if isinstance(model, nn.Module):
            self.parameters = sum(p.numel() for p in model.parameters() if not is_lazy(p))

    def _as_input(self, tensor: torch.Tensor) -> torch.Tensor:
        """A sample input on the device. What it holds is known, but is data: no constant of the model."""
        held = values.known(tensor) if isinstance(tensor, FakeTensor) else None
        value = held.value if held is not None else (None if isinstance(tensor, FakeTensor) else tensor)
        moved = tensor.detach().to(self.device).requires_grad_(tensor.requires_grad)
        values.forget(moved)
        if value is not None:
            values.attach(moved, values.detached(value, copy=True), constant=False)
        return moved

    def inventory(self, virtual: bool, error: BaseException | None) -> Inventory:
        calls = self.recorder.calls()
        findings = (*self.recorder.findings.values(), *self.captured)
        unseen = list(self.unseen)
        reason = None
        if error is not None:
            reason = f"The trace ended{self.locator.place_of(error)}: {in_short(error)}."
            unseen.append(reason)
        if self.options.workload.train and error is None and not any(call.phase == "backward" for call in calls):
            unseen.append("The backward pass: no result of the model requires a gradient.")
        if any(f.rule in _ASSUMPTIONS for f in findings):
            unseen.append(ONE_PATH)
        host = torch.__version__.split("+")[0]
        trace = Trace(
            tracer="dispatch",
            engine="virtual" if virtual else "cpu",
            host_torch=host,
            approximate=not virtual or host != self.options.torch_release,
            complete=not unseen,
            unseen=tuple(unseen),
            attempts=(Attempt("dispatch", error is None, reason),),
        )
        return Inventory(self.options.reference, self.parameters, trace, calls, findings, kernels_of_calls(calls))
