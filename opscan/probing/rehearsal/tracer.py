"""The dispatch tracer, engine ``rehearse``: the model runs on ``npu:0`` of the real torch_npu, over the simulated
runtime.

One process, one run of a model after the other; torch_npu is loaded with the class.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from opscan.errors import OpscanError
from opscan.graphs.script_graph import Unsupported
from opscan.inventory import Attempt, Inventory, Trace
from opscan.probing.rehearsal.construction import Construction
from opscan.probing.rehearsal.knowledge import Knowledge, Value
from opscan.probing.rehearsal.printing import printed_from_memory
from opscan.probing.rehearsal.recorder import RehearsalRecorder
from opscan.probing.rehearsal.shadow import Shadow
from opscan.probing.rehearsal.sizes import memory_budget
from opscan.probing.rehearsal.unseen_kernels import unseen_kernels_told
from opscan.probing.simulator.runtime import SimulatedRuntime
from opscan.tracing.asked_autocast import autocast_watched
from opscan.tracing.cuda.extensions.answering import Answering
from opscan.tracing.cuda.extensions.calls import ends_at_extension
from opscan.tracing.cuda.redirect import redirected
from opscan.tracing.execution import Execution
from opscan.tracing.host import composite_key, kernels_of_calls
from opscan.tracing.interface import Recipe, TraceOptions
from opscan.tracing.process_state import restored
from opscan.tracing.recording import RecordingMode
from opscan.tracing.source import SourceLocator
from opscan.tracing.threads import threads_followed
from opscan.tracing.trees import move, tensors_in
from opscan.tracing.user_error import in_short, is_of_the_model, model_error

#: Weights of more bytes are not filled: to compute with them would take minutes on a CPU.
_MOST_WEIGHTS = 4 << 30


_PACKAGE = Path(__file__).resolve().parents[2]


class RehearsalTracer:
    name = "dispatch"

    def __init__(self) -> None:
        import torch_npu

        self.release = str(torch_npu.__version__)
        self._runtime = SimulatedRuntime.attach()
        self._device = torch.device("npu:0")

    def trace(self, recipe: Recipe, options: TraceOptions, progress: Callable[[str], None]) -> Inventory:
        """One inventory. Raises ModelError for errors of the user's own code, LoadError from the recipe."""
        run = _Run(self._device, self._runtime, recipe, options, progress)
        run.go()
        if run.error is not None and run.answering.refused and isinstance(run.error, Exception):
            # The model may need what it imports as if it were optional.
            second = _Run(self._device, self._runtime, recipe, options, progress, optional=True)
            second.go()
            run = second if second.error is None or ends_at_extension(second.error) else run
        if run.error is None or ends_at_extension(run.error):
            run.recorder.forget_doubtful()
            return run.inventory(run.error)
        if isinstance(run.error, OpscanError) or _is_our_own(run.error):
            raise run.error
        if run.recorder.running_reached:
            not_followed = isinstance(run.error, Unsupported)
            on_device_only = not not_followed and run.fails_on_the_device_only()
            if not on_device_only:
                run.recorder.forget_doubtful()
            if not_followed or on_device_only or run.is_partial() or run.error is run.recorder.refusal:
                return run.inventory(run.error, on_device_only)
        raise model_error(run.error, run.locator, run.stage, run.shapes) from run.error


