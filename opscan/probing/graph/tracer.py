"""The graph tracer: a model compiled by ``torch.compile`` with torchair, up to the graph that CANN would be given."""

from __future__ import annotations

import os
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn

from opscan.cuda_packages import LIBRARY
from opscan.errors import OpscanError
from opscan.inventory import Attempt, Finding, Inventory, KernelLaunch, Location, Trace
from opscan.matrix.verdict import MOVES
from opscan.probing.graph.between import RecorderBetweenGraphs, can_watch
from opscan.probing.graph.breaks import GraphBreaks, own_words
from opscan.probing.graph.calls import calls_of
from opscan.probing.graph.conversion import Conversions, ConvertedGraph
from opscan.probing.graph.extensions import CallsOutside
from opscan.probing.graph.inert_core import import_torchair
from opscan.probing.graph.places import Places
from opscan.probing.graph.running import Compute
from opscan.probing.rehearsal.construction import Construction
from opscan.probing.rehearsal.knowledge import Knowledge
from opscan.probing.rehearsal.shadow import Shadow
from opscan.probing.rehearsal.sizes import memory_budget
from opscan.probing.simulator.runtime import SimulatedRuntime
from opscan.tracing.asked_autocast import autocast_for
from opscan.tracing.cuda.extensions.answering import Answering
from opscan.tracing.cuda.extensions.calls import ends_at_extension
from opscan.tracing.cuda.redirect import redirected
from opscan.tracing.graph.nodes import is_symbolic
from opscan.tracing.host import kernels_of_calls
from opscan.tracing.interface import Recipe, TraceOptions
from opscan.tracing.process_state import restored
from opscan.tracing.source import SourceLocator
from opscan.tracing.trees import move, tensors_in
from opscan.tracing.user_error import model_error

#: The CPU may spend so many seconds on values that a model asks for between two graphs.
_SECONDS = 30.0

#: Findings about calls of CUDA extensions.
_EXTENSIONS = ("OPS610", "OPS611")

#: So many operators outside of the graphs are named.
_NAMED = 12

#: The file of torch that is on the stack where torch.compile itself fails.
_COMPILING = os.path.join("torch", "_dynamo", "convert_frame.py")


class GraphTracer:
    """torch_npu and its torchair are loaded with the class; one model a process: torch.compile keeps what it saw."""

    name = "graph"

    def __init__(self) -> None:
        self._torchair = import_torchair()
        self._runtime = SimulatedRuntime.attach()
        self._device = torch.device("npu:0")

    def trace(self, recipe: Recipe, options: TraceOptions, progress: Callable[[str], None]) -> Inventory:
        """One inventory. Raises ModelError for errors of the user's own code, LoadError from the recipe."""
        run = _Run(self._torchair, self._device, self._runtime, recipe, options, progress)
        run.go()
        if run.error is None or ends_at_extension(run.error) or run.is_of_the_route():
            return run.inventory()
        if isinstance(run.error, OpscanError):
            raise run.error
        raise model_error(run.error, run.locator, run.stage, run.shapes) from run.error


