"""The ``captured-graph`` tracer: the graph that AOT autograd makes of a model on the virtual device, as torchair would
be given it, without torch_npu.

torch.compile captures the model's Python with dynamo, and hands it to torchair, which calls AOT autograd: in-place
operators become functional, composite ones are taken apart as the dispatcher decides for the device, a backward pass
becomes a graph of its own. Here AOT autograd follows the model's Python itself. Where dynamo would leave the graph for
a value, the capture goes on behind it, and the line is a finding. Where AOT autograd fails, the dispatch tracer's
operators stand in.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from opscan.inventory import Attempt, Finding, Inventory, Trace
from opscan.tracing.adapter.library import install
from opscan.tracing.asked_autocast import autocast_watched
from opscan.tracing.assumptions import Assumptions
from opscan.tracing.autocast import autocasting
from opscan.tracing.building import inert_initialisers, moved_to
from opscan.tracing.conversion import untied_conversion
from opscan.tracing.cuda.extensions.answering import Answering
from opscan.tracing.cuda.redirect import redirected
from opscan.tracing.dispatch import DispatchTracer
from opscan.tracing.graph.answering_mode import AnsweringMode, always_depends_on_data
from opscan.tracing.graph.aot import capture
from opscan.tracing.graph.calls import calls_of, outside_of
from opscan.tracing.graph.leaving import recurrent_modules_outside
from opscan.tracing.graph.recorder import GraphRecorder
from opscan.tracing.host import kernels_of_calls
from opscan.tracing.interface import Recipe, TraceOptions
from opscan.tracing.module_path import ModulePath
from opscan.tracing.process_state import restored
from opscan.tracing.python_values import answered
from opscan.tracing.source import SourceLocator
from opscan.tracing.trees import move
from opscan.tracing.user_error import in_short
from opscan.workload import INFERENCE

#: Overrides of the adapter's that a graph does not show: there the operator's own composition is.
_NOT_IN_GRAPHS = frozenset({"aten::contiguous", "aten::softmax.int"})

#: A capture that failed behind an assumption is tried again with the last assumption reversed, so often.
_RETRIES = 6


class CapturedGraphTracer:
    name = "captured-graph"

    def __init__(self) -> None:
        self._dispatch = DispatchTracer()

    def trace(self, recipe: Recipe, options: TraceOptions, progress: Callable[[str], None]) -> Inventory:
        """One inventory. Raises ModelError for errors of the user's own code, LoadError from the recipe."""
        flips: frozenset[tuple[str, int]] = frozenset()
        first: _Run | None = None
        for _ in range(_RETRIES):
            run = _Run(self._dispatch.device, recipe, options, flips, progress)
            run.go()
            first = first or run
            if run.error is None:
                return run.inventory()
            line = run.assumptions.last
            if line is None or line in flips:
                break
            flips |= {line}
        assert first is not None
        run = first
        assert run.error is not None
        if isinstance(run.error, KeyboardInterrupt):
            raise run.error
        reason = f"AOT autograd could not capture the model{run.locator.place_of(run.error)}: {in_short(run.error)}"
        stand_in = self._dispatch.trace(recipe, replace(options, workload=INFERENCE), progress)
        return _standing_in(stand_in, reason, options.workload.train)