class _Run:
    """Import, build on the CPU, move to the device, run."""

    def __init__(
        self,
        device: torch.device,
        runtime: SimulatedRuntime,
        recipe: Recipe,
        options: TraceOptions,
        progress: Callable[[str], None],
        optional: bool = False,
    ) -> None:
        self.device = device
        self.recipe = recipe
        self.options = options
        self.progress = progress
        self.locator = SourceLocator(recipe.root, os.path.dirname(os.path.realpath(torch.__file__)))
        knowledge = Knowledge()
        budget = memory_budget()
        self.recorder = RehearsalRecorder(
            device,
            self.locator,
            lambda func: composite_key(func, options.registered),
            runtime,
            knowledge,
            Construction(knowledge, min(budget // 4, _MOST_WEIGHTS)),
            Shadow(knowledge, budget),
        )
        self.answering = Answering(self.recorder, self.locator, optional)
        self.error: BaseException | None = None
        self.stage = "importing"
        self.parameters = 0
        self.shapes = ""
        self.unseen: list[str] = []

    def go(self) -> None:
        with ExitStack() as stack:
            stack.enter_context(restored())
            stack.enter_context(self.recorder)
            stack.enter_context(threads_followed(self.recorder))
            # Beneath: that the model names CUDA is told by who calls.
            stack.enter_context(autocast_watched(self.recorder))
            stack.enter_context(redirected(self.recorder))
            stack.enter_context(self.answering.installed())
            stack.enter_context(unseen_kernels_told(self.recorder))
            stack.enter_context(printed_from_memory(self.device))
            try:
                self._run()
            except BaseException as error:  # sys.exit and KeyboardInterrupt too are the model's own here
                self.error = error
            finally:
                self.recorder.running = False

    def _run(self) -> None:
        self.progress("building the model")
        self.stage = "building"
        model, args, kwargs = self.recipe.load()
        if isinstance(model, nn.Module):
            self._count(model)
            self.recorder.shadow.only_small = self.recorder.construction.given_up
            model.to(self.device)
            self._as_data(p for p in model.parameters() if not is_lazy(p))
        args, kwargs = move((args, kwargs), self._as_input, self.device)
        self.shapes = ", ".join(f"{str(t.dtype)[6:]}{list(t.shape)}" for t in tensors_in((args, kwargs)))
        self.progress("rehearsing")
        self.stage = "running"
        self.unseen += Execution(self.recorder, self.progress, self.options.workload).run(model, args, kwargs)
        self._count(model)

    def _count(self, model: Any) -> None:
        """Lazy modules have their parameters after a first run."""
        if isinstance(model, nn.Module):
            self.parameters = sum(p.numel() for p in model.parameters() if not is_lazy(p))

    def _as_data(self, tensors: Any) -> None:
        """Weights are right for this run, and would be others after training."""
        knowledge = self.recorder.knowledge
        knowledge.learn([t for t in tensors if knowledge.of([t]) is Value.CONSTANT], Value.DATA)

    def _as_input(self, tensor: torch.Tensor) -> torch.Tensor:
        moved = tensor.detach().to(self.device).requires_grad_(tensor.requires_grad)
        self._as_data([moved])
        return moved

    def is_partial(self) -> bool:
        """Whether some values were not computed: then an error may be the run's fault, and not the model's."""
        return self.recorder.shadow.is_partial or bool(self.recorder.construction.left_out)

    def _is_much(self) -> bool:
        """Whether a run on the CPU would take too long or too much memory."""
        return bool(self.recorder.construction.left_out or self.recorder.shadow.reason or self.recorder.shadow.largest)

    def fails_on_the_device_only(self) -> bool:
        """Whether the model runs on the CPU: then it is the device that it fails on. An error that its own code raises
        is its own, and not worth a second run.
        """
        if not isinstance(self.error, Exception) or is_of_the_model(self.error) or self._is_much():
            return False
        on_cpu = RecordingMode(torch.device("cpu"), self.locator, lambda func: None)
        try:
            extensions = Answering(on_cpu, self.locator).installed()
            with restored(), redirected(on_cpu), extensions, torch.set_grad_enabled(self.options.workload.train):
                model, args, kwargs = self.recipe.load()
                losses = [t for t in tensors_in(model(*args, **kwargs)) if t.requires_grad]
                if self.options.workload.train and losses:
                    torch.autograd.backward(losses, [torch.ones_like(t) for t in losses])
        except BaseException:  # the model may end the process in any way
            return False
        return True

    def inventory(self, error: BaseException | None, on_device_only: bool = False) -> Inventory:
        recorder = self.recorder
        calls = recorder.calls()
        findings = tuple(recorder.findings.values())
        reason = None
        if error is not None:
            blame = " The CPU runs this model; torch_npu does not." if on_device_only else ""
            reason = f"The rehearsal ended{self.locator.place_of(error)}: {in_short(error)}.{blame}"
        host = torch.__version__.split("+")[0]
        trace = Trace(
            tracer="dispatch",
            engine="rehearse",
            host_torch=host,
            approximate=host != self.options.torch_release,
            complete=not (unseen := self._unseen(calls, findings, reason)),
            unseen=tuple(unseen),
            attempts=(Attempt("dispatch", error is None, reason),),
            values="partly" if self.is_partial() else "computed",
            values_note=_note(recorder) if self.is_partial() else "",
        )
        return Inventory(self.options.reference, self.parameters, trace, calls, findings, kernels_of_calls(calls))

    def _unseen(self, calls: Any, findings: Any, reason: str | None) -> list[str]:
        unseen = [*self.unseen, *([reason] if reason else [])]
        if self.options.workload.train and reason is None and not any(call.phase == "backward" for call in calls):
            unseen.append("The backward pass: no result of the model requires a gradient.")
        if any(f.rule == "OPS603" for f in findings):
            unseen.append("Other paths: the model asks for values that depend on data, and one answer each was taken.")
        return unseen


def _is_our_own(error: BaseException) -> bool:
    """Whether an error is a mistake of this package: Python's own errors, raised in a file of it."""
    if not isinstance(error, (AttributeError, NameError, LookupError, AssertionError)):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and Path(frames[-1].filename).is_relative_to(_PACKAGE)


def _note(recorder: RehearsalRecorder) -> str:
    """Why values are known in part only."""
    left_out = sum(recorder.construction.left_out.values())
    missing = list(recorder.shadow.missing)
    largest = recorder.shadow.largest
    notes = [
        f"{left_out / 1e9:.1f} GB of weights were not filled" if left_out else "",
        recorder.shadow.reason,
        f"an operator on {largest / 1e9:.1f} GB of values is not computed" if largest else "",
        f"the CPU does not compute {', '.join(missing[:5])}{' …' if len(missing) > 5 else ''}" if missing else "",
    ]
    return "; ".join(note for note in notes if note) or "torch_npu keeps a result in a form of its own"