class _Run:
    """Import, build, move to the device; then compile and run."""

    def __init__(
        self,
        torchair: Any,
        device: torch.device,
        runtime: SimulatedRuntime,
        recipe: Recipe,
        options: TraceOptions,
        progress: Callable[[str], None],
    ) -> None:
        self.torchair = torchair
        self.device = device
        self.recipe = recipe
        self.options = options
        self.progress = progress
        self.locator = SourceLocator(recipe.root, os.path.dirname(os.path.realpath(torch.__file__)))
        self.breaks = GraphBreaks(self.locator)
        self.conversions = Conversions(progress, self._computing, self._apart)
        self.runtime = runtime
        self.outside: list[str] = []
        knowledge, budget = Knowledge(), memory_budget()
        self.recorder = RecorderBetweenGraphs(
            device,
            self.locator,
            lambda func: None,
            runtime,
            knowledge,
            Construction(knowledge, budget // 4),
            Shadow(knowledge, budget, _SECONDS),
        )
        self.answering = Answering(self.recorder, self.locator, calls=CallsOutside)
        self.error: BaseException | None = None
        self.stage = "importing"
        self.parameters = 0
        self.shapes = ""
        self.unseen: list[str] = []
        self.model: Any = None

    def go(self) -> None:
        with restored(), self.answering.installed():
            try:
                args, kwargs = self._build()
                self._compile(args, kwargs)
            except BaseException as error:  # sys.exit and KeyboardInterrupt too are the model's own here
                self.error = error
            finally:
                torch._dynamo.reset()

    def _build(self) -> tuple[Any, Any]:
        self.progress("building the model")
        self.stage = "building"
        with self.recorder, redirected(self.recorder):
            self.model, args, kwargs = self.recipe.load()
            if isinstance(self.model, nn.Module):
                self.parameters = sum(p.numel() for p in self.model.parameters())
                self.model.to(self.device)
            args, kwargs = move((args, kwargs), self._as_input, self.device)
        self.shapes = ", ".join(f"{str(t.dtype)[6:]}{list(t.shape)}" for t in tensors_in((args, kwargs)))
        return args, kwargs

    def _as_input(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().to(self.device).requires_grad_(tensor.requires_grad)

    def _compile(self, args: Any, kwargs: Any) -> None:
        self.progress("capturing the graph")
        self.stage = "running"
        backend = self.torchair.get_npu_backend(compiler_config=self.torchair.CompilerConfig())
        compiled: Any = torch.compile(self.model, backend=backend, dynamic=False)
        self.runtime.discard()
        with ExitStack() as stack:
            stack.callback(self._look_outside)
            stack.enter_context(self.conversions.following())
            stack.enter_context(self.breaks.following())
            if can_watch():
                stack.enter_context(self.recorder)
                self.recorder.start()
                stack.callback(setattr, self.recorder, "running", False)
            if self.options.workload.train:
                self._train(compiled, args, kwargs)
                return
            with torch.no_grad(), autocast_for(self.options.workload.amp, self.recorder):
                compiled(*args, **kwargs)

    def _train(self, compiled: Any, args: Any, kwargs: Any) -> None:
        amp = self.options.workload.amp
        with autocast_for(amp, self.recorder):
            losses = [t for t in tensors_in(compiled(*args, **kwargs)) if t.requires_grad]
        if not losses:
            self.unseen.append("The backward pass: no result of the model requires a gradient.")
            return
        self.progress("running backward")
        with self._apart():
            gradients = [torch.ones_like(t) for t in losses]
        torch.autograd.backward(losses, gradients)
        step = "scaling of gradients and the optimizer's step" if amp == "fp16" else "optimizer's step"
        self.unseen.append(f"The {step}: no part of the graph, it runs operator by operator.")

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """What is done in here is a graph's, or of its conversion."""
        self._look_outside()
        try:
            with self.recorder.aside():
                yield
        finally:
            self.runtime.discard()

    def _look_outside(self) -> None:
        """Kernels that were launched since: operators that no graph holds."""
        self.outside += [event.api for event in self.runtime.drain() if isinstance(event, KernelLaunch)]

    def _computing(self, graph: ConvertedGraph) -> Compute | None:
        """Values are needed only where the model goes on outside of a graph."""
        return self._compute if self.breaks or not graph.is_whole else None

    def _compute(self, module: torch.fx.GraphModule, inputs: tuple[Any, ...]) -> Any:
        recorder, running = self.recorder, self.recorder.running
        self._look_outside()
        with ExitStack() as stack:
            stack.callback(self.runtime.discard)
            stack.enter_context(recorder.paused())
            if not running:  # so that it goes on behind what the adapter refuses
                stack.enter_context(recorder)
                recorder.running = True
                stack.callback(setattr, recorder, "running", False)
            return module(*inputs)

    # --- what was found ---------------------------------------------------------------------------------------

    def is_of_the_route(self) -> bool:
        """Whether torch.compile, not the model, is to blame: the model may run in eager mode."""
        assert self.error is not None
        trace = traceback.extract_tb(self.error.__traceback__)
        compiling = any(entry.filename.endswith(_COMPILING) for entry in trace)
        return self.stage == "running" and (compiling or bool(self.conversions.graphs))

    def inventory(self) -> Inventory:
        outside = tuple(call for call in self.recorder.calls() if call.name.startswith(LIBRARY))
        calls = (*calls_of(self.conversions.graphs, Places(self.locator, self.model)), *outside)
        reason = self._reason()
        unseen = [*self.unseen, *self._not_captured(), *([reason] if reason else [])]
        host = torch.__version__.split("+")[0]
        trace = Trace(
            tracer="graph",
            engine="rehearse",
            host_torch=host,
            approximate=host != self.options.torch_release,
            complete=not unseen,
            unseen=tuple(unseen),
            attempts=(Attempt("graph", self.error is None, reason),),
        )
        findings = (*self.recorder.findings.values(), *self._failure(), *self._breaks())
        return Inventory(self.options.reference, self.parameters, trace, calls, findings, kernels_of_calls(calls))

    def _reason(self) -> str | None:
        if self.error is None:
            return None
        where = self._where(self.error)
        place = f" at {where[0]}:{where[1]}" if where else ""
        if ends_at_extension(self.error):
            return f"What follows{place}: {own_words(self.error)}."
        return f"What follows: torch.compile raised{place}: {own_words(self.error)}."

    def _where(self, error: BaseException) -> tuple[str, int] | None:
        stack = getattr(error, "real_stack", None) or ()
        where = self.locator.innermost_of((frame.filename, frame.lineno or 0) for frame in stack)
        if where is None and (found := self.locator.of_error(error)) is not None:
            return found[:2]
        return where

    def _failure(self) -> tuple[Finding, ...]:
        if self.error is None or ends_at_extension(self.error):
            return ()
        where = self._where(self.error)
        return (Finding("OPS609", {"reason": own_words(self.error)}, (Location(*where),) if where else ()),)

    def _breaks(self) -> tuple[Finding, ...]:
        extensions = {
            (place.file, place.line)
            for finding in self.recorder.findings.values()
            if finding.rule in _EXTENSIONS
            for place in finding.locations
        }
        return tuple(
            Finding("OPS607", {"reason": found.reason}, (Location(*found.place),) if found.place else ())
            for found in self.breaks
            if found.place not in extensions  # the stand-in's doing: the package's own might be captured
        )

    def _not_captured(self) -> list[str]:
        told = [outside] if (outside := self._told_of_outside()) else []
        for number, graph in enumerate(self.conversions.graphs, 1):
            if graph.failed:
                told.append(f"The rest of graph {number} ({graph.phase}): {graph.failed}.")
            if graph.zeros:
                told.append(f"The values of graph {number}: it could not be run; the model went on with zeros.")
            if any(is_symbolic(converted.node) for converted in graph.nodes):
                told.append(f"Other sizes: graph {number} has sizes that depend on data or differ from call to call.")
        if not self.breaks.told:
            told.append("Graph breaks: this torch does not tell of them.")
        if not self.conversions.graphs and self.error is None:
            told.append("Everything: torch.compile captured no graph.")
        return told

    def _told_of_outside(self) -> str:
        """Where the graphs are left, and what was seen to run there; empty where nothing is known to."""
        places = [f"{found.place[0]}:{found.place[1]}" for found in self.breaks if found.place]
        seen = self._seen_outside()
        if not self.breaks and not seen:
            return ""
        at = f"torch.compile leaves them at {', '.join(places) or 'unknown places'}"
        named = ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in seen.most_common(_NAMED))
        what = f"; there run {named}{', …' if len(seen) > _NAMED else ''}" if seen else ""
        graphs = sum(graph.phase == "forward" for graph in self.conversions.graphs)
        return f"What runs outside of the {graphs} forward graphs: {at}{what}."

    def _seen_outside(self) -> Counter[str]:
        """Operators that computed outside of the graphs; kernels, where this torch shows no operators there."""
        seen = Counter(kernel for kernel in self.outside if kernel not in MOVES)
        for call in self.recorder.calls():
            launched = {launch.api for launch in call.observed.launches} if call.observed else set()
            if launched - MOVES or (call.observed and (call.observed.copies or call.observed.raised)):
                seen[call.name] += call.count
        return seen
