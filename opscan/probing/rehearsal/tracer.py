"""The dispatch tracer, engine ``rehearse``: the model runs on ``npu:0`` of the real torch_npu, over the simulated
runtime.

One process, one run of a model after the other; torch_npu is loaded with the class.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch import nn

from opscan.errors import OpscanError
from opscan.inventory import Attempt, Inventory, Trace
from opscan.probing.rehearsal.construction import Construction
from opscan.probing.rehearsal.knowledge import Knowledge, Value
from opscan.probing.rehearsal.recorder import RehearsalRecorder
from opscan.probing.rehearsal.shadow import Shadow
from opscan.probing.rehearsal.sizes import memory_budget
from opscan.probing.simulator.runtime import SimulatedRuntime
from opscan.tracing.execution import Execution
from opscan.tracing.host import composite_key, kernels_in_process
from opscan.tracing.interface import Recipe, TraceOptions
from opscan.tracing.process_state import restored
from opscan.tracing.redirect import redirected
from opscan.tracing.source import SourceLocator
from opscan.tracing.trees import move, tensors_in
from opscan.tracing.user_error import in_short, model_error

#: Weights of more bytes are not filled: to compute with them would take minutes on a CPU.
_MOST_WEIGHTS = 4 << 30


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
        if run.error is None:
            return run.inventory(None)
        if isinstance(run.error, OpscanError):
            raise run.error
        if run.recorder.running_reached and (run.is_partial() or run.runs_on_cpu()):
            return run.inventory(run.error)
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
        self.error: BaseException | None = None
        self.stage = "importing"
        self.parameters = 0
        self.shapes = ""
        self.unseen: list[str] = []

    def go(self) -> None:
        with ExitStack() as stack:
            stack.enter_context(restored())
            stack.enter_context(self.recorder)
            stack.enter_context(redirected(self.recorder))
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
            self.parameters = sum(p.numel() for p in model.parameters())
            self.recorder.shadow.only_small = self.recorder.construction.given_up
            model.to(self.device)
            self._as_data(model.parameters())
        args, kwargs = move((args, kwargs), self._as_input, self.device)
        self.shapes = ", ".join(f"{str(t.dtype)[6:]}{list(t.shape)}" for t in tensors_in((args, kwargs)))
        self.progress("rehearsing")
        self.stage = "running"
        execution = Execution(self.recorder, self.progress, foreach=True)
        self.unseen += execution.run(model, args, kwargs, self.options.train)

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

    def runs_on_cpu(self) -> bool:
        """Whether the model runs where no device is: then it is the device that it fails on."""
        try:
            with restored():
                model, args, kwargs = self.recipe.load()
                with torch.no_grad():
                    model(*args, **kwargs)
        except BaseException:  # the model may end the process in any way
            return False
        return True

    def inventory(self, error: BaseException | None) -> Inventory:
        recorder = self.recorder
        calls = recorder.calls()
        findings = tuple(recorder.findings.values())
        reason = None
        if error is not None:
            where = self.locator.of_error(error)
            place = f" at {where[0]}:{where[1]}" if where else ""
            blame = "" if self.is_partial() else " The CPU runs this model; torch_npu does not."
            reason = f"The rehearsal ended{place}: {in_short(error)}.{blame}"
        trace = Trace(
            tracer="dispatch",
            engine="rehearse",
            host_torch=torch.__version__.split("+")[0],
            approximate=torch.__version__.split("+")[0] != self.options.torch_release,
            complete=not (unseen := self._unseen(calls, findings, reason)),
            unseen=tuple(unseen),
            attempts=(Attempt("dispatch", error is None, reason),),
            values="partly" if self.is_partial() else "computed",
            values_note=_note(recorder) if self.is_partial() else "",
        )
        names = {c.name for c in calls} | {p.name for c in calls for p in c.parts}
        kernels = {n: kernels_in_process(n) for n in sorted(names)}
        return Inventory(self.options.reference, self.parameters, trace, calls, findings, kernels)

    def _unseen(self, calls: Any, findings: Any, reason: str | None) -> list[str]:
        unseen = [*self.unseen, *([reason] if reason else [])]
        if self.options.train and reason is None and not any(call.phase == "backward" for call in calls):
            unseen.append("The backward pass: no result of the model requires a gradient.")
        if any(f.rule == "OPS603" for f in findings):
            unseen.append("Other paths: the model asks for values that depend on data, and one answer each was taken.")
        return unseen


def _note(recorder: RehearsalRecorder) -> str:
    """Why values are known in part only."""
    left_out = sum(recorder.construction.left_out.values())
    missing = list(recorder.shadow.missing)
    notes = [
        f"{left_out / 1e9:.1f} GB of weights were not filled" if left_out else "",
        recorder.shadow.reason,
        f"the CPU does not compute {', '.join(missing[:5])}{' …' if len(missing) > 5 else ''}" if missing else "",
    ]
    return "; ".join(note for note in notes if note) or "torch_npu keeps a result in a form of its own"