class _Run:
    """Import, build, move to the device; then capture."""

    def __init__(
        self,
        device: torch.device,
        recipe: Recipe,
        options: TraceOptions,
        flips: frozenset[tuple[str, int]],
        progress: Callable[[str], None],
    ) -> None:
        self.device = device
        self.recipe = recipe
        self.options = options
        self.progress = progress
        self.locator = SourceLocator(recipe.root, os.path.dirname(os.path.realpath(torch.__file__)))
        self.assumptions = Assumptions(self.locator, flips)
        self.fake_mode = AnsweringMode(self.assumptions)
        self.recorder = GraphRecorder(device, self.fake_mode, self.locator, self.assumptions)
        self.answering = Answering(self.recorder, self.locator)
        self.error: BaseException | None = None
        self.parameters = 0
        self.unseen: list[str] = []
        self.graphs: list[torch.fx.GraphModule] = []

    def go(self) -> None:
        with ExitStack() as stack:
            library = install(self.recorder, self.options.registered - _NOT_IN_GRAPHS, self.options.differentiable)
            stack.callback(library._destroy)
            stack.enter_context(restored())
            if self.device.type != "cpu":
                stack.enter_context(autocasting(self.device, self.options.autocast, self.options.bfloat16))
            # Beneath: that the model names CUDA is told by who calls.
            stack.enter_context(autocast_watched(self.recorder))
            stack.enter_context(redirected(self.recorder))
            stack.enter_context(self.answering.installed())
            stack.enter_context(answered(self.recorder))
            stack.enter_context(untied_conversion())
            try:
                model, args, kwargs = self._build()
                self._capture(model, args, kwargs)
            except BaseException as error:  # sys.exit and KeyboardInterrupt too are the model's own here
                self.error = error
            finally:
                self.recorder.running = False

    def _build(self) -> tuple[Any, Any, Any]:
        self.progress("building the model")
        with self.fake_mode, self.recorder:
            with inert_initialisers():
                model, args, kwargs = self.recipe.load()
            if isinstance(model, nn.Module):
                self.parameters = sum(p.numel() for p in model.parameters() if not is_lazy(p))
                model._apply(moved_to(self.device))
            args, kwargs = move((args, kwargs), self._as_input, self.device)
        return model, args, kwargs

    def _as_input(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().to(self.device).requires_grad_(tensor.requires_grad)

    def _capture(self, model: Any, args: Any, kwargs: Any) -> None:
        self.progress("capturing the graph")
        recorder = self.recorder
        recorder.whereabouts.module_path = ModulePath(model)
        recorder.start()
        with (
            recorder.whereabouts.module_path.following(),
            torch.autograd.set_multithreading_enabled(False),
            recorder.marks.following(),
            recurrent_modules_outside(recorder),
            self.fake_mode.answering(recorder),
        ):
            captured = capture(model, args, kwargs, self.options.workload, recorder)
        self.graphs = captured.graphs
        self.unseen += captured.unseen

    def inventory(self) -> Inventory:
        calls = calls_of(self.graphs)
        findings = tuple(self.recorder.findings.values())
        breaks = [place for finding in findings if finding.rule == "OPS607" for place in finding.locations]
        unseen = list(self.unseen)
        if breaks:
            places = ", ".join(dict.fromkeys(f"{place.file}:{place.line}" for place in breaks))
            outside = ", ".join(outside_of(self.graphs))
            ran = f"; there run {outside}" if outside else ""
            unseen.append(f"What runs outside of the graphs: torch.compile leaves them at {places}{ran}.")
        host = torch.__version__.split("+")[0]
        trace = Trace(
            tracer=CapturedGraphTracer.name,
            engine="virtual" if self.device.type != "cpu" else "cpu",
            host_torch=host,
            approximate=self.device.type == "cpu" or host != self.options.torch_release,
            complete=not unseen,
            unseen=tuple(unseen),
            attempts=(Attempt(CapturedGraphTracer.name, True),),
        )
        return Inventory(self.options.reference, self.parameters, trace, calls, findings, kernels_of_calls(calls))


def _standing_in(inventory: Inventory, reason: str, train: bool) -> Inventory:
    """Operators of eager mode in the place of nodes. The failed attempt stands last: the inventory is not what was
    asked.
    """
    unseen = [
        f"The graph: {reason}. The operators of eager mode stand in, before what torch.compile would make of them; "
        "where it leaves the graph is not known."
    ]
    if train:
        unseen.append("Backward and optimizer: there is no graph of them.")
    asked = [call for call in inventory.calls if _is_asked(call.name)]
    breaks = tuple(
        Finding(
            "OPS607", {"reason": f"what {call.name} gives depends on data"}, (call.location,) if call.location else ()
        )
        for call in asked
    )
    trace = replace(
        inventory.trace,
        complete=False,
        unseen=(*unseen, *inventory.trace.unseen),
        attempts=(*inventory.trace.attempts, Attempt(CapturedGraphTracer.name, False, reason)),
    )
    calls = tuple(call for call in inventory.calls if call not in asked)
    return replace(inventory, trace=trace, calls=calls, findings=(*inventory.findings, *breaks))


def _is_asked(name: str) -> bool:
    """Whether torch.compile leaves the graph for an operator: no converter is asked for it."""
    library, _, rest = name.partition("::")
    packet, _, overload = rest.partition(".")
    try:
        found = getattr(getattr(getattr(torch.ops, library), packet), overload or "default")
    except AttributeError:  # an operator of the adapter's own
        return False
    return always_depends_on_data(found)
